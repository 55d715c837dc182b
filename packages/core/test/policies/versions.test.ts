import { describe, expect, it } from "vitest";
import { createLimiter } from "../../src/limiter/limiter.js";
import { conclude } from "../../src/policies/index.js";
import { fixedWindow } from "../../src/policy/builders.js";
import { memoryStore } from "../../src/store/memory/memory-store.js";
import { ManualClock } from "../../src/testing/index.js";

const ann = { user: "ann" };
const failures = { window: "1m", by: "user", count: "failures", limit: 5 } as const;

/** Two processes of one deployment over one store: the one before a change, and the one after it. */
function deployment() {
  // A window begins at the clock's instant.
  const clock = new ManualClock(1_700_000_040_000);
  const store = memoryStore({ clock });
  const [old, next] = [
    fixedWindow(failures),
    fixedWindow({ ...failures, version: 2, migrate: "reset" }),
  ].map((login) => createLimiter({ clock, store, policies: { login } })) as [Login, Login];
  return { clock, store, old, next };
}

type Login = ReturnType<typeof createLimiter<"login">>;

function attempt(limiter: Login, ending: "success" | "failure"): boolean {
  const decision = limiter.check("login", ann);
  conclude(limiter, decision, ending);
  return decision.allowed;
}

describe("two versions that count failures while a deployment goes on", () => {
  it("let 10 failures pass at a limit of 5 under reset, however many successes there are between", () => {
    const { old, next } = deployment();
    let passed = 0;
    for (let turn = 0; turn < 200; turn += 1) {
      while (attempt(old, "failure")) passed += 1;
      attempt(next, "success");
    }
    expect(passed).toBe(10);
  });
});

describe("a state that a refund has emptied", () => {
  it("of the first version is forgotten at once", () => {
    const { store, old } = deployment();
    attempt(old, "success");
    expect(store.size).toBe(0);
  });

  it("of a higher version is kept for as long as it would have counted, and no longer", () => {
    const { clock, store, old, next } = deployment();
    attempt(next, "success");
    expect([store.size, next.peek("login", ann).remaining]).toEqual([1, 5]);
    clock.advance(60_000);
    for (let call = 0; call < 100; call += 1) old.check("login", { user: "bob" });
    expect(store.size).toBe(1);
  });

  it("is forgotten by a reset", () => {
    const { store, next } = deployment();
    attempt(next, "success");
    next.reset("login", ann);
    expect(store.size).toBe(0);
  });
});
