import type { Millis } from "../clock.js";
import { type Decision, undecided } from "../decision/decision.js";
import type { HeadgateError } from "../errors.js";
import type { Limiter } from "../limiter/limiter.js";
import { tell } from "../listener.js";
import { awaitsEnding, conclude, type Ending } from "../policies/conclude.js";
import type { Policy } from "../policy/policy.js";
import type { Charge } from "../store/store.js";
import { after } from "./after.js";
import { type Caller, CallerResolver } from "./caller.js";
import { PolicyChoice } from "./choice.js";
import type { ResolvedOptions } from "./options.js";
import { passPlan, type ResponsePlan } from "./plan.js";
import { ResponsePlanner } from "./planner.js";
import { isSilent, type RequestRecord } from "./record.js";
import type { PolicySelection } from "./selection.js";
import { type NoTerms, type Terms, TermsReader, termsBeside } from "./terms.js";

/** What a guard reads of a framework's request. */
export interface RequestReader<Request> {
  method(request: Request): string;
  /** A header's value by its lower-case name. */
  header(request: Request, name: string): string | undefined;
  /** The client's address; text that is none counts as no address. */
  address(request: Request): string | undefined;
  /**
   * The pattern of the route that a request has met, never its path.
   *
   * @throws HeadgateError `INVALID_OPTION` where nobody knows it
   */
  route(request: Request): string;
}

/** One mount of a limiter: turns requests into identity, policies and cost, asks, and plans the response. */
export class Guard<Request, N extends string> {
  readonly #limiter: Limiter<N>;
  readonly #reader: RequestReader<Request>;
  readonly #options: ResolvedOptions<Request, N>;
  readonly #choice: PolicyChoice<Request, N>;
  readonly #callers: CallerResolver<Request, N>;
  readonly #terms: TermsReader<Request, N>;
  readonly #planner: ResponsePlanner<Request, N>;
  /** Only the IETF fields tell when there will be more. */
  readonly #wantsNext: boolean;
  /** Whether responses tell numbers of this mount. */
  readonly #shows: boolean;

  /** @throws HeadgateError `UNKNOWN_POLICY` or `INVALID_OPTION` for what can never work */
  constructor(parts: {
    readonly limiter: Limiter<N>;
    readonly reader: RequestReader<Request>;
    readonly selection: PolicySelection<Request, N>;
    readonly options: ResolvedOptions<Request, N>;
  }) {
    const { limiter, reader, selection, options } = parts;
    const { route } = options;
    this.#limiter = limiter;
    this.#reader = reader;
    this.#options = options;
    this.#wantsNext = options.standardHeaders !== false;
    this.#shows = options.headers || this.#wantsNext;
    this.#choice = new PolicyChoice(limiter, selection, options);
    this.#callers = new CallerResolver(options, {
      addressOf: (request) => reader.address(request),
      routeOf: (request) => route ?? reader.route(request),
      limiter,
    });
    this.#terms = new TermsReader(options);
    this.#planner = new ResponsePlanner(options);
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
    if (typeof skip !== "function") return this.#choose(request, record);
    return after(skip(request), (skipped) =>
      skipped === true ? passPlan : this.#choose(request, record),
    );
  }

  #choose(request: Request, record: RequestRecord): ResponsePlan | Promise<ResponsePlan> {
    const chosen = this.#choice.of(request);
    return Array.isArray(chosen)
      ? this.#meet(request, record, chosen)
      : after(chosen, (policies) => this.#meet(request, record, policies));
  }

  #meet(
    request: Request,
    record: RequestRecord,
    policies: readonly Policy[],
  ): ResponsePlan | Promise<ResponsePlan> {
    if (policies.length === 0) return passPlan;
    const caller = this.#callers.resolve(request, this.#choice.needsOf(policies));
    // Without a promise there is no function to make either: most requests come this way.
    return caller instanceof Promise
      ? caller.then((known) => this.#charge({ request, record, policies, caller: known }))
      : this.#charge({ request, record, policies, caller });
  }

  #charge(visit: Visit<Request>): ResponsePlan | Promise<ResponsePlan> {
    const { request, policies, caller } = visit;
    if (this.#callers.isAllowed(caller)) return passPlan;
    const terms = this.#terms.read(request, caller.identity, policies);
    return Array.isArray(terms)
      ? this.#chargeOn(visit, terms)
      : after(terms, (known) => this.#chargeOn(visit, known));
  }

  #chargeOn(
    { request, record, policies, caller }: Visit<Request>,
    terms: readonly (Terms | NoTerms)[],
  ): ResponsePlan | Promise<ResponsePlan> {
    const charges: Charge[] = [];
    let uncounted: { policy: Policy; reason: NoTerms } | undefined;
    for (let index = 0; index < policies.length; index += 1) {
      const policy = policies[index] as Policy;
      const found = this.#callers.subjectOf(policy, caller);
      const given = termsBeside(charges, policy, terms[index] as Terms | NoTerms);
      if (!("subject" in found)) {
        if (found.rule === "deny") return this.#planner.rejectMissingKey();
      } else if (typeof given === "object") {
        charges.push({ policy: given.policy, subject: found.subject, cost: given.cost });
      } else if (policy.onStoreFailure === "closed" && !policy.shadow) {
        const decision = undecided(policy, "closed", { reason: given, retryAfterMs: 1 });
        return this.#conclude({ request, record, charges: [], decision });
      } else {
        // A shadow policy has nothing to tell: an enforced one is told of rather.
        if (uncounted === undefined || uncounted.policy.shadow)
          uncounted = { policy, reason: given };
      }
    }
    if (charges.length === 0 && uncounted !== undefined) {
      const { policy, reason } = uncounted;
      const decision = undecided(policy, "open", { reason, retryAfterMs: 0 });
      return this.#conclude({ request, record, charges: [], decision });
    }
    return this.#decide(request, record, charges);
  }

  #decide(
    request: Request,
    record: RequestRecord,
    charges: readonly Charge[],
  ): ResponsePlan | Promise<ResponsePlan> {
    const { store } = this.#limiter;
    const unpaid = record.unpaidOf(store, charges);
    if (unpaid.length === 0) return this.#retell(request, record, charges);
    const decision: Decision | Promise<Decision> = this.#limiter.decide(unpaid, {
      wantNext: this.#wantsNext,
    });
    if (!(decision instanceof Promise) && (decision.allowed || unpaid === charges))
      return this.#conclude({ request, record, charges: unpaid, decision });
    const isWhole = charges.every((charge) => charge.policy.shadow || unpaid.includes(charge));
    return after<Decision, ResponsePlan>(decision, (made) => {
      const told =
        made.allowed || isWhole ? made : this.#ofWhole(made, record.dearestOf(store, charges));
      return after(told, (decision) =>
        this.#conclude({ request, record, charges: unpaid, decision }),
      );
    });
  }

  /**
   * A refusal of what was left to pay, as one of the whole: who comes back pays all of it again, so that is what
   * the wait must be for.
   */
  #ofWhole(refusal: Decision, whole: readonly Charge[]): Decision | Promise<Decision> {
    return after<Decision, Decision>(
      this.#limiter.decide(whole, { mode: "peek", wantNext: this.#wantsNext }),
      (ofWhole) => (ofWhole.allowed ? refusal : { ...ofWhole, shadows: refusal.shadows }),
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
    const plan = this.#plan({ request, record, decision, standing, nowMs });
    if (!this.#choice.awaitsEndings || plan.action === "reject" || !awaitsEnding(decision))
      return plan;
    return { ...plan, conclude: (ending) => this.#tellEnding(decision, ending) };
  }

  /** What becomes of it is nothing that a client waits for: where the store fails, its charges stay. */
  #tellEnding(decision: Decision, ending: Ending): void {
    const report = (error: unknown): void => this.#limiter.safe?.report(error as HeadgateError);
    try {
      const told: void | Promise<void> = conclude(this.#limiter, decision, ending);
      told?.catch(report);
    } catch (error) {
      report(error);
    }
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
    if (isSilent(standing)) return { ...passPlan, decision };
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

  #isPreflight(request: Request): boolean {
    return (
      this.#reader.method(request) === "OPTIONS" &&
      this.#reader.header(request, "origin") !== undefined &&
      this.#reader.header(request, "access-control-request-method") !== undefined
    );
  }
}

/** A request on its way to its charges. */
interface Visit<Request> {
  readonly request: Request;
  readonly record: RequestRecord;
  readonly policies: readonly Policy[];
  readonly caller: Caller;
}
