// `npm run growth`: what a call of the exact sliding window costs at a limit of 100,000 against one of
// 10, and what its memory is for each admitted unit. Exits 1 when a call costs more than twice as much.
import { definePolicy, memoryStore, slidingWindow } from "@headgate/core";
import { ManualClock } from "@headgate/core/testing";

const limits = [10, 100_000];
const windowMs = 1_000_000;
const most = 2;

/** Each case prepares a full window, and says how its one timed call comes about. */
const cases = {
  admitted: { prepare: (life) => life.advance(windowMs / life.limit), samples: 20_000 },
  refused: { prepare: () => {}, samples: 20_000 },
  "first after an idle window": {
    prepare: (life) => {
      life.refill();
      life.advance(2 * windowMs);
    },
    samples: 60,
  },
  "first when all but one have expired": {
    prepare: (life) => {
      life.refill();
      life.advance(windowMs - Math.floor(windowMs / life.limit));
    },
    samples: 60,
    // Finds the one in a ring that has gone cold: told, but not held to the bound.
    free: true,
  },
};

/** A key whose window is full of units of different instants, as far as they fit. */
class Life {
  constructor(limit) {
    this.limit = limit;
    this.clock = new ManualClock(1_700_000_000_000);
    this.store = memoryStore({ clock: this.clock });
    const policy = definePolicy("growth", slidingWindow({ limit, window: windowMs }));
    this.batch = [{ policy, subject: "client", cost: 1 }];
    this.fill();
  }

  advance(ms) {
    this.clock.advance(ms);
  }

  call() {
    return this.store.apply(this.batch, "commit");
  }

  /** Fills the window with equally many calls at every limit, so that caches and garbage are alike before the timed one. */
  refill() {
    for (let calls = 0; calls < Math.max(...limits); calls += this.limit) this.fill();
  }

  /** Starts afresh, so that the units lie evenly in the window that ends now. */
  fill() {
    this.store.reset(this.batch[0].policy, "client");
    for (let unit = 0; unit < this.limit; unit += 1) {
      if (unit > 0) this.advance(windowMs / this.limit);
      this.call();
    }
  }
}

/** The median time of a call, in nanoseconds. */
function timeOf(limit, { prepare, samples }) {
  const life = new Life(limit);
  const times = [];
  for (let sample = 0; sample < samples; sample += 1) {
    prepare(life);
    const start = process.hrtime.bigint();
    life.call();
    times.push(Number(process.hrtime.bigint() - start));
  }
  return times.sort((a, b) => a - b)[Math.floor(times.length / 2)];
}

/** Bytes that a full window holds for each admitted unit. */
function bytesPerUnit(limit, keys) {
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  const lives = Array.from({ length: keys }, () => new Life(limit));
  globalThis.gc?.();
  const bytes = process.memoryUsage().heapUsed - before;
  return bytes / (limit * lives.length);
}

let failed = false;
const rows = Object.entries(cases).map(([name, how]) => {
  for (const limit of limits) timeOf(limit, { ...how, samples: Math.ceil(how.samples / 2) });
  const [small, large] = limits.map((limit) => timeOf(limit, how));
  const ratio = large / small;
  failed ||= ratio > most && how.free !== true;
  return {
    call: name,
    "limit 10 (ns)": small,
    "limit 100,000 (ns)": large,
    ratio: ratio.toFixed(2),
  };
});
console.table(rows);
console.log(
  `bytes for each admitted unit at limit 100,000: ${bytesPerUnit(100_000, 5).toFixed(1)}`,
);
if (failed) console.error(`a call must cost at most ${most} times as much at the larger limit`);
process.exitCode = failed ? 1 : 0;
