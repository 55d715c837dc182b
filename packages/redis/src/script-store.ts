import {
  type ApplyMode,
  type AsyncStore,
  type Charge,
  type ChargeReceipt,
  HeadgateError,
  type Millis,
  type Outcome,
  type Policy,
} from "@headgate/core";
import { failsafe } from "@headgate/core/failsafe";
// Policies that go beyond a plain limit are decided here, so their half in the core is loaded with it.
import "@headgate/core/policies";
import { DenyCache } from "./deny-cache.js";
import type { Executor } from "./executor.js";
import { hasCertainlyNotRun } from "./failures.js";
import { checkKeyNaming, type KeyNaming, keyOf } from "./keys.js";
import { applyInLegs } from "./legs.js";
import type { RedisStoreOptions } from "./options.js";
import { RedisBans } from "./redis-bans.js";
import type { Batch, BatchMode, KeyedCharge } from "./script/batch.js";
import { Coalescer } from "./script/coalescer.js";
import { type BatchReply, outcomesOf, receiptsOf } from "./script/decode.js";
import { ScriptRunner } from "./script/script-runner.js";

/** A store shared through Redis. */
export interface RedisStore extends AsyncStore {
  /** Refunds that are not known to have reached Redis: each makes a limit stricter for a window at most. */
  readonly lostRefunds: number;
}

/** The store over any executor. */
export class ScriptStore implements RedisStore {
  readonly kind = "async";
  readonly failsafe: AsyncStore["failsafe"] = failsafe;
  readonly atomicity: "request" | "slot";
  readonly bans: AsyncStore["bans"];
  readonly #executor: Executor;
  readonly #naming: KeyNaming;
  readonly #callTimeoutMs: Millis;
  readonly #coalescer: Coalescer;
  readonly #denyCache: DenyCache | undefined;
  readonly #now: () => Millis;
  #lostRefunds = 0;

  /** @throws HeadgateError `INVALID_OPTION` */
  constructor(executor: Executor, options: RedisStoreOptions = {}) {
    const { prefix = "headgate", hashTag, callTimeoutMs = 200, clock } = options;
    if (!(Number.isInteger(callTimeoutMs) && callTimeoutMs >= 1 && callTimeoutMs < 2 ** 31)) {
      throw new HeadgateError(
        "INVALID_OPTION",
        `redisStore: callTimeoutMs must be an integer from 1, got ${String(callTimeoutMs)}`,
      );
    }
    this.#executor = executor;
    this.#naming = checkKeyNaming({ prefix, hashTag });
    this.#callTimeoutMs = callTimeoutMs;
    this.atomicity = executor.slotOf === undefined || hashTag !== undefined ? "request" : "slot";
    const runner = new ScriptRunner(executor, {
      callTimeoutMs,
      clock,
      onGivenUp: (batches, replies) => this.#giveBack(batches, replies),
    });
    this.#coalescer = new Coalescer(runner, options.coalesce ?? true);
    this.#now = clock === undefined ? () => performance.now() : () => clock.now();
    this.#denyCache = (options.denyCache ?? true) ? new DenyCache(this.#now) : undefined;
    this.bans = new RedisBans({
      executor,
      naming: this.#naming,
      callTimeoutMs,
      send: (mode, charges) => this.#sendAll(mode, charges),
    });
  }

  get lostRefunds(): number {
    return this.#lostRefunds;
  }

  async apply(
    charges: readonly Charge[],
    mode: ApplyMode,
    wantNext = false,
  ): Promise<readonly Outcome[]> {
    if (charges.length === 0) return [];
    rejectRepeats(charges);
    const batch: Batch = { mode, wantNext, charges: charges.map((charge) => this.#keyed(charge)) };
    const remembered = mode === "commit" ? this.#denyCache?.outcomesOf(batch) : undefined;
    if (remembered !== undefined) return remembered;
    const sentAt = this.#now();
    const deadlineAt = performance.now() + this.#callTimeoutMs;
    const outcomes =
      this.atomicity === "slot"
        ? await this.#decideInLegs(batch, deadlineAt)
        : outcomesOf(batch, await this.#coalescer.submit(batch, "", deadlineAt));
    if (mode === "commit") this.#remember(batch, outcomes, sentAt);
    else if (mode === "settle") this.#denyCache?.clear(batch.charges);
    return outcomes;
  }

  recall(charges: readonly Charge[], wantNext = false): readonly Outcome[] | undefined {
    if (this.#denyCache === undefined || this.#denyCache.isEmpty) return undefined;
    return this.#denyCache.outcomesOf({
      mode: "commit",
      wantNext,
      charges: charges.map((charge) => this.#keyed(charge)),
    });
  }

  async refund(receipts: readonly ChargeReceipt[]): Promise<void> {
    if (receipts.length === 0) return;
    const charges = this.#receipted(receipts);
    this.#denyCache?.clear(charges);
    await Promise.all(this.#bySubject(charges).map((group) => this.#ease("refund", group)));
    this.#denyCache?.clear(charges);
  }

  async reset(policy: Policy, subject: string, keepBan = false): Promise<void> {
    const charges = [this.#keyed({ policy, subject, cost: 0 })];
    this.#denyCache?.clear(charges);
    await this.#ease(keepBan ? "reset-but-bans" : "reset", charges);
    this.#denyCache?.clear(charges);
  }

  close(): Promise<void> {
    return this.#executor.close();
  }

  #decideInLegs(batch: Batch, deadlineAt: Millis): Promise<readonly Outcome[]> {
    const slotOf = this.#executor.slotOf as (key: string) => number;
    const send = (leg: Batch) =>
      this.#coalescer.submit(leg, this.#groupOf(leg.charges), deadlineAt);
    const refund = (receipts: readonly ChargeReceipt[]) => this.#refundInBackground(receipts);
    // A shadow's penalty bans nobody, so a strike that is lost does no harm.
    const strike = (charges: readonly KeyedCharge[]) =>
      void this.#sendAll("strike", charges).catch(() => undefined);
    return applyInLegs(batch, { slotOf, send, refund, strike });
  }

  // A charge makes the waits of other refusals of its keys longer.
  #remember(batch: Batch, outcomes: readonly Outcome[], sentAt: Millis): void {
    if (outcomes.some(({ receipt }) => receipt !== undefined))
      this.#denyCache?.clear(batch.charges);
    else this.#denyCache?.add(batch, outcomes, sentAt);
  }

  // Before and after: the server may do it at any moment between.
  async #ease(mode: BatchMode, charges: readonly KeyedCharge[]): Promise<void> {
    this.#denyCache?.ease(charges);
    await this.#sendAll(mode, charges);
    this.#denyCache?.ease(charges);
  }

  /** Sends charges that need not be decided together. */
  #sendAll(
    mode: BatchMode,
    charges: readonly KeyedCharge[],
  ): Promise<(readonly [batch: Batch, numbers: readonly number[]])[]> {
    const deadlineAt = performance.now() + this.#callTimeoutMs;
    return Promise.all(
      this.#bySubject(charges).map(async (group) => {
        const batch: Batch = { mode, wantNext: false, charges: group };
        const numbers = await this.#coalescer.submit(batch, this.#groupOf(group), deadlineAt);
        return [batch, numbers] as const;
      }),
    );
  }

  /** Refunds without making anybody wait; tries again what certainly did not run, and counts what is lost. */
  #refundInBackground(receipts: readonly ChargeReceipt[]): void {
    // Group by group: one that has run must not run again because another did not.
    for (const group of this.#bySubject(this.#receipted(receipts))) {
      const lost = (): void => {
        this.#lostRefunds += group.length;
      };
      this.#ease("refund", group).catch((error: unknown) => {
        if (hasCertainlyNotRun(error)) this.#ease("refund", group).catch(lost);
        else lost();
      });
    }
  }

  /** Takes back what a call charged whose answer came when nobody waited for it any more. */
  #giveBack(batches: readonly Batch[], replies: readonly BatchReply[]): void {
    for (const [index, batch] of batches.entries()) {
      const reply = replies[index];
      if (reply === undefined || reply instanceof Error) continue;
      if (batch.mode !== "commit" && batch.mode !== "leg") continue;
      const receipts = receiptsOf(outcomesOf(batch, reply));
      if (receipts.length > 0) this.#refundInBackground(receipts);
    }
  }

  #receipted(receipts: readonly ChargeReceipt[]): readonly KeyedCharge[] {
    return receipts.map((receipt) => {
      const { at, mark, part } = receipt;
      return { ...this.#keyed(receipt), at, mark, ...(part === undefined ? {} : { part }) };
    });
  }

  #keyed({ policy, subject, cost }: Charge): KeyedCharge {
    return { key: keyOf(this.#naming, subject, policy.name), policy, subject, cost };
  }

  // Of a cluster's keys only those of one subject are sure to move between servers together.
  #groupOf(charges: readonly KeyedCharge[]): string {
    if (this.atomicity === "request") return "";
    return [...new Set(charges.map(({ subject }) => subject))].join("\n");
  }

  #bySubject(charges: readonly KeyedCharge[]): readonly (readonly KeyedCharge[])[] {
    if (this.atomicity === "request") return [charges];
    const groups = new Map<string, KeyedCharge[]>();
    for (const charge of charges) {
      const group = groups.get(charge.subject);
      if (group === undefined) groups.set(charge.subject, [charge]);
      else group.push(charge);
    }
    return [...groups.values()];
  }
}

function rejectRepeats(charges: readonly Charge[]): void {
  if (charges.length === 1) return;
  for (const [index, { policy, subject }] of charges.entries()) {
    const first = charges.findIndex(
      (other) => other.policy.name === policy.name && other.subject === subject,
    );
    if (first < index) {
      throw new HeadgateError(
        "INVALID_CHARGE",
        `policy "${policy.name}": the batch names one subject twice`,
      );
    }
  }
}
