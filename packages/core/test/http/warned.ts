import { vi } from "vitest";

/** Collects the codes and texts of process warnings while it runs; what had been told of before counts as not told. */
export async function warningsDuring(run: () => Promise<void>): Promise<readonly string[]> {
  const seen: string[] = [];
  const shared = globalThis as { [key: symbol]: unknown };
  const warned = Symbol.for("headgate.warned");
  const before = shared[warned];
  shared[warned] = new Set();
  const spy = vi.spyOn(process, "emitWarning").mockImplementation((text, options) => {
    seen.push(`${(options as { code?: string } | undefined)?.code}: ${String(text)}`);
  });
  try {
    await run();
  } finally {
    spy.mockRestore();
    shared[warned] = before;
  }
  return seen;
}
