import type { Millis, Policy } from "@headgate/core";
import { banKeyOf, showsSubject } from "../keys.js";
import type { Batch, BatchMode } from "./batch.js";
import { policyArguments } from "./policy-arguments.js";

/** What a call says besides its batches. */
export interface CallTimes {
  /** The last instant, in the server's own time, at which the call may still run. */
  readonly notAfterMs: Millis;
  /** An injected instant; undefined where the server's time decides. */
  readonly nowMs: Millis | undefined;
}

/** Added to every TTL under an injected clock, which may stand still while Redis expires keys in real time. */
const injectedClockGraceMs = 60_000;

/** A capital letter asks for more. */
const modeLetters: Readonly<Record<BatchMode, string>> = {
  commit: "c",
  leg: "l",
  peek: "p",
  settle: "s",
  refund: "r",
  reset: "x",
  "reset-but-bans": "X",
  strike: "k",
  ban: "b",
  bans: "e",
};

/** KEYS and ARGV of the script for some batches, as its header describes them. */
export function encodeCall(
  batches: readonly Batch[],
  { notAfterMs, nowMs }: CallTimes,
): { readonly keys: readonly string[]; readonly args: readonly string[] } {
  const keys: string[] = [];
  const places = new Map<Policy, number>();
  const policies: string[] = [];
  const body: string[] = [];
  for (const { mode, wantNext, charges } of batches) {
    const parts = mode === "refund" && charges.some(({ part }) => part !== undefined);
    const letter = wantNext || parts ? modeLetters[mode].toUpperCase() : modeLetters[mode];
    body.push(charges.length === 1 ? letter : letter + charges.length);
    for (const { key, policy, subject, cost, at, mark, part } of charges) {
      keys.push(key);
      let place = places.get(policy);
      if (place === undefined) {
        place = places.size + 1;
        places.set(policy, place);
        policies.push(...policyArguments(policy));
      }
      body.push(String(place), String(cost));
      if (mode === "refund") {
        body.push(String(at), String(mark));
        if (parts) body.push(String(part ?? cost));
      } else if (policy.penalty !== undefined) {
        keys.push(banKeyOf(key));
        body.push(showsSubject(subject) ? "" : subject);
      }
    }
  }
  const times =
    nowMs === undefined
      ? [String(notAfterMs), "", "0"]
      : [String(notAfterMs), String(nowMs), String(injectedClockGraceMs)];
  return { keys, args: [...times, String(places.size), ...policies, ...body] };
}
