import { type Decision, HeadgateError, type Limiter } from "@headgate/core";
import {
  type AddressSource,
  checkedSucceeded,
  Guard,
  type GuardOptions,
  Holds,
  isSuccess,
  type PolicySelection,
  type RequestReader,
  recordOf,
  resolveOptions,
} from "@headgate/core/http";
import type { Request, RequestHandler } from "express";
import { addressReader, header } from "./address.js";
import { middleware, type Succeeded } from "./middleware.js";
import { routeOf } from "./route.js";

/** What all mounts of a limiter share. */
export interface RateLimitsOptions<N extends string> extends GuardOptions<Request, N> {
  readonly limiter: Limiter<N>;
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
}

/** The options of one mount. */
export interface MountOptions<N extends string> extends GuardOptions<Request, N> {
  /** As in the options that all mounts share. */
  readonly succeeded?: Succeeded;
}

/** Chooses the policies of a request: names, or `false` for none but those that the mount inherits. */
export type ChoosePolicies<N extends string> = Exclude<PolicySelection<Request, N>, readonly N[]>;

/** Mounts a limiter: names of policies, or a function that chooses them, and options of this mount alone. */
export interface Limit<N extends string> {
  // First, since the compiler takes what a function returns for the names of the first signature that it tries.
  (choose: ChoosePolicies<N>, options?: MountOptions<N>): RequestHandler;
  (...names: [N, ...N[]]): RequestHandler;
  (...namesAndOptions: [N, ...N[], MountOptions<N>]): RequestHandler;
  /**
   * Policies that mounts of a group apply beside their own, in one decision with them, and options that the
   * mounts share. A mount may have another instead, or none: `{ override: { perIp: false } }`.
   */
  group(...names: readonly N[]): LimitGroup<N>;
  group(...namesAndOptions: [...N[], MountOptions<N>]): LimitGroup<N>;
}

/** Mounts what a group has in common, with policies of the mount's own or without. */
export interface LimitGroup<N extends string> extends Limit<N> {
  // Again, since an interface's own signatures are tried before those that it extends.
  (choose: ChoosePolicies<N>, options?: MountOptions<N>): RequestHandler;
  (options?: MountOptions<N>): RequestHandler;
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
export function rateLimits<const N extends string>(options: RateLimitsOptions<N>): Limit<N> {
  const { limiter, ip, ...shared } = options;
  if (!(limiter?.closing instanceof AbortSignal))
    throw new HeadgateError(
      "INVALID_OPTION",
      "rateLimits: limiter must be one that createLimiter made",
    );
  const reader: RequestReader<Request> = {
    method: (request) => request.method,
    header,
    address: addressReader(ip),
    route: routeOf,
  };
  const holds = new Holds(limiter.closing);
  const limitWith = (common: MountOptions<N>): LimitGroup<N> => {
    const limit = (...mount: Mount<N>): RequestHandler => {
      const { selection, options: own } = readMount(mount);
      const { succeeded = isOk, ...options } = joined(common, own);
      const guard = new Guard({ limiter, reader, selection, options: resolveOptions(options) });
      return middleware(guard, { holds, succeeded });
    };
    const group = (...mount: Mount<N>): LimitGroup<N> => {
      const { selection, options: own } = readMount(mount);
      if (typeof selection === "function")
        throw new HeadgateError(
          "INVALID_OPTION",
          "group: name policies; a mount may choose by a function",
        );
      return limitWith(joined(common, own, selection));
    };
    return Object.assign(limit, { group }) as LimitGroup<N>;
  };
  return limitWith(checkedOptions(shared));
}

/** The decision that stands for a request so far, over all limiters it has passed; undefined when none took part. */
export function decisionOf(request: Request): Decision | undefined {
  return recordOf(request).decision;
}

type Mount<N extends string> = readonly (N | ChoosePolicies<N> | MountOptions<N> | undefined)[];

const isOk: Succeeded = (_request, response) => isSuccess(response);

/** Options of a group or a mount on top of those in common: what is inherited, and what overrides it, adds up. */
function joined<N extends string>(
  common: MountOptions<N>,
  own: MountOptions<N>,
  names: readonly N[] = [],
): MountOptions<N> {
  return {
    ...common,
    ...own,
    inherit: [...(common.inherit ?? []), ...names, ...(own.inherit ?? [])],
    override: { ...common.override, ...own.override },
  };
}

function checkedOptions<N extends string>(options: MountOptions<N>): MountOptions<N> {
  const { succeeded = isOk, ...guardOptions } = options;
  checkedSucceeded(succeeded);
  resolveOptions(guardOptions);
  return options;
}

function readMount<N extends string>(
  mount: Mount<N>,
): { selection: PolicySelection<Request, N>; options: MountOptions<N> } {
  const last = mount.at(-1);
  const options = checkedOptions<N>(typeof last === "object" ? last : {});
  const [first] = mount;
  const names = mount.filter((name) => name !== undefined && name !== last) as readonly N[];
  return {
    selection:
      typeof first === "function" ? first : typeof last === "string" ? [...names, last] : names,
    options,
  };
}
