import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { warn, warnOnce } from "../../src/warnings.js";

const warned = Symbol.for("headgate.warned");
const forget = () => Reflect.deleteProperty(globalThis, warned);

beforeEach(() => {
  forget();
  vi.spyOn(process, "emitWarning").mockImplementation(() => {});
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  forget();
});

test("a warning is a process warning with a type and a code", () => {
  warn("HEADGATE_X", "something");
  expect(process.emitWarning).toHaveBeenCalledExactlyOnceWith("something", {
    type: "HeadgateWarning",
    code: "HEADGATE_X",
  });
});

test("warnOnce warns once per code", () => {
  for (let time = 0; time < 3; time += 1) {
    warnOnce("HEADGATE_X", `x ${time}`);
    warnOnce("HEADGATE_Y", `y ${time}`);
  }
  expect(vi.mocked(process.emitWarning).mock.calls.map(([message]) => message)).toEqual([
    "x 0",
    "y 0",
  ]);
});

test("two copies of this package warn once together", async () => {
  vi.resetModules();
  const copy = await import("../../src/warnings.js");
  expect(copy.warnOnce).not.toBe(warnOnce);
  warnOnce("HEADGATE_X", "first");
  copy.warnOnce("HEADGATE_X", "second");
  expect(process.emitWarning).toHaveBeenCalledTimes(1);
});

test.each([undefined, {}])(
  "without process.emitWarning it is written to the console",
  (process) => {
    const written = vi.spyOn(console, "warn").mockImplementation(() => {});
    vi.stubGlobal("process", process);
    warn("HEADGATE_X", "something");
    expect(written.mock.calls).toEqual([["[headgate] HEADGATE_X: something"]]);
  },
);
