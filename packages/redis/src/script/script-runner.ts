import { type Clock, HeadgateError, type Millis } from "@headgate/core";
import type { Executor } from "../executor.js";
import { certainlyNotRun, storeFailure, timedOut } from "../failures.js";
import { script, scriptSha } from "../scripts.generated.js";
import type { Batch } from "./batch.js";
import { type BatchReply, type CallReply, decodeCall } from "./decode.js";
import { encodeCall } from "./encode.js";
import { nextTurn } from "./next-turn.js";
import { ServerClock } from "./server-clock.js";

export interface ScriptRunnerOptions {
  readonly callTimeoutMs: Millis;
  /** Decides instead of the server's time: for tests. */
  readonly clock: Clock | undefined;
  /** Told of batches that were decided although their call had been given up. */
  readonly onGivenUp: (batches: readonly Batch[], replies: readonly BatchReply[]) => void;
}

/** Runs the script for some batches, within a deadline that the server honours as well. */
export class ScriptRunner {
  readonly #executor: Executor;
  readonly #options: ScriptRunnerOptions;
  readonly #serverClock = new ServerClock();

  constructor(executor: Executor, options: ScriptRunnerOptions) {
    this.#executor = executor;
    this.#options = options;
  }

  /**
   * One reply for each batch.
   *
   * The call ends by `deadlineAt` (local, monotonic). A server that gets to it only later, such as one that
   * was stopped, answers that it is late and does nothing.
   *
   * @throws HeadgateError `STORE_TIMEOUT` or `STORE_FAILURE` when nothing is known of any batch
   */
  run(batches: readonly Batch[], deadlineAt: Millis): Promise<readonly BatchReply[]> {
    return new Promise((resolve, reject) => {
      let givenUp = false;
      const giveUp = (): void => {
        givenUp = true;
        reject(timedOut(this.#options.callTimeoutMs));
      };
      // A process that was busy reads only after its timers what came in time.
      const timer = setTimeout(
        () => (nextTurn === undefined ? giveUp() : nextTurn(giveUp)),
        Math.max(1, deadlineAt - performance.now()),
      );
      this.#attempt(batches, deadlineAt).then(
        (replies) => {
          clearTimeout(timer);
          if (givenUp) this.#options.onGivenUp(batches, replies);
          else resolve(replies);
        },
        (error: unknown) => {
          clearTimeout(timer);
          reject(storeFailure(error));
        },
      );
    });
  }

  async #attempt(batches: readonly Batch[], deadlineAt: Millis): Promise<readonly BatchReply[]> {
    await this.#ready();
    if (performance.now() >= deadlineAt) throw this.#tooLate();
    const first = await this.#send(batches, deadlineAt);
    if (!first.late) return first.batches;
    // The server knows best what time it is; a prompt answer that says "late" means that its clock was moved,
    // or that nothing was known of it yet. The call did not run, so it can be sent again.
    if (performance.now() >= deadlineAt) throw this.#tooLate();
    this.#serverClock.relearn(first.serverMs, first.sentAt);
    const second = await this.#send(batches, deadlineAt);
    if (second.late) throw this.#tooLate();
    return second.batches;
  }

  async #ready(): Promise<void> {
    try {
      await this.#executor.ready();
    } catch (error) {
      throw certainlyNotRun(storeFailure(error));
    }
  }

  async #send(
    batches: readonly Batch[],
    deadlineAt: Millis,
  ): Promise<CallReply & { readonly sentAt: Millis }> {
    const { clock } = this.#options;
    const nowMs = clock === undefined ? undefined : readInjected(clock);
    const notAfterMs = this.#serverClock.serverTimeAt(deadlineAt);
    const { keys, args, parts } = encodeCall(batches, { notAfterMs, nowMs });
    let sentAt = performance.now();
    let raw: unknown;
    try {
      raw = await this.#executor.run({ command: "EVALSHA", script: scriptSha, keys, args });
    } catch (error) {
      if (!saysNoScript(error)) throw error;
      sentAt = performance.now();
      raw = await this.#executor.run({ command: "EVAL", script, keys, args });
    }
    const reply = decodeCall(raw, parts, nowMs);
    if (!reply.late) this.#serverClock.learn(reply.serverMs, sentAt);
    return { ...reply, sentAt };
  }

  #tooLate(): HeadgateError {
    return certainlyNotRun(timedOut(this.#options.callTimeoutMs));
  }
}

function readInjected(clock: Clock): Millis {
  const now = Math.floor(clock.now());
  if (Number.isSafeInteger(now) && now >= 0) return now;
  throw new HeadgateError(
    "INVALID_CLOCK",
    `clock: now() must be from 0 to 2^53 - 1 ms, got ${String(now)}`,
  );
}

function saysNoScript(error: unknown): boolean {
  return error instanceof Error && /\bNOSCRIPT\b/.test(error.message);
}
