// Checks each published package as its users get it: publint for the manifest, and
// are-the-types-wrong for the types under node16, nodenext and bundler resolution.
import { publishedFolders, run, tool } from "./workspace.mjs";

let failed = false;
for (const folder of publishedFolders()) {
  console.log(`\n${folder}`);
  const checks = [
    [tool("publint"), ["--strict", "--pack", "npm", folder]],
    [tool("attw"), ["--pack", folder, "--profile", "esm-only", "--no-emoji"]],
  ];
  for (const [command, args] of checks) {
    if ((await run(command, args)) !== 0) failed = true;
  }
}
process.exitCode = failed ? 1 : 0;
