import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { whyNotAlone } from "../../src/limiter/deployment.js";
import { type BundledCore, bundleCore } from "../bundled-core.js";

describe("a store in this process would count a part of the traffic", () => {
  const why = (env: Record<string, string>, more = {}) => whyNotAlone({ env, ...more });

  it("under PM2", () => {
    expect(why({ pm_id: "0" })).toBe("this process runs under PM2");
  });

  it.each([
    "AWS_LAMBDA_FUNCTION_NAME",
    "VERCEL",
    "NETLIFY",
    "K_SERVICE",
    "FUNCTIONS_WORKER_RUNTIME",
  ])("on the serverless platform that sets %s", (variable) => {
    expect(why({ [variable]: "x" })).toBe(`this is a serverless platform (${variable} is set)`);
  });

  it("in a cluster worker", () => {
    const getBuiltinModule = () => ({ isWorker: true });
    expect(why({}, { connected: true, getBuiltinModule })).toBe("this process is a cluster worker");
  });

  it("not in a process that is merely forked, on its own, or has no environment", () => {
    const getBuiltinModule = () => ({ isWorker: false });
    expect(why({ NODE_ENV: "production" }, { connected: true, getBuiltinModule })).toBeUndefined();
    expect(why({}, { connected: true })).toBeUndefined();
    expect(whyNotAlone({})).toBeUndefined();
  });
});

describe("a process that makes limiters", () => {
  let core: BundledCore;
  beforeAll(async () => {
    core = await bundleCore();
  });
  afterAll(() => core.remove());

  const make = (options: string) => `
    const { createLimiter, fixedWindow, memoryStore } = await import(${JSON.stringify(core.path)});
    const policies = { api: fixedWindow({ limit: 1, window: "30d" }) };
    for (let made = 0; made < 3; made += 1) {
      const limiter = createLimiter({ policies, ${options} });
      limiter.check("api", { ip: "192.0.2.1" });
    }
    console.log("made");`;
  const code = "HEADGATE_MEMORY_STORE";
  const alone = { pm_id: undefined };

  it("ends by itself, without a word, where the default store is right", async () => {
    expect(await core.run(make(""), alone)).toEqual({ code: 0, stdout: "made\n", stderr: "" });
  });

  it("is warned once under PM2, however many it makes", async () => {
    const { code: exit, stderr } = await core.run(make(""), { pm_id: "0" });
    expect(exit).toBe(0);
    expect(stderr.split(code)).toHaveLength(2);
    expect(stderr).toContain("this process runs under PM2: each process grants the limit");
  });

  it("is not warned where it gives memoryStore() explicitly", async () => {
    const { stdout, stderr } = await core.run(make("store: memoryStore()"), { pm_id: "0" });
    expect({ stdout, stderr }).toEqual({ stdout: "made\n", stderr: "" });
  });

  it("is warned in every real cluster worker, and not in the primary", async () => {
    const worker = core.write("worker.mjs", `${make("")}\nprocess.disconnect();`);
    const {
      code: exit,
      stderr,
      stdout,
    } = await core.run(
      `import cluster from "node:cluster";
       ${make("")}
       cluster.setupPrimary({ exec: ${JSON.stringify(worker)} });
       for (let forked = 0; forked < 2; forked += 1) cluster.fork();`,
      alone,
    );
    expect(exit).toBe(0);
    expect(stdout).toBe("made\n".repeat(3));
    expect(stderr.split(code)).toHaveLength(3);
    expect(stderr).toContain("this process is a cluster worker");
  });
});
