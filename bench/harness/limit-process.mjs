// What one call costs at a limit, and what a full window weighs. Needs --expose-gc.
import { Life } from "../contestants/full-window.mjs";
import { answer } from "./process-of.mjs";
import { quantile } from "./statistics.mjs";

/** How the one timed call comes about, after a window was filled. */
const preparations = {
  admitted: (life) => life.step(),
  refused: () => {},
  "first after an idle window": (life, most) => {
    life.fill(most);
    life.expire({ all: true });
  },
  "first when all but one have expired": (life, most) => {
    life.fill(most);
    life.expire({ all: false });
  },
};

/** So much is weighed together that what else the process allocates and frees is little beside it. */
const fewestLives = 5;
const fewestUnits = 20_000;

/**
 * Calls of another client before each timed one. Filling a large window drives the store's code and tables
 * out of the processor's caches, which costs the next call, whosever it is, about 2 µs; what a call costs
 * because of its own limit is seen when the store is in use.
 */
const callsOfOthers = 5;

answer(({ algorithm, limit, most, preparation, samples }) => {
  if (preparation === undefined) return { value: bytesPerUnit(limit) };
  const life = new Life({ algorithm, limit });
  // Equally many calls before at every limit, so that compiled code, caches and garbage are alike.
  life.fill(most);
  const times = [];
  for (let sample = 0; sample < samples; sample += 1) {
    preparations[preparation](life, most);
    for (let call = 0; call < callsOfOthers; call += 1) life.callOther();
    const start = process.hrtime.bigint();
    life.call();
    times.push(Number(process.hrtime.bigint() - start));
  }
  return { value: quantile(times, 0.5) };
});

/** Bytes that a full window holds for each admitted unit. */
function bytesPerUnit(limit) {
  // What is compiled and made once is not a window's.
  new Life({ limit: 1 }).fill();
  const before = bytesInUse();
  const lives = Math.max(fewestLives, Math.ceil(fewestUnits / limit));
  const full = Array.from({ length: lives }, () => new Life({ limit }));
  for (const life of full) life.fill();
  return (bytesInUse() - before) / (limit * full.length);
}

function bytesInUse() {
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
