import { describe, expect, test } from "vitest";
import { failsafe } from "../../src/failsafe/index.js";
import { memoryStore } from "../../src/store/memory/memory-store.js";
import type { AsyncStore } from "../../src/store/store.js";
import { conformanceCases, type OpenStore } from "../../src/testing/index.js";
import {
  compositeLaws,
  envelopesOf,
  lawSubjects,
  lawsOf,
  policyLaws,
  refundLawsOf,
} from "../../src/testing/laws/index.js";

// The suites must serve stores that answer later, too: here the memory store behind promises.
let open = 0;
const openStore: OpenStore = (clock): AsyncStore => {
  const store = memoryStore({ clock });
  open += 1;
  return {
    kind: "async",
    atomicity: "request",
    failsafe,
    bans: {
      strike: async (policy, subject) => store.bans.strike(policy, subject),
      set: async (policy, subject, forMs) => store.bans.set(policy, subject, forMs),
      list: async (policies, most) => store.bans.list(policies, most),
    },
    apply: async (batch, mode, wantNext) => store.apply(batch, mode, wantNext),
    refund: async (receipts) => store.refund(receipts),
    reset: async (policy, subject, keepBan) => store.reset(policy, subject, keepBan),
    close: async () => {
      open -= 1;
    },
  };
};

describe("a store that answers later", () => {
  for (const { name, run } of conformanceCases)
    test(name, async () => {
      await run(openStore);
      expect(open).toBe(0);
    });

  const laws = [
    ...lawSubjects.flatMap((subject) =>
      [...lawsOf(subject), ...refundLawsOf(subject), ...envelopesOf(subject)].map((law) => ({
        law,
        title: `${subject}: ${law.name}`,
      })),
    ),
    ...[...compositeLaws(), ...policyLaws()].map((law) => ({ law, title: law.name })),
  ];

  test.each(laws)("obeys $title", async ({ law }) => {
    await law.run(openStore, { histories: 20 });
    expect(open).toBe(0);
  });

  test("tells the seed and the story of a history that breaks a law", async () => {
    const forgetful: OpenStore = (clock) => {
      const store = openStore(clock) as AsyncStore;
      return { ...store, apply: (batch, _mode, wantNext) => store.apply(batch, "peek", wantNext) };
    };
    const law = lawsOf("fixed-window").find(({ name }) => name === "same everywhere");
    const failure = (await law?.run(forgetful).catch((error: unknown) => error)) as Error;
    expect(failure.message).toMatch(/seed: -?\d+/);
    expect((failure.cause as Error).message).toMatch(
      /is not what the definition says\npolicy .*\nat \d+: /,
    );
  });
});
