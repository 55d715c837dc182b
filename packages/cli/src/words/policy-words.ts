import type { Penalty, Policy, PolicyNumbers } from "@headgate/core";
import { keyWords } from "../replay/identity.js";
import { durationWords, perWords, roundDuration, wholeNumber } from "./durations.js";

/** A policy as one says it: `100 per minute per user, bursts up to 20, refuses when Redis is down`. */
export function policyWords(policy: Policy): string {
  return [
    rateWords(policy),
    ...algorithmWords(policy),
    ...countWords(policy),
    ...tierWords(policy),
    ...(policy.debt > 0 ? [`may be settled up to ${wholeNumber(policy.debt)} beyond it`] : []),
    ...(policy.penalty === undefined ? [] : [penaltyWords(policy.penalty)]),
    failureWords(policy),
    ...(policy.version > 1 ? [versionWords(policy)] : []),
    ...(policy.shadow ? ["only watched, never enforced"] : []),
  ].join(", ");
}

function rateWords({ limit, windowMs, by, count }: Policy): string {
  const what = count === "all" ? "" : ` ${count}`;
  const whom = by === "global" ? " for everybody together" : ` per ${keyWords(by)}`;
  return `${wholeNumber(limit)}${what} per ${perWords(windowMs)}${whom}`;
}

function algorithmWords(policy: Policy): string[] {
  switch (policy.algorithm) {
    case "fixed-window":
      return policy.anchor === "clock"
        ? ["anew with each window of the clock"]
        : ["anew with each window, which the first request opens"];
    case "sliding-window":
      return ["in any stretch of that length"];
    case "sliding-window-counter":
      return ["estimated from two counters"];
    case "token-bucket":
      return [`bursts up to ${wholeNumber(policy.burst)}`];
    case "leaky-bucket":
      return [
        `evenly spaced`,
        policy.queue === 0
          ? "none may wait"
          : `up to ${wholeNumber(policy.queue)} wait for ${roundDuration(longestHold(policy))} at most`,
      ];
  }
}

function longestHold({
  queue,
  windowMs,
  limit,
}: Policy & { readonly algorithm: "leaky-bucket" }): number {
  return Math.ceil((queue * windowMs) / limit);
}

function countWords({ count, onSuccess }: Policy): string[] {
  return count === "failures" && onSuccess === "clear" ? ["a success clears the count"] : [];
}

function tierWords({ tiers, windowMs }: Policy): string[] {
  if (tiers === undefined) return [];
  const words = ([tier, { limit, burst, queue }]: [string, PolicyNumbers]): string => {
    const more = [
      ...(burst === undefined || burst === limit ? [] : [`bursts up to ${wholeNumber(burst)}`]),
      ...(queue === undefined ? [] : [`up to ${wholeNumber(queue)} wait`]),
    ];
    const room = more.length === 0 ? "" : ` (${more.join(", ")})`;
    return `${wholeNumber(limit)} per ${perWords(windowMs)} for tier ${tier}${room}`;
  };
  return Object.entries(tiers).map(words);
}

function penaltyWords({ on, after, withinMs, banMs }: Penalty): string {
  if (on === "manual") return "bans by hand";
  return `bans for ${durationWords(banMs)} after ${wholeNumber(after)} ${on} within ${durationWords(withinMs)}`;
}

function failureWords({ onStoreFailure, localShare }: Policy): string {
  switch (onStoreFailure) {
    case "open":
      return "lets everything through when Redis is down";
    case "closed":
      return "refuses when Redis is down";
    case "local":
      return localShare === 1
        ? "each process counts by itself when Redis is down"
        : `each process grants ${Math.round(localShare * 10_000) / 100} % by itself when Redis is down`;
  }
}

function versionWords({ version, migrate }: Policy): string {
  const rule = { keep: "keeps", scale: "scales", reset: "forgets" }[migrate];
  return `version ${version}, which ${rule} what was counted before`;
}
