import { setTimeout as pause } from "node:timers/promises";

/** Waits for what the servers do by themselves. */
export async function until(holds: () => Promise<boolean>, withinMs = 20_000): Promise<void> {
  const giveUpAt = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > giveUpAt) throw new Error(`not so within ${withinMs} ms: ${holds}`);
    await pause(20);
  }
}
