import type { HeadgateError } from "../../src/errors.js";
import { failsafe } from "../../src/failsafe/index.js";
import { Guard, type PolicySelection } from "../../src/http/index.js";
import { type GuardOptions, resolveOptions } from "../../src/http/options.js";
import type { ResponsePlan } from "../../src/http/plan.js";
import { RequestRecord } from "../../src/http/record.js";
import { createLimiter, type Limiter } from "../../src/limiter/limiter.js";
import type { PolicyDefinition } from "../../src/policy/policy.js";
import { memoryStore } from "../../src/store/memory/memory-store.js";
import type { AsyncStore, Charge, Outcome } from "../../src/store/store.js";
import { ManualClock } from "../../src/testing/manual-clock.js";
import { headersOf, nowMs } from "./made.js";

/** All that a guard sees of a request. */
export interface Ask {
  readonly method?: string;
  readonly address?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly user?: unknown;
  readonly cost?: unknown;
  readonly tier?: unknown;
  /** The pattern of its route; asking for one that it has not is an error. */
  readonly route?: string;
}

export type AskOptions = GuardOptions<Ask, string>;

export function limiterOf(
  policies: Readonly<Record<string, PolicyDefinition>>,
  store?: AsyncStore,
  onStoreError: (error: HeadgateError) => void = () => {},
): { readonly clock: ManualClock; readonly limiter: Limiter } {
  const clock = new ManualClock(nowMs);
  const limiter = createLimiter({
    policies,
    clock,
    onStoreError,
    ...(store === undefined ? {} : { store }),
  }) as unknown as Limiter;
  return { clock, limiter };
}

/** A mount over a limiter, as the function from a request to its plan. */
export function guardOf(
  limiter: Limiter,
  selection: PolicySelection<Ask, string>,
  options: AskOptions = {},
): (request?: Ask, record?: RequestRecord) => ResponsePlan | Promise<ResponsePlan> {
  const guard = new Guard<Ask, string>({
    limiter,
    reader: {
      method: ({ method }) => method ?? "GET",
      header: ({ headers }, name) => headers?.[name],
      route: ({ route }) => {
        if (route === undefined) throw new Error("asked for the route");
        return route;
      },
      address: (request) => ("address" in request ? request.address : "203.0.113.9"),
    },
    selection,
    options: resolveOptions<Ask, string>({ wallClock: () => nowMs, ...options }),
  });
  return (request = {}, record = new RequestRecord()) => guard.admit(request, record);
}

/** A plan in one line: what it does, the three fields, and the wait. */
export function told(plan: ResponsePlan): string {
  const headers = headersOf(plan);
  const fields = ["limit", "remaining"].map((name) => headers[`x-ratelimit-${name}`] ?? "-");
  const status = plan.action === "reject" ? String(plan.status) : "go";
  return [status, fields.join("/"), headers["retry-after"]].filter(Boolean).join(" ");
}

/** A store elsewhere that answers at once, or fails. */
export function storeElsewhere(up: boolean): AsyncStore {
  const memory = memoryStore();
  return {
    kind: "async",
    failsafe,
    bans: { strike: async () => {}, set: async () => {}, list: async () => [] },
    atomicity: "request",
    apply: async (batch: readonly Charge[], mode, wantNext): Promise<readonly Outcome[]> => {
      if (!up) throw new Error("connection lost");
      return memory.apply(batch, mode, wantNext);
    },
    refund: async () => {},
    reset: async () => {},
    close: async () => {},
  };
}
