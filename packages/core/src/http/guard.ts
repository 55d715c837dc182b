import { type Decision, undecided } from "../decision/decision.js";
import { HeadgateError, show } from "../errors.js";
import type { Limiter } from "../limiter/limiter.js";
import { capacityOf } from "../policy/capacity.js";
import type { Policy } from "../policy/policy.js";
import type { Charge } from "../store/store.js";
import { warnOnce } from "../warnings.js";
import { after, afterAll } from "./after.js";
import { type Caller, CallerResolver } from "./caller.js";
import type { MaybePromise, ResolvedOptions } from "./options.js";
import { passPlan, type ResponsePlan } from "./plan.js";
import { ResponsePlanner } from "./planner.js";
import type { RequestRecord } from "./record.js";

/** What a guard reads of a framework's request. */
export interface RequestReader<Request> {
  method(request: Request): string;
  /** A header's value by its lower-case name. */
  header(request: Request, name: string): string | undefined;
  /** The client's address in canonical form. */
  address(request: Request): string | undefined;
}

/** The policies of a mount: always the same ones, or chosen for each request; `false` for no limit. */
export type PolicySelection<Request, N extends string> =
  | readonly N[]
  | ((request: Request) => MaybePromise<N | readonly N[] | false>);

/** One mount of a limiter: turns requests into identity, policies and cost, asks, and plans the response. */
export class Guard<Request, N extends string> {
  readonly #limiter: Limiter<N>;
  readonly #reader: RequestReader<Request>;
  readonly #selection: PolicySelection<Request, N>;
  readonly #options: ResolvedOptions<Request, N>;
  readonly #callers: CallerResolver<Request, N>;
  readonly #planner: ResponsePlanner<Request, N>;

  /** @throws HeadgateError `UNKNOWN_POLICY` or `INVALID_OPTION` for what can never work */
  constructor(parts: {
    readonly limiter: Limiter<N>;
    readonly reader: RequestReader<Request>;
    readonly selection: PolicySelection<Request, N>;
    readonly options: ResolvedOptions<Request, N>;
  }) {
    this.#limiter = parts.limiter;
    this.#reader = parts.reader;
    this.#selection = parts.selection;
    this.#options = parts.options;
    const possible =
      typeof this.#selection === "function"
        ? (Object.keys(this.#limiter.policies) as N[])
        : this.#selection;
    const policies = possible.map((name) => this.#policy(name));
    if (typeof this.#selection !== "function") checkSelection(policies, this.#options.cost);
    this.#callers = new CallerResolver(this.#options, policies, (request) =>
      this.#reader.address(request),
    );
    this.#planner = new ResponsePlanner(this.#options);
  }

  /**
   * Decides one request. What the application's own functions throw is thrown, or rejects the promise;
   * a failing store does neither.
   *
   * @param record - the request's own, shared by all mounts that it passes
   */
  admit(request: Request, record: RequestRecord): ResponsePlan | Promise<ResponsePlan> {
    const { enabled, countPreflights, skip } = this.#options;
    if (!enabled || (!countPreflights && this.#isPreflight(request))) return passPlan;
    if (typeof skip !== "function") return this.#select(request, record);
    return after(skip(request), (skipped) =>
      skipped === true ? passPlan : this.#select(request, record),
    );
  }

  #select(request: Request, record: RequestRecord): ResponsePlan | Promise<ResponsePlan> {
    const selected =
      typeof this.#selection === "function" ? this.#selection(request) : this.#selection;
    return after(selected, (names) => {
      if (names === false) return passPlan;
      return after(
        this.#withoutSkipped(typeof names === "string" ? [names] : names, request),
        (kept) => {
          const policies = kept.map((name) => this.#policy(name));
          if (policies.length === 0) return passPlan;
          return after(this.#callers.resolve(request), (caller) =>
            this.#charge({ request, record, policies, caller }),
          );
        },
      );
    });
  }

  #withoutSkipped(names: readonly N[], request: Request): MaybePromise<readonly N[]> {
    const { skip } = this.#options;
    if (typeof skip !== "object") return names;
    const verdicts = afterAll(names.map((name) => skip[name]?.(request) ?? false));
    return after(verdicts, (skipped) => names.filter((_, index) => skipped[index] !== true));
  }

  #charge(visit: {
    request: Request;
    record: RequestRecord;
    policies: readonly Policy[];
    caller: Caller;
  }): ResponsePlan | Promise<ResponsePlan> {
    const { request, record, policies, caller } = visit;
    if (this.#callers.isAllowed(caller)) return passPlan;
    const { cost } = this.#options;
    return after(typeof cost === "function" ? cost(request) : cost, (price) => {
      const charges: Charge[] = [];
      for (const policy of policies) {
        const subject = this.#limiter.subjectOf(policy, caller.identity);
        const found =
          subject === undefined ? this.#callers.withoutKey(policy, caller) : { subject };
        const cost = this.#costFor(policy, price);
        if (!("subject" in found)) {
          if (found.rule === "deny") return this.#planner.rejectMissingKey();
        } else if (cost !== undefined) {
          charges.push({ policy, subject: found.subject, cost });
        } else if (policy.onStoreFailure === "closed") {
          return this.#conclude({
            request,
            record,
            charges: [],
            decision: undecided(policy, "closed", { reason: "wrong-cost", retryAfterMs: 1 }),
          });
        }
      }
      return this.#decide(request, record, charges);
    });
  }

  /** The cost under a policy; where the application gives rubbish, what the failure mode makes of it: undefined for no count. */
  #costFor(policy: Policy, price: unknown): number | undefined {
    const cost = costOf(policy, price);
    if (isCost(cost)) return cost;
    warnOnce(
      "HEADGATE_COST",
      `policy "${policy.name}": cost must be an integer from 0, got ${show(cost)}; the policy's onStoreFailure applies`,
    );
    return policy.onStoreFailure === "local" ? 1 : undefined;
  }

  #decide(
    request: Request,
    record: RequestRecord,
    charges: readonly Charge[],
  ): ResponsePlan | Promise<ResponsePlan> {
    const { store } = this.#limiter;
    const unpaid = charges
      .map((charge) => record.unpaid(store, charge))
      .filter((charge) => charge !== undefined);
    // Nothing left to pay: no policy concerns the request, or its fields stand on the response already.
    if (unpaid.length === 0) return { ...passPlan, decision: record.decision };
    const wantNext = this.#options.standardHeaders !== false;
    return after<Decision, ResponsePlan>(this.#limiter.decide(unpaid, { wantNext }), (decision) =>
      this.#conclude({ request, record, charges: unpaid, decision }),
    );
  }

  #conclude(made: {
    request: Request;
    record: RequestRecord;
    charges: readonly Charge[];
    decision: Decision;
  }): ResponsePlan {
    const { request, record, charges, decision } = made;
    const nowMs = this.#options.wallClock();
    const standing = record.add(this.#limiter.store, charges, decision, nowMs);
    this.#tell(decision, request);
    const crossOrigin =
      this.#options.exposeHeaders && this.#reader.header(request, "origin") !== undefined;
    const report = record.report(standing, nowMs);
    return this.#planner.plan({
      request,
      decision,
      report,
      outcomes: standing.outcomes,
      nowMs,
      crossOrigin,
    });
  }

  #policy(name: N): Policy {
    const { policies } = this.#limiter;
    if (Object.hasOwn(policies, name)) return policies[name];
    const known = Object.keys(policies).join(", ");
    throw new HeadgateError(
      "UNKNOWN_POLICY",
      `policy ${show(name)} is not one of this limiter's: ${known}`,
    );
  }

  #isPreflight(request: Request): boolean {
    return (
      this.#reader.method(request) === "OPTIONS" &&
      this.#reader.header(request, "origin") !== undefined &&
      this.#reader.header(request, "access-control-request-method") !== undefined
    );
  }

  #tell(decision: Decision, request: Request): void {
    try {
      this.#options.onDecision?.(decision, request);
    } catch (thrown) {
      warnOnce("HEADGATE_LISTENER", `onDecision threw: ${String(thrown)}`);
    }
  }
}

/** What is wrong whatever the request: two queues at once, or a cost that never fits. */
function checkSelection(policies: readonly Policy[], cost: unknown): void {
  if (policies.length === 0)
    throw new HeadgateError("UNKNOWN_POLICY", "limit: name at least one policy");
  const queues = policies.filter(({ algorithm }) => algorithm === "leaky-bucket");
  if (queues.length > 1) {
    const names = queues.map(({ name }) => `"${name}"`).join(" and ");
    throw new HeadgateError(
      "INVALID_OPTION",
      `policies ${names}: a request can wait in one leaky bucket at most`,
    );
  }
  if (typeof cost === "function") return;
  for (const policy of policies) {
    const price = costOf(policy, cost);
    if (!isCost(price) || price > capacityOf(policy)) {
      throw new HeadgateError(
        "INVALID_OPTION",
        `policy "${policy.name}": cost must be an integer from 0 to its capacity ${capacityOf(policy)}, got ${show(price)}`,
      );
    }
  }
}

function costOf(policy: Policy, price: unknown): unknown {
  if (typeof price !== "object" || price === null) return price;
  return Object.hasOwn(price, policy.name)
    ? ((price as Record<string, unknown>)[policy.name] ?? 1)
    : 1;
}

function isCost(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
