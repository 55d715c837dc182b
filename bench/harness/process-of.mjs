import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/**
 * Starts a module of this folder in a process of its own, which answers each message with one.
 *
 * @returns `ask`, which rejects when the answer has `failed` or the process ends, and `stop`
 */
export function processOf(file, { name = file, nodeOptions = [] } = {}) {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), [], { execArgv: nodeOptions });
  const ended = once(child, "exit").then(([code, signal]) => ({
    failed: `ended with ${signal ?? `code ${code}`}`,
  }));
  const ask = async (message) => {
    child.send(message);
    const answer = await Promise.race([once(child, "message").then(([first]) => first), ended]);
    if (answer.failed === undefined) return answer;
    throw new Error(`${name}: ${answer.failed}`);
  };
  const stop = async () => {
    if (child.connected) child.disconnect();
    await ended;
  };
  return { ask, stop };
}

/** Answers the messages of the parent, one after the other, and ends with it. */
export function answer(reply) {
  process.on("message", (message) => {
    Promise.resolve()
      .then(() => reply(message))
      .then((made) => process.send(made ?? {}))
      .catch((error) => process.send({ failed: String(error?.stack ?? error) }));
  });
  process.once("disconnect", () => process.exit());
}
