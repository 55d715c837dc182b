import { createLimiter, fixedWindow } from "@headgate/core";
import { expect, it } from "vitest";
import { FailingStore } from "../../express/test/failing-store.js";
import { instrumentLimiter } from "../src/index.js";
import { collector } from "./collector.js";

const ada = { user: "ada" };
const rule = { limit: 10, window: "1m", by: "user" } as const;

function failingLimiter() {
  const store = new FailingStore();
  const limiter = createLimiter({
    store,
    policies: { local: fixedWindow(rule), open: fixedWindow({ ...rule, onStoreFailure: "open" }) },
    onStoreError: () => {},
  });
  return { store, limiter };
}

it("counts store errors and degraded decisions by policy", async () => {
  const { meterProvider, valuesOf } = collector();
  const { limiter } = failingLimiter();
  instrumentLimiter(limiter, { meterProvider });
  for (const name of ["local", "open", "open", "open", "open", "open"] as const)
    await limiter.check(name, ada);
  const failure = { "error.type": "STORE_FAILURE" };
  expect(await valuesOf("headgate.store.errors")).toEqual([
    [1, { ...failure, "headgate.policy": "local" }],
    [4, { ...failure, "headgate.policy": "open" }],
    [1, { "error.type": "STORE_CIRCUIT_OPEN", "headgate.policy": "open" }],
  ]);
  const admitted = { "headgate.outcome": "allowed", "headgate.reason": "admitted" };
  expect(await valuesOf("headgate.decisions")).toEqual([
    [1, { ...admitted, "headgate.policy": "local", "headgate.degraded": "local" }],
    [5, { ...admitted, "headgate.policy": "open", "headgate.degraded": "open" }],
  ]);
});

it("counts errors of unknown codes and charges of unknown policies as others", async () => {
  const { meterProvider, valuesOf } = collector();
  const { store, limiter } = failingLimiter();
  instrumentLimiter(limiter, { meterProvider });
  const thrown = Object.assign(new Error("x"), { name: "HeadgateError", code: "STORE_OF_ada" });
  store.apply = () => Promise.reject(thrown);
  const policy = { ...limiter.policies.open, name: "ada" };
  await limiter.decide([{ policy, subject: "user=ada", cost: 1 }]);
  const values = [
    ...(await valuesOf("headgate.store.errors")),
    ...(await valuesOf("headgate.decisions")),
  ];
  expect(values).toMatchObject([
    [1, { "error.type": "_OTHER", "headgate.policy": "_OTHER" }],
    [1, { "headgate.policy": "_OTHER" }],
  ]);
  expect(JSON.stringify(values)).not.toContain("ada");
});

it("shows the state of the breaker", async () => {
  const { meterProvider, valuesOf } = collector();
  const { limiter } = failingLimiter();
  instrumentLimiter(limiter, { meterProvider });
  const states = async () =>
    Object.fromEntries(
      (await valuesOf("headgate.breaker.state")).map(([value, attributes]) => [
        attributes["headgate.breaker.state"],
        value,
      ]),
    );
  expect(await states()).toEqual({ closed: 1, "half-open": 0, open: 0 });
  for (let call = 0; call < 5; call += 1) await limiter.check("local", ada);
  expect(await states()).toEqual({ closed: 0, "half-open": 0, open: 1 });
});

it("times calls to the store, failed ones apart", async () => {
  const { meterProvider, valuesOf } = collector();
  const { store, limiter } = failingLimiter();
  instrumentLimiter(limiter, { meterProvider });
  await limiter.check("local", ada);
  store.state = "up";
  await limiter.check("local", ada);
  await limiter.check("local", ada);
  const durations = await valuesOf("headgate.store.duration");
  expect(durations).toMatchObject([
    [{ count: 1 }, { "error.type": "STORE_FAILURE" }],
    [{ count: 2 }, {}],
  ]);
});

it("shows the keys of a store in this process, and no breaker", async () => {
  const { meterProvider, valuesOf, names } = collector();
  const limiter = createLimiter({ policies: { api: fixedWindow(rule) } });
  instrumentLimiter(limiter, { meterProvider, name: "main" });
  for (const user of ["ada", "grace", "ada"]) limiter.check("api", { user });
  expect(await valuesOf("headgate.store.keys")).toEqual([[2, { "headgate.limiter": "main" }]]);
  expect(await names()).not.toContain("headgate.breaker.state");
});

it("shows no keys of a store elsewhere", async () => {
  const { meterProvider, names } = collector();
  instrumentLimiter(failingLimiter().limiter, { meterProvider });
  expect(await names()).not.toContain("headgate.store.keys");
});

it("shows nothing any more once it has been stopped", async () => {
  const { meterProvider, names } = collector();
  const limiter = createLimiter({ policies: { api: fixedWindow(rule) } });
  const { decide } = limiter;
  const stop = instrumentLimiter(limiter, { meterProvider });
  stop();
  limiter.check("api", ada);
  expect(limiter.decide).toBe(decide);
  expect(await names()).toEqual([]);
});

it("refuses an option that it does not know, and a name that is none", () => {
  const limiter = createLimiter({ policies: { api: fixedWindow(rule) } });
  expect(() => instrumentLimiter(limiter, { names: "main" } as object)).toThrow(
    "instrumentLimiter: names is not an option (known: name, meterProvider, spans)",
  );
  expect(() => instrumentLimiter(limiter, { name: "" })).toThrow(
    'instrumentLimiter: name must be text that is not empty, got ""',
  );
});
