import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test, vi } from "vitest";

const demo = fileURLToPath(new URL("../demo.mjs", import.meta.url));

test("the demonstration keeps every promise, on the next free port when its own is taken", async () => {
  const taken = createServer().listen(0);
  await once(taken, "listening");
  const { port } = taken.address();
  const env = { ...process.env, PORT: String(port) };
  const run = () => promisify(execFile)(process.execPath, [demo, "--once"], { env });
  // Again where a busy machine took longer for the burst than a token takes to come back.
  const { stdout } = await vi.waitFor(run, 20_000);
  taken.close();

  expect(stdout).toContain("Every step was as promised.");
  expect(stdout).not.toContain(`:${port}:`);
  const lines = stdout.split("\n");
  expect(lines.filter((line) => line.includes("  200  limit 5 "))).toHaveLength(6);
  expect(lines.filter((line) => line.includes("  429  limit 5  remaining 0 "))).toHaveLength(1);
});
