import type { Decision } from "../decision/decision.js";
import type { HeadgateError } from "../errors.js";
import { mergeCharges } from "../limiter/charges.js";
import type { DecideOptions, Limiter } from "../limiter/limiter.js";
import type { ApplyMode, Charge, SafeStoreEvent } from "../store/store.js";
import { Audience, type Listeners } from "./audience.js";
import type { DecisionEvent, ObservedCharge } from "./event.js";
import { News } from "./news.js";

/** How a decision came about, where that is not a plain answer of the store. */
type Origin = "memory" | HeadgateError;

interface Asked {
  readonly charges: readonly Charge[];
  readonly mode: ApplyMode;
  readonly latencyMs: number;
}

/**
 * Stands between a limiter and those who ask it, and tells its audience. The limiter gets its own `decide` back
 * when the last listener has stopped.
 */
export class Observation {
  readonly #limiter: Limiter;
  readonly #decide: Limiter["decide"];
  readonly #audience = new Audience();
  readonly #news = new News(this.#audience);
  readonly #origins = new WeakMap<Decision, Origin>();
  readonly #restore: () => void;

  /** @param onEnd - called when the last listener has stopped */
  constructor(limiter: Limiter, onEnd: () => void) {
    this.#limiter = limiter;
    this.#decide = limiter.decide;
    const replaced = Object.getOwnPropertyDescriptor(limiter, "decide");
    const replacement: Limiter["decide"] = (charges, options) => this.#observed(charges, options);
    limiter.decide = replacement;
    const unwatch = limiter.safe?.watch((event) => this.#hear(event));
    this.#restore = () => {
      onEnd();
      unwatch?.();
      // What somebody else has put around it stays, and finds nobody who listens here.
      if (limiter.decide !== replacement) return;
      if (replaced === undefined) Reflect.deleteProperty(limiter, "decide");
      else Object.defineProperty(limiter, "decide", replaced);
    };
  }

  /** @returns how to stop */
  add(listeners: Listeners): () => void {
    const remove = this.#audience.add(listeners);
    return () => {
      if (remove() && this.#audience.isEmpty) this.#restore();
    };
  }

  #observed(charges: readonly Charge[], options?: DecideOptions): Decision | Promise<Decision> {
    const decide = () => this.#decide.call(this.#limiter, charges, options);
    const isHeard =
      this.#audience.hears("decision") || this.#audience.hears("storeCall") || this.#news.isWanted;
    if (!isHeard) return decide();
    const startedMs = performance.now();
    const mode = options?.mode ?? "commit";
    const told = (decision: Decision): Decision => {
      this.#tell(decision, { charges, mode, latencyMs: performance.now() - startedMs });
      return decision;
    };
    const answer: Decision | Promise<Decision> = decide();
    return answer instanceof Promise ? answer.then(told) : told(answer);
  }

  #tell(decision: Decision, { charges, mode, latencyMs }: Asked): void {
    const limiter = this.#limiter;
    const error = undefined;
    // A store in this process is called by every decision, and by nothing else that takes time.
    if (limiter.safe === undefined && this.#audience.hears("storeCall"))
      this.#audience.tell({ type: "storeCall", limiter, latencyMs, error });
    const origin = this.#origins.get(decision);
    const event: DecisionEvent = {
      type: "decision",
      limiter,
      outcome: decision.allowed ? "allowed" : "denied",
      policy: decision.policy.name,
      reason: decision.reason,
      degraded: decision.degraded,
      mode,
      charges: observedCharges(mergeCharges(charges), decision),
      latencyMs,
      remembered: origin === "memory",
      storeError: origin === "memory" ? undefined : origin,
      decision,
    };
    this.#audience.tell(event);
    if (mode === "commit" && this.#news.isWanted) this.#news.tell(event);
  }

  #hear(event: SafeStoreEvent): void {
    const limiter = this.#limiter;
    switch (event.type) {
      case "recall":
        this.#origins.set(event.decision, "memory");
        break;
      case "failure": {
        const { error, decision } = event;
        if (decision !== undefined) this.#origins.set(decision, error);
        this.#audience.tell({ type: "storeError", limiter, error, decision });
        break;
      }
      case "call": {
        const { latencyMs, error } = event;
        this.#audience.tell({ type: "storeCall", limiter, latencyMs, error });
        break;
      }
      case "breaker":
        this.#audience.tell({ type: "breaker", limiter, state: event.state });
    }
  }
}

/** Each charge with its outcome. A decision has those of some of its charges, in their order, shadows apart. */
function observedCharges(
  charges: readonly Charge[],
  { outcomes, shadows }: Decision,
): readonly ObservedCharge[] {
  let enforced = 0;
  let shadow = 0;
  return charges.map((charge) => {
    const isShadow = charge.policy.shadow;
    const outcome = isShadow ? shadows[shadow] : outcomes[enforced];
    if (outcome?.policy.name !== charge.policy.name) return { ...charge, outcome: undefined };
    if (isShadow) shadow += 1;
    else enforced += 1;
    return { ...charge, outcome };
  });
}
