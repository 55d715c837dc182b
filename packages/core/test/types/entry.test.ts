import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type BundledCore, bundleCore } from "../bundled-core.js";

let core: BundledCore;
beforeAll(async () => {
  core = await bundleCore();
});
afterAll(() => core.remove());

test("the main entry loads no zod, no fast-check, no Node module, and nothing of its other entries", () => {
  expect(core.imports).toEqual([]);
  const foreign = core.modules.filter(
    (path) => path.includes("node_modules") || /src\/(schema|testing|http)\//.test(path),
  );
  expect(foreign).toEqual([]);
});

test("the main entry runs where there is no process, Buffer, or timer at load", async () => {
  const text = readFileSync(core.path, "utf8").replace(
    /export \{([^}]*)\};\s*$/,
    (_, names: string) => `const core = {${names.replace(/(\w+) as (\w+)/g, "$2: $1")}};`,
  );
  const script = `
    import { createContext, runInContext } from "node:vm";
    const context = createContext({ console, performance, AbortController, TextEncoder });
    runInContext(${JSON.stringify(text)} + \`
      const limiter = core.createLimiter({ policies: { api: core.tokenBucket({ limit: 1, window: "1m" }) } });
      const [one, two] = [0, 0].map(() => limiter.check("api", { ip: "é".repeat(100) }));
      console.log(one.allowed, two.allowed);\`, context);`;
  expect(await core.run(script)).toEqual({ code: 0, stdout: "true false\n", stderr: "" });
});
