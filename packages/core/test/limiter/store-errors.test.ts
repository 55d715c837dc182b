import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { HeadgateError } from "../../src/errors.js";
import { createLimiter } from "../../src/limiter/limiter.js";
import { fixedWindow } from "../../src/policy/builders.js";
import { ManualClock } from "../../src/testing/index.js";
import { FakeStore, failing } from "./fake-store.js";

const unhandled: unknown[] = [];
const noteUnhandled = (reason: unknown) => unhandled.push(reason);

beforeEach(() => {
  unhandled.length = 0;
  process.on("unhandledRejection", noteUnhandled);
  vi.spyOn(process, "emitWarning").mockImplementation(() => {});
  delete (globalThis as { [key: symbol]: unknown })[Symbol.for("headgate.warned")];
});

afterEach(async () => {
  await new Promise((resolve) => setImmediate(resolve));
  process.off("unhandledRejection", noteUnhandled);
  vi.restoreAllMocks();
  expect(unhandled).toEqual([]);
});

const warnings = () =>
  vi.mocked(process.emitWarning).mock.calls.map(([message, options]) => ({
    message,
    code: (options as { code: string }).code,
  }));

function setUp(onStoreError?: (error: HeadgateError) => unknown) {
  const clock = new ManualClock(1_700_000_000_000);
  const store = new FakeStore(clock);
  store.behaviour = failing;
  const limiter = createLimiter({
    clock,
    store,
    policies: { api: fixedWindow({ limit: 2, window: "1m" }) },
    ...(onStoreError && { onStoreError: onStoreError as (error: HeadgateError) => void }),
  });
  return {
    clock,
    calls: (count: number) =>
      Promise.all(Array.from({ length: count }, () => limiter.check("api", { ip: "x" }))),
  };
}

describe("store failures without a listener", () => {
  it("are a process warning at most once a second", async () => {
    const { clock, calls } = setUp();
    await calls(100);
    expect(warnings()).toEqual([
      {
        code: "HEADGATE_STORE",
        message:
          "store: connection lost (STORE_FAILURE); requests follow their policies' onStoreFailure",
      },
    ]);
    clock.advance(999);
    await calls(100);
    expect(warnings()).toHaveLength(1);
    clock.advance(1);
    await calls(100);
    expect(warnings()).toHaveLength(2);
  });
});

describe("a listener of store failures", () => {
  it("is told of each one, and no warning is given", async () => {
    const errors: HeadgateError[] = [];
    const { calls } = setUp((error) => errors.push(error));
    await calls(3);
    expect(errors.map(({ code }) => code)).toEqual(Array(3).fill("STORE_FAILURE"));
    expect(warnings()).toEqual([]);
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("broken log");
      },
    ],
    ["rejects", () => Promise.reject(new Error("broken log"))],
    [
      "throws no error",
      () => {
        throw "broken log";
      },
    ],
    [
      "throws what has no text",
      () => {
        throw Object.create(null);
      },
    ],
  ])("that %s changes no decision, and is warned of once", async (_, listener) => {
    const { calls } = setUp(listener as () => never);
    const decisions = await calls(20);
    expect(decisions.map(({ allowed }) => allowed).filter(Boolean)).toHaveLength(2);
    expect(warnings().map(({ code }) => code)).toEqual(["HEADGATE_LISTENER"]);
    expect(warnings()[0]?.message).toMatch(/^onStoreError threw: /);
  });
});

it("knows the code of an error from a store that brings its own copy of this package", async () => {
  const codes: string[] = [];
  const { store, limiter } = foreign((error) => codes.push(error.code));
  store.behaviour = async () => {
    throw Object.assign(new Error("key"), { name: "HeadgateError", code: "STORE_KEY_FAILURE" });
  };
  await limiter.check("api", { ip: "x" });
  expect(codes).toEqual(["STORE_KEY_FAILURE"]);
});

function foreign(onStoreError: (error: HeadgateError) => void) {
  const clock = new ManualClock(1_700_000_000_000);
  const store = new FakeStore(clock);
  const policies = { api: fixedWindow({ limit: 2, window: "1m" }) };
  return { store, limiter: createLimiter({ clock, store, policies, onStoreError }) };
}
