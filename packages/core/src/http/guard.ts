import type { Millis } from "../clock.js";
import { type Decision, undecided } from "../decision/decision.js";
import { HeadgateError, show } from "../errors.js";
import type { Limiter } from "../limiter/limiter.js";
import { tell } from "../listener.js";
import type { Policy } from "../policy/policy.js";
import type { Charge } from "../store/store.js";
import { warnOnce } from "../warnings.js";
import { after, afterAll } from "./after.js";
import { type Caller, CallerResolver } from "./caller.js";
import { checkConstantCost, costOf, isCost } from "./cost.js";
import type { MaybePromise, ResolvedOptions } from "./options.js";
import { passPlan, type ResponsePlan } from "./plan.js";
import { ResponsePlanner } from "./planner.js";
import type { RequestRecord } from "./record.js";
import { checkSelection, chosenNames, namesIn, type PolicySelection } from "./selection.js";

/** What a guard reads of a framework's request. */
export interface RequestReader<Request> {
  method(request: Request): string;
  /** A header's value by its lower-case name. */
  header(request: Request, name: string): string | undefined;
  /** The client's address in canonical form. */
  address(request: Request): string | undefined;
}

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
    const { cost, skip } = this.#options;
    const fixed = typeof this.#selection !== "function";
    if (fixed) checkSelection(policies);
    for (const name of [...namesIn<N>(cost), ...namesIn<N>(skip)]) this.#policy(name);
    if (typeof cost !== "function") checkConstantCost(cost, policies, fixed);
    this.#callers = new CallerResolver(this.#options, policies, {
      addressOf: (request) => this.#reader.address(request),
      subjectOf: (by, identity) => this.#limiter.subjectOf(by, identity),
    });
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
      return after(this.#withoutSkipped(chosenNames(names), request), (kept) => {
        const policies = kept.map((name) => this.#policy(name));
        if (policies.length === 0) return passPlan;
        return after(this.#callers.resolve(request), (caller) =>
          this.#charge({ request, record, policies, caller }),
        );
      });
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
      let uncounted: Policy | undefined;
      for (const policy of policies) {
        const found = this.#callers.subjectOf(policy, caller);
        const cost = this.#costFor(policy, price);
        if (!("subject" in found)) {
          if (found.rule === "deny") return this.#planner.rejectMissingKey();
        } else if (cost !== undefined) {
          charges.push({ policy, subject: found.subject, cost });
        } else if (policy.onStoreFailure === "closed") {
          const decision = undecided(policy, "closed", { reason: "wrong-cost", retryAfterMs: 1 });
          return this.#conclude({ request, record, charges: [], decision });
        } else {
          uncounted ??= policy;
        }
      }
      if (charges.length === 0 && uncounted !== undefined) {
        const decision = undecided(uncounted, "open", { reason: "wrong-cost", retryAfterMs: 0 });
        return this.#conclude({ request, record, charges: [], decision });
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
    if (unpaid.length === 0) return this.#retell(request, record, charges);
    const wantNext = this.#wantsNext;
    return after<Decision, ResponsePlan>(this.#limiter.decide(unpaid, { wantNext }), (decision) =>
      after(this.#ofWhole(decision, unpaid, charges), (told) =>
        this.#conclude({ request, record, charges: unpaid, decision: told }),
      ),
    );
  }

  /**
   * The decision on the whole cost, where only the rest of it was asked for and refused: who comes back
   * pays all of it again, so that is what the wait must be for.
   */
  #ofWhole(
    decision: Decision,
    unpaid: readonly Charge[],
    charges: readonly Charge[],
  ): Decision | Promise<Decision> {
    if (decision.allowed || unpaid.every((charge) => charges.includes(charge))) return decision;
    const whole = charges.filter((charge) => unpaid.some(({ policy }) => policy === charge.policy));
    return after<Decision, Decision>(
      this.#limiter.decide(whole, { mode: "peek", wantNext: this.#wantsNext }),
      (ofWhole) => (ofWhole.allowed ? decision : ofWhole),
    );
  }

  /** For a request that has nothing left to pay: the fields, which an earlier mount need not have shown. */
  #retell(request: Request, record: RequestRecord, charges: readonly Charge[]): ResponsePlan {
    const plan: ResponsePlan = { ...passPlan, decision: record.decision };
    const standing = this.#shows ? record.reveal(this.#limiter.store, charges) : undefined;
    if (charges.length === 0 || standing === undefined) return plan;
    const { headers, expose } = this.#plan({
      request,
      record,
      decision: { ...standing, allowed: true },
      standing,
      nowMs: this.#options.wallClock(),
    });
    return { ...plan, headers, expose };
  }

  #conclude(made: {
    request: Request;
    record: RequestRecord;
    charges: readonly Charge[];
    decision: Decision;
  }): ResponsePlan {
    const { request, record, charges, decision } = made;
    const { wallClock, onDecision } = this.#options;
    const { store } = this.#limiter;
    const nowMs = wallClock();
    const standing = record.add({ store, charges, decision, nowMs, shown: this.#shows });
    if (onDecision !== undefined) tell("onDecision", () => onDecision(decision, request));
    return this.#plan({ request, record, decision, standing, nowMs });
  }

  /** @param made.standing - the decision that the fields tell */
  #plan(made: {
    request: Request;
    record: RequestRecord;
    decision: Decision;
    standing: Decision;
    nowMs: Millis;
  }): ResponsePlan {
    const { request, record, decision, standing, nowMs } = made;
    const crossOrigin =
      this.#options.exposeHeaders && this.#reader.header(request, "origin") !== undefined;
    return this.#planner.plan({
      request,
      decision,
      report: record.report(standing, nowMs),
      outcomes: standing.outcomes,
      nowMs,
      crossOrigin,
    });
  }

  /** Whether responses tell numbers of this mount. */
  get #shows(): boolean {
    return this.#options.headers || this.#wantsNext;
  }

  /** Only the IETF fields tell when there will be more. */
  get #wantsNext(): boolean {
    return this.#options.standardHeaders !== false;
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
}
