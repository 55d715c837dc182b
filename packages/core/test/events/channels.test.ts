import { channel, subscribe, unsubscribe } from "node:diagnostics_channel";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type LimiterEvent, observe } from "../../src/events/index.js";
import { createLimiter } from "../../src/limiter/limiter.js";
import { slidingWindow } from "../../src/policy/builders.js";

const ada = { user: "ada" };
const subscribed: [name: string, listener: (message: unknown) => void][] = [];

function listenTo(name: string): readonly LimiterEvent[] {
  const heard: LimiterEvent[] = [];
  const listener = (message: unknown) => heard.push(message as LimiterEvent);
  subscribe(name, listener);
  subscribed.push([name, listener]);
  return heard;
}

afterEach(() => {
  for (const [name, listener] of subscribed.splice(0)) unsubscribe(name, listener);
});

function limiterOf() {
  return createLimiter({
    policies: { api: slidingWindow({ limit: 1, window: "1m", by: "user" }) },
  });
}

describe("the channels of node:diagnostics_channel", () => {
  it("carry the events of observed limiters, each under its type", () => {
    const limiter = limiterOf();
    const decisions = listenTo("headgate:decision");
    const refusals = listenTo("headgate:firstRefusal");
    const calls = listenTo("headgate:storeCall");
    observe(limiter);
    limiter.check("api", ada);
    limiter.check("api", ada);
    expect(decisions).toMatchObject([{ outcome: "allowed" }, { outcome: "denied" }]);
    expect(refusals).toMatchObject([{ type: "firstRefusal", policy: "api", limiter }]);
    expect(calls).toHaveLength(2);
  });

  it("carry nothing of a limiter that nobody observes", () => {
    const limiter = limiterOf();
    const decisions = listenTo("headgate:decision");
    const stop = observe(limiter);
    stop();
    limiter.check("api", ada);
    expect(decisions).toEqual([]);
  });

  it("can be subscribed to after the limiter is observed", () => {
    const limiter = limiterOf();
    observe(limiter);
    limiter.check("api", ada);
    const decisions = listenTo("headgate:decision");
    limiter.check("api", ada);
    expect(decisions).toMatchObject([{ outcome: "denied" }]);
  });

  it("have no subscribers of Headgate's own", () => {
    observe(limiterOf(), () => {});
    expect(channel("headgate:decision").hasSubscribers).toBe(false);
  });
});

describe("where there is no node:diagnostics_channel", () => {
  it("listeners hear all the same", async () => {
    vi.resetModules();
    vi.stubGlobal("process", undefined);
    const { observe } = await import("../../src/events/index.js");
    const limiter = limiterOf();
    const heard: string[] = [];
    observe(limiter, ({ type }) => heard.push(type));
    limiter.check("api", ada);
    vi.unstubAllGlobals();
    expect(heard).toEqual(["storeCall", "decision"]);
  });
});
