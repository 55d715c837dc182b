import { processOf } from "./process-of.mjs";
import { ratioOf, spreadOf } from "./statistics.mjs";

/**
 * Measures contestants side by side. Each has a process of its own, so that neither the garbage nor the
 * compiled code of one is another's; all are alive at once, and one at a time works. A round measures each
 * of them once, beginning with another one every time.
 *
 * @param contest.contestants - each with `name`, the `module` and `make` that make it, its `settings` and `drive`
 * @param contest.expect - "admitted" or "refused": what every answer must be
 * @param contest.figureOf - from a round's `{ operations, elapsedMs }` to what is compared
 * @returns a row for each; one that could not be started has `failed` instead of values
 */
export async function contest({ contestants, rounds, roundMs, warmUpMs, expect, figureOf }) {
  const entrants = [];
  try {
    for (const contestant of contestants) entrants.push(await enter(contestant, warmUpMs));
    const running = entrants.filter(({ failed }) => failed === undefined);
    for (let round = 0; round < rounds; round += 1) {
      for (let turn = 0; turn < running.length; turn += 1) {
        const entrant = running[(round + turn) % running.length];
        const measured = await entrant.measure(roundMs);
        checkVerdicts(entrant, measured, expect);
        entrant.values.push(figureOf(measured));
      }
    }
    return rowsOf(entrants);
  } finally {
    await Promise.all(entrants.map(({ stop }) => stop()));
  }
}

/**
 * Rows of what was measured in the same rounds: each with its values and their spread, those of others with the
 * ratio of the first row to them, round by round.
 */
export function rowsOf(measured) {
  const [reference] = measured;
  return measured.map(({ name, note, ours = false, values, failed, unit }) => ({
    name,
    ...(ours && { ours }),
    ...(note !== undefined && { note }),
    ...(unit !== undefined && { unit }),
    ...(failed === undefined ? spreadOf(values) : { failed }),
    ...(failed === undefined && !ours && { ratio: ratioOf(reference.values, values) }),
    values,
  }));
}

/** Starts a contestant; `measure(roundMs)` then gives `{ operations, admitted, elapsedMs }`. */
export async function enter({ name, note, ours, ...contestant }, warmUpMs) {
  const { module, make, settings = {}, drive, nodeOptions } = contestant;
  const process = processOf("contestant-process.mjs", { name, nodeOptions });
  const entrant = { name, note, ours, values: [], stop: process.stop };
  try {
    await process.ask({ start: { module, make, settings, drive, warmUpMs } });
  } catch (error) {
    if (ours) {
      await process.stop();
      throw error;
    }
    return { ...entrant, failed: error.message.split("\n", 1)[0] };
  }
  return { ...entrant, measure: (roundMs) => process.ask({ roundMs }) };
}

/** Decisions a second. */
export function perSecond({ operations, elapsedMs }) {
  return (operations * 1_000) / elapsedMs;
}

/** Nanoseconds for each call. */
export function nanoseconds({ operations, elapsedMs }) {
  return (elapsedMs * 1e6) / operations;
}

function checkVerdicts({ name }, { operations, admitted }, expect) {
  const expected = { admitted: operations, refused: 0 }[expect];
  if (expected === undefined || admitted === expected) return;
  throw new Error(
    `${name}: ${admitted} of ${operations} were admitted, and all were to be ${expect}`,
  );
}
