// `npm start`: makes the workspace ready and runs the Express demonstration with the same arguments.
import { join } from "node:path";
import { prepareWorkspace } from "./prepare-workspace.mjs";
import { root, run } from "./workspace.mjs";

await prepareWorkspace();
const demo = join(root, "examples/express/demo.mjs");
process.exitCode = await run(process.execPath, [demo, ...process.argv.slice(2)]);
