import { describe, expect, it } from "vitest";
import { ManualClock, SteppingClock } from "../../src/testing/index.js";

const refused = expect.objectContaining({ name: "HeadgateError", code: "INVALID_CLOCK" });
const notInstants = [-1, 0.5, Number.NaN, Infinity, -Infinity, 2 ** 53, "1" as unknown as number];

describe("ManualClock", () => {
  it("starts at the given instant and stands still", () => {
    const clock = new ManualClock(1_700_000_000_000);
    expect([clock.now(), clock.now()]).toEqual([1_700_000_000_000, 1_700_000_000_000]);
    expect(new ManualClock().now()).toBe(0);
  });

  it("advances by whole milliseconds and moves to later instants", () => {
    const clock = new ManualClock(10);
    clock.advance(5);
    expect(clock.now()).toBe(15);
    clock.advance(0);
    clock.set(15);
    clock.set(40);
    expect(clock.now()).toBe(40);
  });

  it("refuses to go back, and says from where", () => {
    const clock = new ManualClock(10);
    expect(() => clock.set(9)).toThrow(refused);
    expect(() => clock.set(9)).toThrow("ManualClock: time must not go back from 10, got 9");
    expect(clock.now()).toBe(10);
  });

  it.each(notInstants)("refuses %s as a start, a step and an instant", (value) => {
    expect(() => new ManualClock(value)).toThrow(refused);
    const clock = new ManualClock(10);
    expect(() => clock.advance(value)).toThrow(refused);
    expect(() => clock.set(value)).toThrow(refused);
    expect(clock.now()).toBe(10);
  });

  it("refuses to pass the last exact instant", () => {
    const clock = new ManualClock(Number.MAX_SAFE_INTEGER);
    expect(() => clock.advance(1)).toThrow(refused);
    expect(clock.now()).toBe(Number.MAX_SAFE_INTEGER);
  });
});

describe("SteppingClock", () => {
  it("may step back", () => {
    const clock = new SteppingClock(10);
    clock.set(3);
    expect(clock.now()).toBe(3);
  });

  it.each(notInstants)("refuses %s", (value) => {
    expect(() => new SteppingClock(value)).toThrow(refused);
    expect(() => new SteppingClock().set(value)).toThrow(refused);
  });
});
