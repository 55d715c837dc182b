import type { Performance } from "../replay/result.js";

/** Does something, and tells how fast it was by the number of lines that it took. */
export async function measured<T>(
  work: () => Promise<T>,
): Promise<{ readonly made: T; readonly performanceOf: (lines: number) => Performance }> {
  const startMs = performance.now();
  const made = await work();
  const elapsedMs = performance.now() - startMs;
  return {
    made,
    performanceOf: (lines) => ({
      lines,
      elapsedMs: Math.round(elapsedMs),
      linesPerSecond: Math.round(lines / (elapsedMs / 1_000)),
      peakMemoryBytes: process.resourceUsage().maxRSS * 1_024,
    }),
  };
}
