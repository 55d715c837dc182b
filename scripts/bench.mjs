// `pnpm bench` or `npm run bench -- OPTIONS`: makes the workspace ready and measures, with the same options.
import { join } from "node:path";
import { prepareWorkspace } from "./prepare-workspace.mjs";
import { root, run } from "./workspace.mjs";

await prepareWorkspace();
process.exitCode = await run(process.execPath, [join(root, "bench"), ...process.argv.slice(2)]);
