import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { headgate } from "./terminal.js";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const text = readFileSync(`${root}docs/choosing-limits.md`, "utf8");

/** Commands of the documentation, each with what it says that they print. */
const commands = [...text.matchAll(/^```console\n([\s\S]*?)^```$/gm)].flatMap(([, block = ""]) =>
  block
    .split(/^\$ headgate /m)
    .slice(1)
    .map((part) => {
      const [command = "", ...lines] = part.trimEnd().split("\n");
      return { command, printed: lines.join("\n") };
    }),
);

describe("docs/choosing-limits.md", () => {
  beforeAll(() => process.chdir(root));

  it("has commands of each kind", () => {
    const kinds = new Set(commands.map(({ command }) => command.split(" ")[0]));
    expect(kinds).toEqual(new Set(["suggest", "check", "replay"]));
  });

  it.each(commands)("shows what $command prints", async ({ command, printed }) => {
    const { code, out } = await headgate(command.split(" "));
    expect(code).toBe(0);
    expect(untimed(printed)).toBe(untimed(out.trimEnd()));
  });
});

/** The text without what differs from machine to machine. */
function untimed(output: string): string {
  return output.replace(/in [\d.]+ s: [\d,]+ lines per second; peak memory [\d,]+ MB$/, "in time");
}
