import { type Decision, HeadgateError, type Limiter } from "@headgate/core";
import {
  type AddressSource,
  Guard,
  type GuardOptions,
  Holds,
  type PolicySelection,
  type RequestReader,
  recordOf,
  resolveOptions,
} from "@headgate/core/http";
import type { Request, RequestHandler } from "express";
import { addressReader, header } from "./address.js";
import { middleware } from "./middleware.js";

/** What all mounts of a limiter share. */
export interface RateLimitsOptions<N extends string> extends GuardOptions<Request, N> {
  readonly limiter: Limiter<N>;
  /**
   * Where the client's address is read.
   * @default req.ip, which honours the application's "trust proxy"
   */
  readonly ip?: AddressSource<Request>;
}

/** Chooses the policies of a request: names, or `false` for no limit. */
export type ChoosePolicies<N extends string> = Exclude<PolicySelection<Request, N>, readonly N[]>;

/** Mounts a limiter: names of policies, or a function that chooses them, and options of this mount alone. */
export interface Limit<N extends string> {
  // First, since the compiler takes what a function returns for the names of the first signature that it tries.
  (choose: ChoosePolicies<N>, options?: GuardOptions<Request, N>): RequestHandler;
  (...names: [N, ...N[]]): RequestHandler;
  (...namesAndOptions: [N, ...N[], GuardOptions<Request, N>]): RequestHandler;
}

/**
 * Prepares a limiter for mounting on many routes.
 *
 * ```ts
 * const limit = rateLimits({ limiter, identify: (req) => ({ user: req.user?.id }) });
 * app.post("/orders", authenticate, limit("read", "write"), placeOrder);
 * ```
 *
 * The policies of one mount are one decision; separate mounts decide one after the other, and one policy
 * and subject is charged once per request however often it is mounted.
 *
 * @throws HeadgateError `INVALID_OPTION` or `UNKNOWN_POLICY`, here and by the returned function, for what can never work
 */
export function rateLimits<const N extends string>({
  limiter,
  ip,
  ...shared
}: RateLimitsOptions<N>): Limit<N> {
  if (!(limiter?.closing instanceof AbortSignal))
    throw new HeadgateError(
      "INVALID_OPTION",
      "rateLimits: limiter must be one that createLimiter made",
    );
  const reader: RequestReader<Request> = {
    method: (request) => request.method,
    header,
    address: addressReader(ip),
  };
  const holds = new Holds(limiter.closing);
  const limit = (
    ...mount: readonly (N | ChoosePolicies<N> | GuardOptions<Request, N> | undefined)[]
  ): RequestHandler => {
    const { selection, options } = readMount(mount);
    const resolved = resolveOptions({ ...shared, ...options });
    return middleware(new Guard({ limiter, reader, selection, options: resolved }), holds);
  };
  resolveOptions(shared);
  return limit as Limit<N>;
}

/** The decision that stands for a request so far, over all limiters it has passed; undefined when none took part. */
export function decisionOf(request: Request): Decision | undefined {
  return recordOf(request).decision;
}

function readMount<N extends string>(
  mount: readonly (N | ChoosePolicies<N> | GuardOptions<Request, N> | undefined)[],
): { selection: PolicySelection<Request, N>; options: GuardOptions<Request, N> } {
  const last = mount.at(-1);
  const options = typeof last === "object" ? last : {};
  const [first] = mount;
  const names = mount.filter((name) => name !== undefined && name !== last) as readonly N[];
  return {
    selection:
      typeof first === "function" ? first : typeof last === "string" ? [...names, last] : names,
    options,
  };
}
