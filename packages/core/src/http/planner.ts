import type { Millis } from "../clock.js";
import type { Decision } from "../decision/decision.js";
import { show } from "../errors.js";
import type { Outcome } from "../store/store.js";
import { warnOnce } from "../warnings.js";
import {
  type Content,
  jsonContent,
  keyMissing,
  limited,
  problemContent,
  type Refusal,
  unavailable,
} from "./body.js";
import {
  type Field,
  type LimitFieldNames,
  limitFieldNames,
  limitFields,
  type Report,
  retryAfterSeconds,
} from "./fields.js";
import type { ResolvedOptions } from "./options.js";
import type { ContinuePlan, RejectPlan, ResponsePlan } from "./plan.js";
import { standardFields } from "./standard-fields.js";

const notStored: Field = ["Cache-Control", "no-store"];

/** A decision on its way to the response. */
export interface Verdict<Request> {
  readonly request: Request;
  /** What this limiter decided. */
  readonly decision: Decision;
  /** What all limiters of the request together report. */
  readonly report: Report;
  readonly outcomes: readonly Outcome[];
  /** The wall clock, read once for the whole response. */
  readonly nowMs: Millis;
  /** Whether scripts of another origin will read the response. */
  readonly crossOrigin: boolean;
}

/** Turns decisions into plans: the one place that knows which field stands on which response. */
export class ResponsePlanner<Request, N extends string> {
  readonly #options: ResolvedOptions<Request, N>;
  readonly #names: LimitFieldNames;
  readonly #exposed: readonly string[];

  constructor(options: ResolvedOptions<Request, N>) {
    this.#options = options;
    this.#names = limitFieldNames(options.headerPrefix);
    const standard = options.standardHeaders === false ? [] : ["RateLimit-Policy", "RateLimit"];
    const { limit, remaining, reset } = this.#names;
    this.#exposed = [
      "Retry-After",
      ...(options.headers ? [limit, remaining, reset] : []),
      ...standard,
    ];
  }

  plan(verdict: Verdict<Request>): ResponsePlan {
    const { decision } = verdict;
    return decision.allowed ? this.#continue(verdict) : this.#reject(verdict);
  }

  /** The refusal of a request that lacks its key. */
  rejectMissingKey(): RejectPlan {
    const { contentType, body } = this.#content(keyMissing, undefined);
    const headers: readonly Field[] = [notStored, ["Content-Type", contentType]];
    return {
      action: "reject",
      status: keyMissing.status,
      headers,
      body,
      message: keyMissing.message,
      expose: [],
      decision: undefined,
    };
  }

  #continue(verdict: Verdict<Request>): ContinuePlan {
    const { decision } = verdict;
    return {
      action: "continue",
      headers: this.#fields(verdict, undefined),
      expose: this.#expose(verdict),
      decision,
      delayMs: decision.delayMs,
      conclude: undefined,
    };
  }

  #reject(verdict: Verdict<Request>): RejectPlan {
    const { decision, request } = verdict;
    const { reason, retryAfterMs } = decision;
    const retrySeconds = reason === "never" ? undefined : retryAfterSeconds(retryAfterMs);
    const refusal =
      decision.degraded === "closed"
        ? unavailable(retrySeconds ?? 1)
        : limited(this.#options.status, retrySeconds);
    const { body: makeBody } = this.#options;
    const { message } = refusal;
    const custom =
      typeof makeBody === "function"
        ? checkedContent(makeBody(decision, { request, message, retryAfterSeconds: retrySeconds }))
        : undefined;
    const { contentType, body } = custom ?? this.#content(refusal, decision);
    const headers: readonly Field[] = [
      ...this.#fields(verdict, retrySeconds),
      ["Retry-After", retrySeconds === undefined ? undefined : String(retrySeconds)],
      notStored,
      ["Content-Type", contentType],
      ...(custom?.headers === undefined ? [] : Object.entries(custom.headers)),
    ];
    return {
      action: "reject",
      status: refusal.status,
      headers,
      body,
      message,
      expose: this.#expose(verdict),
      decision,
    };
  }

  #fields(
    { report, outcomes, nowMs }: Verdict<Request>,
    retrySeconds: number | undefined,
  ): readonly Field[] {
    const fields = this.#options.headers ? limitFields(this.#names, report, nowMs) : [];
    if (this.#options.standardHeaders === false) return fields;
    return [...fields, ...standardFields(outcomes, retrySeconds)];
  }

  #expose({ crossOrigin }: Verdict<Request>): readonly string[] {
    return crossOrigin ? this.#exposed : [];
  }

  #content(refusal: Refusal, decision: Decision | undefined): Content {
    return this.#options.body === "problem"
      ? problemContent(refusal, decision)
      : jsonContent(refusal);
  }
}

/** What a body function made; undefined, with a warning, when it is no body: the refusal is sent all the same. */
function checkedContent<C extends Content>(made: C): C | undefined {
  const { contentType, body }: { contentType?: unknown; body?: unknown } = Object(made);
  if (typeof contentType === "string" && typeof body === "string") return made;
  warnOnce(
    "HEADGATE_BODY",
    `body: the function must give { contentType, body } as texts, got ${show(made)}; the usual body is sent instead`,
  );
  return undefined;
}
