import { HeadgateError, type Limiter, type Store } from "@headgate/core";
import { type DecisionEvent, observe } from "@headgate/core/events";
import { type Attributes, type MeterProvider, metrics } from "@opentelemetry/api";
import { attribute, errorType, policyName } from "./attributes.js";
import { observeGauges } from "./gauges.js";
import { type Instruments, instrumentsOf } from "./instruments.js";
import { describeOnSpan } from "./span.js";

export interface InstrumentOptions {
  /** Tells this limiter's metrics from those of the process's other limiters; needed where there are several. */
  readonly name?: string;
  /**
   * Where the metrics go.
   * @default the global one of `@opentelemetry/api`, which must have been registered before
   */
  readonly meterProvider?: MeterProvider;
  /**
   * Whether decisions are noted on the active span.
   * @default true
   */
  readonly spans?: boolean;
}

/**
 * Counts what a limiter decides, as OpenTelemetry metrics, and notes each decision on the active span. What tells
 * the metrics apart is bounded by the configuration, and never who is asking.
 *
 * @returns how to stop
 * @throws HeadgateError `INVALID_OPTION`
 */
export function instrumentLimiter<N extends string, S extends Store>(
  limiter: Limiter<N, S>,
  options: InstrumentOptions = {},
): () => void {
  checkOptions(options);
  const { meterProvider = metrics.getMeterProvider(), spans = true } = options;
  const common = commonAttributes(options);
  const instruments = instrumentsOf(meterProvider.getMeter("@headgate/otel"));
  const count = (event: DecisionEvent): void => {
    if (spans) describeOnSpan(event);
    countDecision(event, instruments, common);
  };
  const stops = [
    observe(limiter, {
      decision: (event) => {
        // A look decides nothing.
        if (event.mode === "commit") count(event);
      },
      storeError: ({ limiter, error, decision }) => {
        instruments.storeErrors.add(1, {
          ...common,
          [attribute.errorType]: errorType(error),
          ...(decision && { [attribute.policy]: policyName(limiter, decision.policy.name) }),
        });
      },
      storeCall: ({ latencyMs, error }) => {
        instruments.storeDuration.record(latencyMs / 1_000, {
          ...common,
          ...(error && { [attribute.errorType]: errorType(error) }),
        });
      },
    }),
    observeGauges(limiter, instruments, common),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

function countDecision(
  { limiter, policy, outcome, reason, degraded, charges }: DecisionEvent,
  instruments: Instruments,
  common: Attributes,
): void {
  instruments.decisions.add(1, {
    ...common,
    [attribute.policy]: policyName(limiter, policy),
    [attribute.outcome]: outcome,
    [attribute.reason]: reason,
    [attribute.degraded]: degraded,
  });
  for (const { policy, outcome } of charges) {
    if (outcome === undefined) continue;
    instruments.charges.add(1, {
      ...common,
      [attribute.policy]: policyName(limiter, policy.name),
      [attribute.outcome]: outcome.allowed ? "allowed" : "denied",
      [attribute.shadow]: policy.shadow,
    });
  }
}

function commonAttributes({ name }: InstrumentOptions): Attributes {
  return name === undefined ? {} : { [attribute.limiter]: name };
}

function checkOptions(options: InstrumentOptions): void {
  const known = ["name", "meterProvider", "spans"];
  const unknown = Object.keys(options).find((option) => !known.includes(option));
  if (unknown !== undefined)
    throw invalid(`${unknown} is not an option (known: ${known.join(", ")})`);
  const { name } = options;
  if (name !== undefined && (typeof name !== "string" || name === ""))
    throw invalid(`name must be text that is not empty, got ${JSON.stringify(name)}`);
}

function invalid(rule: string): HeadgateError {
  return new HeadgateError("INVALID_OPTION", `instrumentLimiter: ${rule}`);
}
