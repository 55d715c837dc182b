import { systemClock } from "../clock.js";
import type { Audience } from "./audience.js";
import type { DecisionEvent, ObservedCharge } from "./event.js";
import { Remembered } from "./remembered.js";

/** What decisions say of a subject for the first time: that it is refused in this window, that it is banned. */
export class News {
  readonly #audience: Audience;
  readonly #refused = new Remembered();
  readonly #banned = new Remembered();

  constructor(audience: Audience) {
    this.#audience = audience;
  }

  /** Whether anybody wants to hear of it. */
  get isWanted(): boolean {
    return this.#audience.hears("firstRefusal") || this.#audience.hears("ban");
  }

  tell({ limiter, charges }: DecisionEvent): void {
    const now = systemClock.now();
    for (const { policy, subject, outcome } of charges) {
      if (outcome === undefined) continue;
      const fields = { limiter, policy: policy.name, subject };
      const { shadow } = policy;
      const who = `${policy.name} ${subject}`;
      if (!outcome.allowed && this.#refused.isNews(who, now, restOfWindow(outcome)))
        this.#audience.tell({ type: "firstRefusal", ...fields, shadow, outcome });
      const { banMs } = outcome;
      if (banMs > 0 && this.#banned.isNews(who, now, banMs))
        this.#audience.tell({ type: "ban", ...fields, banMs });
    }
  }
}

/** A window of the clock's grid ends for everybody at once; others begin with the refusal. */
function restOfWindow({ policy, resetMs }: NonNullable<ObservedCharge["outcome"]>): number {
  return policy.algorithm === "fixed-window" ? Math.min(policy.windowMs, resetMs) : policy.windowMs;
}
