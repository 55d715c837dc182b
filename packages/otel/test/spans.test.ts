import { createLimiter, fixedWindow } from "@headgate/core";
import { context, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { FailingStore } from "../../express/test/failing-store.js";
import { instrumentLimiter } from "../src/index.js";
import { collector } from "./collector.js";

const exporter = new InMemorySpanExporter();
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
const tracer = provider.getTracer("test");
const { meterProvider } = collector();
const rule = { limit: 2, window: "1m", by: "user" } as const;

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(provider);
});
beforeEach(() => exporter.reset());
afterAll(() => {
  context.disable();
  trace.disable();
});

/** The attributes of the spans that ended, by the spans' names. */
function spans() {
  return Object.fromEntries(
    exporter.getFinishedSpans().map(({ name, attributes }) => [name, attributes]),
  );
}

it("notes each decision on the span of its own request, though several wait at once", async () => {
  const store = new FailingStore();
  store.state = "up";
  const limiter = createLimiter({ store, policies: { api: fixedWindow(rule) } });
  const stop = instrumentLimiter(limiter, { meterProvider });
  const request = (name: string, cost: number) =>
    tracer.startActiveSpan(name, async (span) => {
      await limiter.check("api", { user: "ada" }, { cost });
      span.end();
    });
  await Promise.all([request("first", 1), request("second", 1), request("third", 1)]);
  stop();
  const fields = { "headgate.policy": "api", "headgate.degraded": "none" };
  const admitted = { ...fields, "headgate.allowed": true, "headgate.reason": "admitted" };
  expect(spans()).toEqual({
    first: { ...admitted, "headgate.remaining": 1 },
    second: { ...admitted, "headgate.remaining": 0 },
    third: {
      ...fields,
      "headgate.allowed": false,
      "headgate.reason": "limit",
      "headgate.remaining": 0,
    },
  });
});

it("notes by which failure mode a request was answered, and no number that nobody knows", async () => {
  const limiter = createLimiter({
    store: new FailingStore(),
    policies: { api: fixedWindow({ ...rule, onStoreFailure: "open" }) },
    onStoreError: () => {},
  });
  instrumentLimiter(limiter, { meterProvider });
  await tracer.startActiveSpan("request", async (span) => {
    await limiter.check("api", { user: "ada" });
    span.end();
  });
  expect(spans().request).toEqual({
    "headgate.policy": "api",
    "headgate.allowed": true,
    "headgate.reason": "admitted",
    "headgate.degraded": "open",
  });
});

it("leaves spans alone where that is wanted", () => {
  const limiter = createLimiter({ policies: { api: fixedWindow(rule) } });
  instrumentLimiter(limiter, { meterProvider, spans: false });
  tracer.startActiveSpan("request", (span) => {
    limiter.check("api", { user: "ada" });
    span.end();
  });
  expect(spans().request).toEqual({});
});
