const blocks = "▁▂▃▄▅▆▇█";

/** Counts as a line of blocks, joined into at most `width` of them; a blank is none at all. */
export function sparkline(counts: readonly number[], width: number): string {
  const joined = Math.max(1, Math.ceil(counts.length / width));
  const sums = Array.from({ length: Math.ceil(counts.length / joined) }, (_, index) =>
    counts.slice(index * joined, (index + 1) * joined).reduce((sum, count) => sum + count, 0),
  );
  const highest = Math.max(1, ...sums);
  return sums
    .map((sum) => (sum === 0 ? " " : blocks[Math.ceil((sum / highest) * blocks.length) - 1]))
    .join("");
}
