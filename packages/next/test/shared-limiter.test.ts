import { createLimiter, fixedWindow, type Limiter } from "@headgate/core";
import { describe, expect, it, vi } from "vitest";
import { sharedLimiter } from "../src/index.js";

const make = (): Limiter<"api"> =>
  createLimiter({ policies: { api: fixedWindow({ limit: 1, window: "1m" }) } });

describe("sharedLimiter", () => {
  it("makes a limiter once for a name", () => {
    const first = sharedLimiter("once", make);
    const again = vi.fn(make);
    expect(sharedLimiter("once", again)).toBe(first);
    expect(again).not.toHaveBeenCalled();
  });

  it("keeps names apart", () => {
    expect(sharedLimiter("one", make)).not.toBe(sharedLimiter("other", make));
  });

  it("is found by another copy of the module, as other bundles have it", async () => {
    const first = sharedLimiter("copies", make);
    vi.resetModules();
    const copy = await import("../src/shared-limiter.js");
    expect(copy.sharedLimiter).not.toBe(sharedLimiter);
    expect(copy.sharedLimiter("copies", make)).toBe(first);
  });

  it("keeps nothing of a limiter that could not be made", () => {
    const broken = (): never => {
      throw new Error("no policies");
    };
    expect(() => sharedLimiter("broken", broken)).toThrow("no policies");
    expect(sharedLimiter("broken", make)).toBeDefined();
  });

  it.each(["", "  ", undefined])("refuses the name %j", (name) => {
    expect(() => sharedLimiter(name as string, make)).toThrow(/name must be text/);
  });
});
