import { createLimiter, fixedWindow } from "@headgate/core";
import { conclude } from "@headgate/core/policies";
import { ManualClock } from "@headgate/core/testing";
import { beforeEach, expect, it, vi } from "vitest";
import { checkRateLimit } from "../src/index.js";
import { shared } from "./limits.js";

let received = new Headers();
vi.mock("next/headers.js", () => ({ headers: async () => received }));

/** The next call is part of another request. */
function newRequest(): void {
  received = new Headers({ "x-forwarded-for": "203.0.113.1" });
}
beforeEach(newRequest);

const client = { ip: "203.0.113.1" };

function loginLimiter() {
  return createLimiter({
    clock: new ManualClock(1_700_000_000_000),
    policies: {
      login: fixedWindow({ limit: 2, window: "15m", count: "failures" }),
      perUser: fixedWindow({ limit: 2, window: "15m", by: "user" }),
    },
  });
}

it("an action's request stays counted until the application says how it went", async () => {
  const limiter = loginLimiter();
  const check = () => checkRateLimit({ limiter, ...shared, policies: ["login"] });
  const { decision } = await check();
  expect(limiter.peek("login", client).remaining).toBe(1);
  if (decision !== undefined) conclude(limiter, decision, "success");
  expect(limiter.peek("login", client).remaining).toBe(2);
});

it("a request that asks twice is charged, and concluded, once", async () => {
  const limiter = loginLimiter();
  const check = () => checkRateLimit({ limiter, ...shared, policies: ["login"] });
  const decisions = [await check(), await check()].map(({ decision }) => decision);
  expect(limiter.peek("login", client).remaining).toBe(1);
  for (const decision of decisions)
    if (decision !== undefined) conclude(limiter, decision, "success");
  expect(limiter.peek("login", client).remaining).toBe(2);
});

it("options written in the action warn of no identity that an earlier request had", async () => {
  const limiter = loginLimiter();
  const warning = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
  const check = (user: string | undefined) => {
    newRequest();
    const identify = () => ({ user });
    return checkRateLimit({ limiter, ...shared, policies: ["perUser"], identify });
  };
  await check("ada");
  await check(undefined);
  expect(warning).not.toHaveBeenCalled();
  warning.mockRestore();
});
