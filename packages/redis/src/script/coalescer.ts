import type { HeadgateError, Millis } from "@headgate/core";
import { storeFailure } from "../failures.js";
import type { Batch } from "./batch.js";
import type { BatchReply } from "./decode.js";
import { nextTurn } from "./next-turn.js";
import type { ScriptRunner } from "./script-runner.js";

/** The most charges of one script call, which keeps the server free for others. */
const mostCharges = 128;

/** The fewest batches that are worth a turn, and so a call, of their own. */
const fewestApart = 4;

interface Pending {
  readonly batch: Batch;
  readonly deadlineAt: Millis;
  readonly resolve: (numbers: readonly number[]) => void;
  readonly reject: (error: HeadgateError) => void;
}

/** Joins batches that come in the same turn of the event loop into one script call for each group. */
export class Coalescer {
  readonly #runner: ScriptRunner;
  readonly #joins: boolean;
  #groups = new Map<string, Pending[]>();
  /** Batches whose calls have not been answered. */
  #underWay = 0;

  constructor(runner: ScriptRunner, joins: boolean) {
    this.#runner = runner;
    this.#joins = joins && nextTurn !== undefined;
  }

  /**
   * Sends a batch, with others of its group or alone.
   *
   * @param group - batches of one group may name their keys in one script
   * @returns the batch's numbers; rejects with a `HeadgateError`
   */
  submit(batch: Batch, group: string, deadlineAt: Millis): Promise<readonly number[]> {
    return new Promise((resolve, reject) => {
      const pending = { batch, deadlineAt, resolve, reject };
      if (!this.#joins) {
        void this.#send([pending]);
        return;
      }
      if (this.#groups.size === 0) nextTurn?.(() => this.#flush());
      const members = this.#groups.get(group);
      if (members === undefined) this.#groups.set(group, [pending]);
      else members.push(pending);
    });
  }

  #flush(): void {
    const groups = this.#groups;
    this.#groups = new Map();
    for (const members of groups.values()) {
      for (const call of callsOf(members)) void this.#send(call);
    }
  }

  async #send(call: readonly Pending[]): Promise<void> {
    this.#underWay += call.length;
    let deadlineAt = Infinity;
    for (const pending of call) deadlineAt = Math.min(deadlineAt, pending.deadlineAt);
    try {
      const batches = call.map((pending) => pending.batch);
      const replies = await this.#runner.run(batches, deadlineAt);
      this.#underWay -= call.length;
      this.#tell(call, replies);
    } catch (error) {
      this.#underWay -= call.length;
      for (const pending of call) pending.reject(storeFailure(error));
    }
  }

  // Under load each answer sets off the next check. Told all at once, the answers of a full call come back as one
  // full call, and the server and this process wait for each other in turns. So where little else is under way, a
  // half is told a turn later, when what the other half set off is at the server.
  #tell(call: readonly Pending[], replies: readonly BatchReply[]): void {
    const later = Math.floor((call.length - this.#underWay) / 2);
    const now = later < fewestApart ? call.length : call.length - later;
    tell(call, replies, 0, now);
    if (now < call.length)
      nextTurn?.(() => nextTurn?.(() => tell(call, replies, now, call.length)));
  }
}

function tell(
  call: readonly Pending[],
  replies: readonly BatchReply[],
  from: number,
  to: number,
): void {
  for (let index = from; index < to; index += 1) {
    const { resolve, reject } = call[index] as Pending;
    const reply = replies[index] as BatchReply;
    if (reply instanceof Error) reject(reply);
    else resolve(reply);
  }
}

function* callsOf(members: readonly Pending[]): Generator<readonly Pending[]> {
  let call: Pending[] = [];
  let charges = 0;
  for (const pending of members) {
    const added = pending.batch.charges.length;
    if (call.length > 0 && charges + added > mostCharges) {
      yield call;
      call = [];
      charges = 0;
    }
    call.push(pending);
    charges += added;
  }
  if (call.length > 0) yield call;
}
