import { createRequire } from "node:module";
import { HeadgateError } from "@headgate/core";
import { check, checkHelp } from "./commands/check.js";
import { replay, replayHelp } from "./commands/replay.js";
import { suggest, suggestHelp } from "./commands/suggest.js";
import type { Terminal } from "./commands/terminal.js";
import { CommandError, usageError } from "./errors.js";

type Command = (args: readonly string[], terminal: Terminal) => Promise<number>;

const commands: Readonly<Record<string, Command>> = { replay, suggest, check };
const help = [replayHelp, suggestHelp, checkHelp].join("\n");

/**
 * Runs the command line.
 *
 * @param args - what stands behind the command's name
 * @param terminal - the streams to read and write; `process` has them
 * @returns the exit code: 0, 1 when an input has faults, 2 for a wrong use
 */
export async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  try {
    return await dispatch(args, terminal);
  } catch (error) {
    if (!(error instanceof CommandError || error instanceof HeadgateError)) throw error;
    terminal.stderr.write(`headgate: ${error.message}\n`);
    return error instanceof CommandError ? error.exitCode : 1;
  }
}

function dispatch([name, ...args]: readonly string[], terminal: Terminal): Promise<number> {
  if (name !== undefined && Object.hasOwn(commands, name))
    return (commands[name] as Command)(args, terminal);
  if (name === "--version") {
    terminal.stdout.write(`${version()}\n`);
    return Promise.resolve(0);
  }
  if (name === undefined || name === "help" || name === "--help" || name === "-h") {
    terminal.stdout.write(help);
    return Promise.resolve(name === undefined ? 2 : 0);
  }
  throw usageError(`${name} is not a command: ${Object.keys(commands).join(", ")}`);
}

function version(): string {
  const manifest = createRequire(import.meta.url)("@headgate/cli/package.json");
  return (manifest as { readonly version: string }).version;
}
