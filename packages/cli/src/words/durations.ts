import type { Millis } from "@headgate/core";

const units: readonly (readonly [name: string, ms: Millis])[] = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1_000],
];

/** A length of time in the largest unit that it is a whole number of: `1 minute`, `90 seconds`, `250 ms`. */
export function durationWords(ms: Millis): string {
  const unit = units.find(([, length]) => ms >= length && ms % length === 0);
  if (unit === undefined) return `${wholeNumber(ms)} ms`;
  const count = ms / unit[1];
  return `${wholeNumber(count)} ${unit[0]}${count === 1 ? "" : "s"}`;
}

/** What stands behind `per`: `minute`, `15 minutes`. */
export function perWords(ms: Millis): string {
  return durationWords(ms).replace(/^1 /, "");
}

/** A length of time to two units, rounded up: `1 h 5 min`, `59 s`, `250 ms`. */
export function roundDuration(ms: Millis): string {
  if (ms < 1_000) return `${Math.ceil(ms)} ms`;
  const seconds = Math.ceil(ms / 1_000);
  const steps: readonly (readonly [unit: string, seconds: number])[] = [
    ["d", 86_400],
    ["h", 3_600],
    ["min", 60],
    ["s", 1],
  ];
  const first = steps.findIndex(([, length]) => seconds >= length);
  const [unit, length] = steps[first] as readonly [string, number];
  const [nextUnit, nextLength] = steps[first + 1] ?? ["", 0];
  if (nextLength === 0) return `${seconds} ${unit}`;
  const rest = Math.ceil((seconds % length) / nextLength);
  const carried = rest * nextLength === length;
  const whole = Math.floor(seconds / length) + (carried ? 1 : 0);
  return rest === 0 || carried ? `${whole} ${unit}` : `${whole} ${unit} ${rest} ${nextUnit}`;
}

const numbers = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** A whole number with its thousands set apart. */
export function wholeNumber(value: number): string {
  return numbers.format(value);
}

/** A share as percent, to as many digits as tell it from nothing and from all. */
export function percent(count: number, of: number): string {
  if (of === 0 || count === 0) return "0 %";
  if (count === of) return "100 %";
  const share = (100 * count) / of;
  const digits = share < 0.1 || share > 99.9 ? 3 : share < 10 || share > 99 ? 2 : 1;
  return `${share.toFixed(digits)} %`;
}

/** A duration as policies write it: `1m`, `90s`, `250ms`. */
export function durationText(ms: Millis): string {
  const unit = units.find(([, length]) => ms % length === 0);
  return unit === undefined ? `${ms}ms` : `${ms / unit[1]}${unit[0].charAt(0)}`;
}
