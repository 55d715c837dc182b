import { afterAll, beforeAll, expect, test } from "vitest";
import { type BundledCore, bundleCore } from "../bundled-core.js";

let core: BundledCore;
beforeAll(async () => {
  core = await bundleCore();
});
afterAll(() => core.remove());

/** What a script that imports the main entry alone prints. */
async function printed(script: string): Promise<unknown> {
  const { stdout, stderr } = await core.run(`
    import { createLimiter, definePolicy, fixedWindow } from ${JSON.stringify(core.path)};
    const plain = { algorithm: "fixed-window", limit: 5, window: "1m" };
    const told = (call) => { try { return call(); } catch ({ code, message }) { return [code, message]; } };
    ${script}`);
  expect(stderr).toBe("");
  return JSON.parse(stdout);
}

test.each([
  ["tiers", { pro: { limit: 9 } }],
  ["count", "failures"],
  ["onSuccess", "clear"],
  ["penalty", { on: "manual" }],
  ["debt", 5],
  ["shadow", true],
  ["version", 2],
  ["migrate", "reset"],
])(
  "without the entry for policies, a policy with %s is told what it needs",
  async (field, value) => {
    const more = JSON.stringify({ [field]: value });
    expect(
      await printed(`console.log(JSON.stringify([
      told(() => definePolicy("api", { ...plain, ...${more} })),
      told(() => fixedWindow({ limit: 5, window: "1m", ...${more} })),
    ]))`),
    ).toEqual([
      ["INVALID_POLICY", `policy "api": ${field} needs import "@headgate/core/policies"`],
      ["INVALID_POLICY", `fixed-window policy: ${field} needs import "@headgate/core/policies"`],
    ]);
  },
);

test("without it, plain limits are whole, and say what callers' numbers and bans need", async () => {
  expect(
    await printed(`
      const api = definePolicy("api", { ...plain, version: 1, shadow: false, debt: 0, count: "all" });
      const limiter = createLimiter({ policies: { api } });
      const ann = { ip: "192.0.2.1" };
      console.log(JSON.stringify([
        api,
        limiter.check("api", ann).remaining,
        told(() => limiter.check("api", ann, { tier: "pro" })),
        told(() => limiter.check("api", ann, { limits: { api: { limit: 9 } } })),
        told(() => limiter.store.bans.list([], 5)),
        told(() => limiter.store.apply([{ policy: api, subject: "a", cost: 1 }], "settle")),
        told(() => limiter.store.refund(limiter.check("api", ann).outcomes.map(({ receipt }) => receipt))),
        limiter.peek("api", ann, { limits: {} }).remaining,
      ]))`),
  ).toEqual([
    expect.objectContaining({ version: 1, shadow: false, debt: 0, count: "all", migrate: "keep" }),
    4,
    ["INVALID_OPTION", 'tier: needs import "@headgate/core/policies"'],
    ["INVALID_OPTION", 'tier: needs import "@headgate/core/policies"'],
    ["INVALID_OPTION", 'bans: needs import "@headgate/core/policies"'],
    ["INVALID_OPTION", 'settle: needs import "@headgate/core/policies"'],
    ["INVALID_OPTION", 'refund: needs import "@headgate/core/policies"'],
    3,
  ]);
});
