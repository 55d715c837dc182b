import type { Millis } from "../../clock.js";
import { capacityOf } from "../../policy/capacity.js";
import type { Policy } from "../../policy/policy.js";
import type { PolicyInput } from "../../policy/rules.js";
import type { ApplyMode, Charge, ChargeReceipt, Outcome, Store } from "../../store/store.js";
import { answerOf, text } from "../expectation.js";
import type { SteppingClock } from "../manual-clock.js";
import { type History, type Move, moveOf } from "./history.js";
import { policyNamed } from "./policies.js";
import { answered, type Steps } from "./steps.js";

const shownEvents = 30;

/** One history on one store: moves the clock, asks, and remembers what was answered for a failure's message. */
export class Trial {
  readonly store: Store;
  readonly clock: SteppingClock;
  readonly policy: Policy;
  readonly capacity: number;
  /** The start of every policy name of this trial, so that trials on one store stay apart. */
  readonly #prefix: string;
  readonly #events: (() => string)[] = [];
  #last: Outcome | undefined;

  constructor(
    store: Store,
    { clock, policy, prefix }: { clock: SteppingClock; policy: PolicyInput; prefix: string },
  ) {
    this.store = store;
    this.clock = clock;
    this.#prefix = prefix;
    this.policy = this.named("law", policy);
    this.capacity = capacityOf(this.policy);
  }

  get now(): Millis {
    return this.clock.now();
  }

  /** A policy under a name that no other trial uses. */
  named(name: string, input: PolicyInput): Policy {
    return policyNamed(`${this.#prefix}${name}`, input);
  }

  /** The moves of a history, one after the other, each after the clock has been moved. */
  *walk(history: History): Generator<Move> {
    for (const step of history.steps) {
      const { policy, capacity, now } = this;
      const move = moveOf(step, {
        windowMs: policy.windowMs,
        nowMs: now,
        capacity,
        last: this.#last,
      });
      this.clock.set(now + move.advanceMs);
      yield move;
    }
  }

  /** Makes a move's call for a subject. The first subject's answers are what later moves aim at. */
  *make({ cost, mode }: Move, subject = "a"): Steps<Outcome> {
    const outcome = yield* this.call(cost, subject, mode);
    if (subject === "a") this.#last = outcome;
    return outcome;
  }

  *commit(cost: number, subject = "a"): Steps<Outcome> {
    return yield* this.call(cost, subject, "commit");
  }

  *look(cost: number, subject = "a"): Steps<Outcome> {
    return yield* this.call(cost, subject, "peek");
  }

  /** A peek at another instant, from which the clock returns. */
  *lookAt(instant: Millis, cost: number, subject = "a"): Steps<Outcome> {
    const { now } = this;
    this.clock.set(instant);
    const outcome = yield* this.call(cost, subject, "peek");
    this.clock.set(now);
    return outcome;
  }

  *call(cost: number, subject: string, mode: ApplyMode): Steps<Outcome> {
    const outcomes = yield* this.apply([{ policy: this.policy, subject, cost }], mode);
    return outcomes[0] as Outcome;
  }

  *apply(batch: readonly Charge[], mode: ApplyMode): Steps<readonly Outcome[]> {
    const { now } = this;
    const outcomes = yield* answered(this.store.apply(batch, mode, true));
    this.#events.push(() => lines(now, mode, outcomes, batch));
    return outcomes;
  }

  *refund(receipt: ChargeReceipt): Steps<void> {
    const { now } = this;
    this.#events.push(
      () =>
        `at ${now}: refund of ${receipt.part ?? receipt.cost} of ${receipt.cost} to ${receipt.policy.name} ${receipt.subject} from ${receipt.at}`,
    );
    yield* answered(this.store.refund([receipt]));
  }

  *reset(subject: string): Steps<void> {
    const { now } = this;
    this.#events.push(() => `at ${now}: reset of ${subject}`);
    yield* answered(this.store.reset(this.policy, subject));
  }

  /** What happened so far, for a message. */
  story(): string {
    const left = this.#events.length - shownEvents;
    const shown = this.#events.slice(-shownEvents).map((event) => event());
    return [`policy ${text(this.policy)}`, ...(left > 0 ? [`${left} calls`] : []), ...shown].join(
      "\n",
    );
  }
}

function lines(
  now: Millis,
  mode: ApplyMode,
  outcomes: readonly Outcome[],
  batch: readonly Charge[],
): string {
  return outcomes
    .map((outcome, index) => {
      const { policy, subject, cost } = batch[index] as Charge;
      return `at ${now}: ${mode} ${cost} for ${policy.name} ${subject.slice(0, 20)}: ${text(answerOf(outcome))}`;
    })
    .join("\n");
}
