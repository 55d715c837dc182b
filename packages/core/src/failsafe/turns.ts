// Not every runtime has it.
const nextTurn = (globalThis as { setImmediate?: (run: () => void) => unknown }).setImmediate;

/** Runs something some turns of the event loop later, at once where the runtime tells of none. */
export function afterTurns(turns: number, run: () => void): void {
  if (turns === 0 || nextTurn === undefined) run();
  else nextTurn(() => afterTurns(turns - 1, run));
}
