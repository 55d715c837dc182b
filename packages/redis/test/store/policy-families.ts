import { capacityOf, definePolicy, type Policy } from "@headgate/core";
import type { SeededRandom } from "./random.js";

const algorithms: readonly Policy["algorithm"][] = [
  "fixed-window",
  "sliding-window",
  "sliding-window-counter",
  "token-bucket",
  "leaky-bucket",
];
const longestHoldMs = 2 ** 31 - 1;

/** The numbers by which a policy decides, and the form of its states. */
interface Numbers {
  readonly algorithm: Policy["algorithm"];
  readonly windowMs: number;
  readonly limit: number;
  readonly extra: number;
  readonly version: number;
  readonly migrate: Policy["migrate"];
}

let families = 0;

/**
 * Policies of one name that take turns on one state: tiers, versions with each rule, and others that were given
 * the name without a new version. Some have a penalty, debt, or are shadows.
 */
export function randomFamily(random: SeededRandom): readonly Policy[] {
  families += 1;
  const name = `family-${families}`;
  const shared = {
    debt: random.pick([0, 0, 3]),
    shadow: random.integer(4) === 0,
    ...(random.integer(3) === 0 ? { penalty: randomPenalty(random) } : {}),
  };
  const first = randomNumbers(random);
  const all = [first];
  for (let count = 1 + random.integer(3); count > 0; count -= 1)
    all.push(changed(random.pick(all), random));
  return all.map((numbers) => definePolicy(name, { ...shared, ...inputOf(numbers) }));
}

/** A cost that is small, or at an edge of what a policy can admit. */
export function randomCost(policy: Policy, random: SeededRandom): number {
  const capacity = capacityOf(policy);
  const few = [random.integer(4), random.integer(4), random.integer(4)];
  return random.pick([...few, Math.floor(capacity / 2), capacity, capacity - 1]);
}

function randomPenalty(random: SeededRandom): object {
  return {
    on: random.pick(["refusals", "refusals", "failures", "manual"]),
    after: 1 + random.integer(3),
    withinMs: random.pick([1, 50, 120]),
    banMs: random.pick([1, 30, 90]),
  };
}

function randomNumbers(
  random: SeededRandom,
  algorithm: Policy["algorithm"] = random.pick(algorithms),
  windowMs: number = random.pick([1, 3, 40, 70, 100]),
): Numbers {
  const huge = random.integer(8) === 0;
  return {
    algorithm,
    windowMs,
    limit: huge ? hugeLimit(algorithm, windowMs, random) : 1 + random.integer(8),
    extra: huge && algorithm === "token-bucket" ? 2 ** 43 : random.integer(9),
    version: 1,
    migrate: "keep",
  };
}

function hugeLimit(algorithm: Policy["algorithm"], windowMs: number, random: SeededRandom): number {
  const below = random.integer(1_000_000);
  switch (algorithm) {
    case "fixed-window":
    case "sliding-window":
      return 2 ** 52 - 5 - below;
    case "sliding-window-counter":
      return Math.floor((2 ** 53 - 1) / Math.max(2, windowMs)) - 4 - below;
    case "token-bucket":
    case "leaky-bucket":
      return 1 + below;
  }
}

function changed(from: Numbers, random: SeededRandom): Numbers {
  const { algorithm, windowMs, migrate: sameRule, version: sameVersion } = from;
  const version = sameVersion + random.pick([0, 1, 1]);
  const migrate = random.pick(["keep", "scale", "reset"] as const);
  switch (random.integer(5)) {
    case 0:
      return {
        ...randomNumbers(random, algorithm, windowMs),
        version: sameVersion,
        migrate: sameRule,
      };
    case 1:
      return { ...randomNumbers(random, algorithm, windowMs), version, migrate };
    case 2:
      return { ...from, version, migrate };
    case 3:
      return { ...randomNumbers(random, algorithm), version, migrate };
    default:
      return { ...randomNumbers(random), version, migrate };
  }
}

function inputOf({ extra, ...numbers }: Numbers): object {
  switch (numbers.algorithm) {
    case "fixed-window":
      return { ...numbers, anchor: extra % 2 === 0 ? "clock" : "first-request" };
    case "token-bucket":
      return { ...numbers, burst: extra + 1 };
    case "leaky-bucket": {
      const queue = Math.min(extra, Math.floor((longestHoldMs * numbers.limit) / numbers.windowMs));
      return { ...numbers, queue, maxDelayMs: longestHoldMs };
    }
    default:
      return numbers;
  }
}
