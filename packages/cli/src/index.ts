export { run } from "./command-line.js";
export type { Terminal } from "./commands/terminal.js";
