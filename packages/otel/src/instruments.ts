import type { Counter, Histogram, Meter, ObservableGauge } from "@opentelemetry/api";

export interface Instruments {
  readonly decisions: Counter;
  readonly charges: Counter;
  readonly storeErrors: Counter;
  readonly storeDuration: Histogram;
  readonly breaker: ObservableGauge;
  readonly keys: ObservableGauge;
}

/** In seconds. The default deadline of a request is 0.2 s; a store in this process takes microseconds. */
const boundaries = [
  0.000_01, 0.000_1, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1,
];

/** The metrics of `docs/observability.md`. A meter gives the same ones to whoever asks again. */
export function instrumentsOf(meter: Meter): Instruments {
  return {
    decisions: meter.createCounter("headgate.decisions", {
      description: "Decisions, under the policy that they report",
      unit: "{decision}",
    }),
    charges: meter.createCounter("headgate.charges", {
      description: "What each policy of each decision answered",
      unit: "{charge}",
    }),
    storeErrors: meter.createCounter("headgate.store.errors", {
      description: "Failures of the store, and calls that its breaker held back",
      unit: "{error}",
    }),
    storeDuration: meter.createHistogram("headgate.store.duration", {
      description: "How long calls to the store took",
      unit: "s",
      advice: { explicitBucketBoundaries: boundaries },
    }),
    breaker: meter.createObservableGauge("headgate.breaker.state", {
      description: "1 for the state that the store's breaker is in, 0 for the others",
      unit: "1",
    }),
    keys: meter.createObservableGauge("headgate.store.keys", {
      description: "Keys that the store in this process holds",
      unit: "{key}",
    }),
  };
}
