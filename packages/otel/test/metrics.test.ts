import { createLimiter, slidingWindow } from "@headgate/core";
import "@headgate/core/policies";
import { expect, it } from "vitest";
import { instrumentLimiter } from "../src/index.js";
import { collector } from "./collector.js";

const perUser = { window: "1m", by: "user" } as const;

it("counts decisions under the policy that they report", async () => {
  const { meterProvider, valuesOf } = collector();
  const limiter = createLimiter({
    policies: {
      read: slidingWindow({ limit: 10, ...perUser }),
      write: slidingWindow({ limit: 2, ...perUser }),
    },
  });
  instrumentLimiter(limiter, { meterProvider });
  for (let call = 0; call < 5; call += 1) limiter.check(["read", "write"], { user: "ada" });
  limiter.check("read", { user: "grace" });
  limiter.peek("read", { user: "grace" });
  const common = { "headgate.degraded": "none" };
  expect(await valuesOf("headgate.decisions")).toEqual([
    [2, { ...common, ...allowed, "headgate.policy": "write", "headgate.reason": "admitted" }],
    [3, { ...common, ...denied, "headgate.policy": "write", "headgate.reason": "limit" }],
    [1, { ...common, ...allowed, "headgate.policy": "read", "headgate.reason": "admitted" }],
  ]);
});

const allowed = { "headgate.outcome": "allowed" };
const denied = { "headgate.outcome": "denied" };

it("counts what each policy answered, shadow policies as such", async () => {
  const { meterProvider, valuesOf } = collector();
  const limiter = createLimiter({
    policies: {
      trial: slidingWindow({ limit: 1, ...perUser, shadow: true }),
      read: slidingWindow({ limit: 10, ...perUser }),
    },
  });
  instrumentLimiter(limiter, { meterProvider, name: "main" });
  for (let call = 0; call < 3; call += 1) limiter.check(["trial", "read"], { user: "ada" });
  const name = { "headgate.limiter": "main" };
  const trial = { ...name, "headgate.policy": "trial", "headgate.shadow": true };
  const read = { ...name, "headgate.policy": "read", "headgate.shadow": false };
  expect(await valuesOf("headgate.charges")).toEqual([
    [1, { ...trial, ...allowed }],
    [3, { ...read, ...allowed }],
    [2, { ...trial, ...denied }],
  ]);
});
