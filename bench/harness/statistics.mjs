/** The value below which a share of the values lies, with linear interpolation between two of them. */
export function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)];
  return below + (sorted[Math.ceil(place)] - below) * (place - Math.floor(place));
}

/** Median and quartiles of some values. */
export function spreadOf(values) {
  return {
    median: quantile(values, 0.5),
    low: quantile(values, 0.25),
    high: quantile(values, 0.75),
  };
}

/** The spread of one list over another, value by value: what was measured in the same round is compared. */
export function ratioOf(ours, others) {
  return spreadOf(ours.map((value, round) => value / others[round]));
}
