/** Runs something in the next turn of the event loop. Not every runtime has it, and none that lacks it has turns. */
export const nextTurn: ((run: () => void) => unknown) | undefined = (
  globalThis as { setImmediate?: (run: () => void) => unknown }
).setImmediate;
