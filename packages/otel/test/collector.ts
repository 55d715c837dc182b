import type { Attributes } from "@opentelemetry/api";
import {
  type DataPoint,
  type Histogram,
  MeterProvider,
  MetricReader,
} from "@opentelemetry/sdk-metrics";

class Reader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

/** A place where metrics go, and what has arrived there. */
export interface Collector {
  readonly meterProvider: MeterProvider;
  /** The names of all metrics that have values. */
  names(): Promise<readonly string[]>;
  /** The values of one metric, each with what tells it apart. */
  valuesOf(name: string): Promise<readonly (readonly [value: unknown, attributes: Attributes])[]>;
}

export function collector(): Collector {
  const reader = new Reader();
  const meterProvider = new MeterProvider({ readers: [reader] });
  const collect = async () => {
    const { resourceMetrics, errors } = await reader.collect();
    if (errors.length > 0) throw errors[0];
    return resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics);
  };
  return {
    meterProvider,
    names: async () => (await collect()).map(({ descriptor }) => descriptor.name),
    valuesOf: async (name) => {
      const found = (await collect()).filter(({ descriptor }) => descriptor.name === name);
      return found.flatMap(({ dataPoints }) =>
        (dataPoints as readonly DataPoint<number | Histogram>[]).map(
          ({ value, attributes }) => [value, attributes] as const,
        ),
      );
    },
  };
}
