/** What this module needs of Node's `process`, where there is one. */
interface ProcessLike {
  emitWarning?(message: string, options: { type: string; code: string }): void;
}

// On globalThis, so that copies of this package in one process warn once together.
const warnedKey = Symbol.for("headgate.warned");

/** Warns once per process and code, through `process.emitWarning` where there is one. */
export function warnOnce(code: string, message: string): void {
  const shared = globalThis as { [warnedKey]?: Set<string> };
  shared[warnedKey] ??= new Set();
  const warned = shared[warnedKey];
  if (warned.has(code)) return;
  warned.add(code);
  warn(code, message);
}

export function warn(code: string, message: string): void {
  const { process } = globalThis as { process?: ProcessLike };
  if (process?.emitWarning === undefined) console.warn(`[headgate] ${code}: ${message}`);
  else process.emitWarning(message, { type: "HeadgateWarning", code });
}
