import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { choose, mount, price, refuse } from "./types/application.js";

const run = promisify(execFile);
const here = import.meta.dirname;
const compiler = join(here, "../../../node_modules/typescript/bin/tsc");

it.each(["../tsconfig.test.json", "types/express-4.tsconfig.json"])(
  "types fit without a cast, and wrong names of policies do not compile: %s",
  async (project) => {
    const { stdout } = await run(process.execPath, [compiler, "-p", join(here, project)]).catch(
      (error: { stdout: string }) => error,
    );
    expect(stdout).toBe("");
  },
);

it("what compiles also runs, and what does not is an error", () => {
  for (const run of [mount, choose, price]) expect(run).not.toThrow();
  expect(refuse).toThrow(expect.objectContaining({ code: "UNKNOWN_POLICY" }));
});

it("the second project really sees the types of Express 4", async () => {
  const { stdout } = await run(process.execPath, [
    compiler,
    "-p",
    join(here, "types/express-4.tsconfig.json"),
    "--listFilesOnly",
  ]);
  expect(stdout).toMatch(/express-serve-static-core@4\./);
  expect(stdout).not.toMatch(/express-serve-static-core@5\./);
});
