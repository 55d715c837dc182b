// Checks the types of what the build leaves out: tests, examples and the tools themselves.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { root, run, tool, workspaceFolders } from "./workspace.mjs";

const projects = [
  "tsconfig.tools.json",
  ...workspaceFolders().flatMap((folder) => [
    `${folder}/tsconfig.test.json`,
    ...(folder.startsWith("examples/") ? [`${folder}/tsconfig.json`] : []),
  ]),
];

let failed = (await run(tool("tsc"), ["-b"])) !== 0;
for (const project of projects.filter((file) => existsSync(join(root, file)))) {
  console.log(`types of ${project}`);
  if ((await run(tool("tsc"), ["-p", project])) !== 0) failed = true;
}
process.exitCode = failed ? 1 : 0;
