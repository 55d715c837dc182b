/** A number with its unit, in as many digits as it is sure of. */
export function figure(value, unit) {
  if (unit.endsWith("/s"))
    return value >= 1e6 ? `${short(value / 1e6)} M/s` : `${short(value / 1e3)} k/s`;
  if (unit === "ns" && value >= 1e3) return `${short(value / 1e3)} µs`;
  return `${short(value)} ${unit}`;
}

/** A ratio, and its quartiles where they differ from it. */
export function ratio({ median, low, high }) {
  const [middle, from, to] = [median, low, high].map(short);
  return from === to ? `${middle} ×` : `${middle} × (${from} to ${to})`;
}

function short(value) {
  const size = Math.abs(value);
  const digits = size >= 100 || value === 0 ? 0 : size >= 10 ? 1 : 2;
  return value.toLocaleString("en", { maximumFractionDigits: digits, minimumFractionDigits: 0 });
}

/** What was measured of a contestant in one case; throws where there is none. */
export function rowOf(results, measurementName, { case: caseName, x, row }) {
  const measurement = results.measurements.find(({ name }) => name === measurementName);
  const found = measurement?.cases.find((one) =>
    caseName === undefined ? one.x === x : one.name === caseName,
  );
  return found?.rows.find(({ name }) => name === row);
}
