import {
  createLimiter,
  HeadgateError,
  type LimiterOptions,
  type PolicyDefinition,
  type Store,
} from "@headgate/core";
import {
  type AddressSource,
  after,
  type GuardOptions,
  type MaybePromise,
} from "@headgate/core/http";
import type { Request, RequestHandler } from "express";
import type { Succeeded } from "./middleware.js";
import { type ChoosePolicies, rateLimits } from "./rate-limits.js";

/** What `rateLimit` takes besides its policy: the options of a limiter and of its one mount. */
export interface RateLimitOptions<N extends string = string>
  extends GuardOptions<Request, N>,
    Pick<
      LimiterOptions<N, Store>,
      "store" | "clock" | "deadlineMs" | "secretParts" | "onStoreError"
    > {
  /**
   * Where the client's address is read.
   * @default req.ip, which honours the application's "trust proxy"
   */
  readonly ip?: AddressSource<Request>;
  /**
   * Whether a request went well, for policies that count by that. Asked once the response has been sent.
   * @default a status below 400
   */
  readonly succeeded?: Succeeded;
  /** Whom to count, instead of the client's address. It is the identity part `key`. */
  readonly key?: (request: Request) => MaybePromise<string | undefined>;
}

/** Limits requests by the policy, of several, that a function chooses; `false` for no limit. */
export function rateLimit<const N extends string>(
  options: RateLimitOptions<N> & {
    readonly policies: Readonly<Record<N, PolicyDefinition>>;
    readonly policy: ChoosePolicies<N>;
  },
): RequestHandler;
/**
 * Limits requests by one policy.
 *
 * ```ts
 * app.use(rateLimit({ policy: tokenBucket({ limit: 100, window: "1m", burst: 20 }) }));
 * ```
 *
 * @throws HeadgateError `INVALID_POLICY` or `INVALID_OPTION` naming the rule and the value
 */
export function rateLimit(
  options: RateLimitOptions & { readonly policy: PolicyDefinition },
): RequestHandler;
export function rateLimit(
  options: RateLimitOptions & {
    readonly policies?: Readonly<Record<string, PolicyDefinition>>;
    readonly policy: PolicyDefinition | ChoosePolicies<string>;
  },
): RequestHandler {
  if (typeof options !== "object" || options === null) throw withoutPolicy();
  const {
    policy,
    policies,
    key,
    identify,
    store,
    clock,
    deadlineMs,
    secretParts,
    onStoreError,
    ...mount
  } = options;
  if (key !== undefined && typeof key !== "function")
    throw new HeadgateError("INVALID_OPTION", "rateLimit: key must be a function of the request");
  if (policies !== undefined && typeof policy !== "function") throw withoutPolicy();
  const definitions = policies ?? singlePolicy(policy);
  const limiter = createLimiter({
    policies: key === undefined ? definitions : countedByKey(definitions),
    ...(store !== undefined && { store }),
    ...(clock !== undefined && { clock }),
    ...(deadlineMs !== undefined && { deadlineMs }),
    ...(secretParts !== undefined && { secretParts }),
    ...(onStoreError !== undefined && { onStoreError }),
  });
  const identity = key === undefined ? identify : identifyWithKey(key, identify);
  const limit = rateLimits({
    limiter,
    ...mount,
    ...(identity !== undefined && { identify: identity }),
  });
  if (typeof policy === "function") return limit(policy);
  return limit(Object.keys(limiter.policies)[0] as string);
}

function singlePolicy(
  policy: PolicyDefinition | ChoosePolicies<string>,
): Readonly<Record<string, PolicyDefinition>> {
  if (typeof policy === "object" && policy !== null) return { [policy.name ?? "default"]: policy };
  throw withoutPolicy();
}

function withoutPolicy(): HeadgateError {
  return new HeadgateError(
    "INVALID_OPTION",
    'rateLimit: give policy, such as tokenBucket({ limit: 100, window: "1m" }), or policies and a function policy',
  );
}

/** A policy that says nothing else counts by the key. */
function countedByKey(
  definitions: Readonly<Record<string, PolicyDefinition>>,
): Readonly<Record<string, PolicyDefinition>> {
  const byKey = Object.entries(definitions).map(([name, policy]) => [
    name,
    policy.by === "ip" ? { ...policy, by: "key" } : policy,
  ]);
  return Object.fromEntries(byKey) as Record<string, PolicyDefinition>;
}

function identifyWithKey(
  key: NonNullable<RateLimitOptions["key"]>,
  identify: RateLimitOptions["identify"],
): NonNullable<RateLimitOptions["identify"]> {
  return (request) =>
    after(key(request), (value) =>
      after(identify?.(request), (parts) => ({ ...parts, key: value })),
    );
}
