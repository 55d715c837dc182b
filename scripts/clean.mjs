// Removes what the build and the tools wrote; the installed dependencies stay.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { root, workspaceFolders } from "./workspace.mjs";

const written = ["reports", "coverage", ".stryker-tmp"];
for (const folder of [...workspaceFolders().map((name) => `${name}/dist`), ...written]) {
  rmSync(join(root, folder), { recursive: true, force: true });
}
