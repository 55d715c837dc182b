import { HeadgateError, type Limiter } from "@headgate/core";
import {
  type AddressSource,
  Guard,
  type GuardOptions,
  Holds,
  type PolicySelection,
  type RejectPlan,
  type ResponsePlan,
  recordOf,
  resolveOptions,
} from "@headgate/core/http";
import { addressOfWeb, headerOf, type WebRequest } from "./address.js";

/** The options of every way to mount a limiter on Web requests. */
export interface MountOptions<Request, N extends string> extends GuardOptions<Request, N> {
  readonly limiter: Limiter<N>;
  /** Where the client's address is read. There is no default. */
  readonly ip: AddressSource<Request>;
}

/** What a gate needs to know besides. */
interface GateOptions<Request, N extends string> extends MountOptions<Request, N> {
  /** The pattern of a request's route; by default nobody knows it but the option `route`. */
  readonly routeOf?: (request: Request) => string;
}

/** What a request gets whose client has gone while it was held; nobody reads it. */
const gone: RejectPlan = {
  action: "reject",
  status: 499,
  headers: [],
  expose: [],
  body: "",
  message: "",
  decision: undefined,
};

/** One mount of a limiter on Web requests. */
export class Gate<Request extends WebRequest, N extends string> {
  readonly #guard: Guard<Request, N>;
  readonly #holds: Holds;

  /** @throws HeadgateError `INVALID_OPTION` or `UNKNOWN_POLICY` for what can never work */
  constructor(
    caller: string,
    selection: PolicySelection<Request, N>,
    { limiter, ip, routeOf, ...options }: GateOptions<Request, N>,
  ) {
    this.#holds = holdsOf(caller, limiter);
    this.#guard = new Guard({
      limiter,
      reader: {
        method: (request) => request.method,
        header: headerOf,
        address: addressOfWeb(caller, ip),
        route: routeOf ?? unknownRoute(caller),
      },
      selection,
      options: resolveOptions(options),
    });
  }

  /**
   * Decides a request and, under a leaky bucket, holds it until its slot. What the application's own
   * functions throw is thrown.
   *
   * @param owner - the object that stands for the request: it is charged once for one policy and subject
   */
  async admit(request: Request, owner: object = request): Promise<ResponsePlan> {
    const plan = await this.#guard.admit(request, recordOf(owner));
    if (plan.action === "reject" || plan.delayMs === 0) return plan;
    const waited = await this.#hold(plan.delayMs, request.signal);
    if (waited) return plan;
    plan.conclude?.("abandoned");
    return { ...gone, decision: plan.decision };
  }

  /** Whether the client was still there when its slot came. */
  #hold(delayMs: number, signal: AbortSignal | undefined): Promise<boolean> {
    if (signal?.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const leave = (): void => {
        giveUp();
        resolve(false);
      };
      const giveUp = this.#holds.hold(delayMs, () => {
        signal?.removeEventListener("abort", leave);
        resolve(true);
      });
      signal?.addEventListener("abort", leave, { once: true });
    });
  }
}

/** What tells the route where nobody has told it. */
export function unknownRoute(caller: string): () => never {
  return () => {
    const rule = 'a policy counts by "route": give the option route, such as "/items/:id"';
    throw new HeadgateError("INVALID_OPTION", `${caller}: ${rule}`);
  };
}

/**
 * The held requests of a limiter.
 *
 * @throws HeadgateError `INVALID_OPTION` when it is no limiter
 */
export function holdsOf(caller: string, limiter: Limiter): Holds {
  if (limiter?.closing instanceof AbortSignal) return new Holds(limiter.closing);
  const rule = "limiter must be what createLimiter returns";
  throw new HeadgateError("INVALID_OPTION", `${caller}: ${rule}`);
}
