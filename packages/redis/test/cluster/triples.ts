import {
  createLimiter,
  fixedWindow,
  type HeadgateError,
  type Limiter,
  slidingWindow,
  slidingWindowCounter,
  tokenBucket,
} from "@headgate/core";
import { type RedisStore, redisStore } from "../../src/index.js";
import type { RedisCluster } from "../servers/cluster.js";

export const limit = 5;
export const triples = 1_000;

/** The policies of one request, of three subjects; `daily` shares the subject and so the slot of `tight`. */
const policyNames = ["tight", "daily", "middle", "wide"] as const;

/**
 * A thousand clients whose requests charge three subjects each, all of them in slots of their own. The limits
 * differ, so that a request refused by one leg has been charged by another, which must be given back.
 */
export class Triples {
  readonly errors: HeadgateError[] = [];
  /** Requests that Redis admitted, by client. */
  readonly admitted: number[] = Array.from({ length: triples }, () => 0);
  /** The instants at which the answers came that admitted a request, by client. */
  readonly admittedAt: number[][] = Array.from({ length: triples }, () => []);
  readonly store: RedisStore;
  readonly #limiter: Limiter<(typeof policyNames)[number], RedisStore>;

  constructor(cluster: RedisCluster, deadlineMs: number) {
    this.store = redisStore(cluster.connect(), { callTimeoutMs: deadlineMs });
    // So long a window that none of it comes back, and no boundary passes, while a test runs.
    const rule = { window: "24d", onStoreFailure: "closed" } as const;
    this.#limiter = createLimiter({
      store: this.store,
      deadlineMs,
      onStoreError: (error) => this.errors.push(error),
      policies: {
        tight: slidingWindow({ ...rule, limit, by: "user" }),
        daily: fixedWindow({ ...rule, limit: limit + 1, by: "user" }),
        middle: tokenBucket({ ...rule, limit: limit + 2, by: "tenant" }),
        wide: slidingWindowCounter({ ...rule, limit: limit + 4, by: "device" }),
      },
    });
  }

  /** One request of each client, some of them at a time. Tells how many Redis decided. */
  async wave(atATime = 40): Promise<number> {
    let [next, decided] = [0, 0];
    const work = async (): Promise<void> => {
      while (next < triples) {
        const client = next;
        next += 1;
        const decision = await this.#limiter.check(policyNames, identityOf(client));
        if (decision.degraded !== "none") continue;
        decided += 1;
        if (!decision.allowed) continue;
        this.admitted[client] = (this.admitted[client] as number) + 1;
        (this.admittedAt[client] as number[]).push(performance.now());
      }
    };
    await Promise.all(Array.from({ length: atATime }, work));
    return decided;
  }

  /** What one client has left under a policy. */
  async remaining(client: number, name: (typeof policyNames)[number]): Promise<number | undefined> {
    return (await this.#limiter.peek(name, identityOf(client))).remaining;
  }

  close(): Promise<void> {
    return this.#limiter.close();
  }
}

export function identityOf(client: number): { user: string; tenant: string; device: string } {
  return { user: `u${client}`, tenant: `t${client}`, device: `d${client}` };
}
