import type { Millis, Policy } from "@headgate/core";
import { banKeyOf, showsSubject } from "../keys.js";
import type { Batch, BatchMode } from "./batch.js";
import { policyArguments } from "./policy-arguments.js";
import { type Part, partsOf } from "./runs.js";

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

/** A call as the script takes it. */
export interface EncodedCall {
  readonly keys: readonly string[];
  readonly args: readonly string[];
  readonly parts: readonly Part[];
}

/** KEYS and ARGV of the script for some batches, as its header describes them. */
export function encodeCall(
  batches: readonly Batch[],
  { notAfterMs, nowMs }: CallTimes,
): EncodedCall {
  const call = new CallWriter();
  const parts = partsOf(batches);
  for (const part of parts) {
    if (part.isRun) call.addRun(part.batches);
    else for (const batch of part.batches) call.addBatch(batch);
  }
  const times =
    nowMs === undefined
      ? [String(notAfterMs), "", "0"]
      : [String(notAfterMs), String(nowMs), String(injectedClockGraceMs)];
  return { keys: call.keys, args: [...times, ...call.args], parts };
}

class CallWriter {
  readonly keys: string[] = [];
  readonly #places = new Map<Policy, string>();
  readonly #policies: string[] = [];
  readonly #body: string[] = [];

  get args(): readonly string[] {
    return [String(this.#places.size), ...this.#policies, ...this.#body];
  }

  addRun(batches: readonly Batch[]): void {
    const { charges } = batches[0] as Batch;
    if (charges.length === 1) this.#body.push(`q${batches.length}`);
    else this.#body.push(`Q${batches.length}`, String(charges.length));
    for (const { policy, cost } of charges) this.#body.push(this.#placeOf(policy), String(cost));
    for (const batch of batches) for (const { key } of batch.charges) this.keys.push(key);
  }

  addBatch({ mode, wantNext, charges }: Batch): void {
    const parts = mode === "refund" && charges.some(({ part }) => part !== undefined);
    const letter = wantNext || parts ? modeLetters[mode].toUpperCase() : modeLetters[mode];
    this.#body.push(charges.length === 1 ? letter : letter + charges.length);
    for (const { key, policy, subject, cost, at, mark, part } of charges) {
      this.keys.push(key);
      this.#body.push(this.#placeOf(policy), String(cost));
      if (mode === "refund") {
        this.#body.push(String(at), String(mark));
        if (parts) this.#body.push(String(part ?? cost));
      } else if (policy.penalty !== undefined) {
        this.keys.push(banKeyOf(key));
        this.#body.push(showsSubject(subject) ? "" : subject);
      }
    }
  }

  #placeOf(policy: Policy): string {
    let place = this.#places.get(policy);
    if (place === undefined) {
      place = String(this.#places.size + 1);
      this.#places.set(policy, place);
      this.#policies.push(...policyArguments(policy));
    }
    return place;
  }
}
