import { type AsyncStore, type Ban, HeadgateError, type Millis, type Policy } from "@headgate/core";
import type { Executor } from "./executor.js";
import { storeFailure, timedOut } from "./failures.js";
import { banOfKey, banPatternOf, type KeyNaming, keyOf } from "./keys.js";
import type { Batch, BatchMode, KeyedCharge } from "./script/batch.js";
import { banEndsOf } from "./script/decode.js";

/** The most bans that one script call tells of. */
const mostTold = 128;

type BansOfStore = AsyncStore["bans"];

/** What bans need of their store. */
interface Way {
  readonly executor: Executor;
  readonly naming: KeyNaming;
  readonly callTimeoutMs: Millis;
  /** Sends charges that may lie in several slots, group by group. */
  readonly send: (
    mode: BatchMode,
    charges: readonly KeyedCharge[],
  ) => Promise<readonly (readonly [batch: Batch, values: readonly number[]])[]>;
}

/** The bans of policies with a penalty, in keys of their own. */
export class RedisBans implements BansOfStore {
  readonly #way: Way;

  constructor(way: Way) {
    this.#way = way;
  }

  async strike(policy: Policy, subject: string): Promise<void> {
    await this.#way.send("strike", [this.#charge(policy, subject, 1)]);
  }

  async set(policy: Policy, subject: string, forMs: Millis): Promise<void> {
    await this.#way.send("ban", [this.#charge(policy, subject, forMs)]);
  }

  /**
   * Looks through the keys of the server, or of every primary of a cluster, until it has found enough.
   *
   * @throws HeadgateError `STORE_TIMEOUT` when that takes longer than a call may
   */
  async list(policies: readonly Policy[], most: number): Promise<readonly Ban[]> {
    const { executor, naming, callTimeoutMs } = this.#way;
    if (executor.scan === undefined)
      throw new HeadgateError("STORE_FAILURE", "redis: this executor cannot scan for bans");
    const deadlineAt = performance.now() + callTimeoutMs;
    const named = new Map(policies.map((policy) => [policy.name, policy]));
    const seen = new Set<string>();
    const found: Ban[] = [];
    try {
      await executor.ready();
      for await (const keys of executor.scan(banPatternOf(naming))) {
        if (performance.now() >= deadlineAt) throw timedOut(callTimeoutMs);
        const charges = keys.flatMap((key) => {
          const ban = seen.has(key) ? undefined : banOfKey(naming, key);
          const policy = ban === undefined ? undefined : named.get(ban.policyName);
          seen.add(key);
          return ban === undefined || policy === undefined
            ? []
            : [{ key: key.slice(0, -1), policy, subject: ban.subject, cost: 0 }];
        });
        for (let from = 0; from < charges.length && found.length < most; from += mostTold)
          found.push(...(await this.#told(charges.slice(from, from + mostTold))));
        if (found.length >= most) break;
      }
    } catch (error) {
      throw storeFailure(error);
    }
    return found.slice(0, most);
  }

  async #told(charges: readonly KeyedCharge[]): Promise<readonly Ban[]> {
    const answers = await this.#way.send("bans", charges);
    return answers.flatMap(([batch, values]) =>
      banEndsOf(batch, values).flatMap(({ endsInMs, subject }, at) => {
        const { policy } = batch.charges[at] as KeyedCharge;
        return endsInMs > 0 ? [{ policyName: policy.name, subject, endsInMs }] : [];
      }),
    );
  }

  #charge(policy: Policy, subject: string, cost: number): KeyedCharge {
    return { key: keyOf(this.#way.naming, subject, policy.name), policy, subject, cost };
  }
}
