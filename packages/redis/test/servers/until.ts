import { setTimeout as pause } from "node:timers/promises";

/** Waits for what the servers do by themselves. */
export async function until(holds: () => Promise<boolean>, withinMs = 20_000): Promise<void> {
  const giveUpAt = performance.now() + withinMs;
  for (;;) {
    // Before it is asked: what was so only before a stop of this process tells nothing of the time after it.
    const isLast = performance.now() > giveUpAt;
    if (await holds()) return;
    if (isLast) throw new Error(`not so within ${withinMs} ms: ${holds}`);
    await pause(20);
  }
}
