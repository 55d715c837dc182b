import { rowsOf } from "../harness/contest.mjs";
import { processOf } from "../harness/process-of.mjs";
import { enough, windowMs } from "./limits.mjs";

const contestants = [
  { name: "headgate, fixed window", module: "headgate", make: "apply", ours: true },
  {
    name: "headgate, token bucket",
    module: "headgate",
    make: "apply",
    ours: true,
    // One that is not full again, and so forgotten, before all keys are there.
    settings: { algorithm: "token-bucket", limit: 10 },
  },
  { name: "express-rate-limit", module: "express-rate-limit", make: "increment" },
  { name: "rate-limiter-flexible", module: "rate-limiter-flexible", make: "consume" },
  { name: "floor: a Map with a number", module: "floor", make: "numbers" },
];

export const idleKeys = {
  name: "idle-keys",
  title: "Memory for each idle key",
  about: "A key of 16 characters that was seen once, its text included, after garbage collection.",
  unit: "bytes",
  better: "lower",
  async run({ idleKeys: keys, idleRuns }) {
    const measured = contestants.map((contestant) => ({ ...contestant, values: [] }));
    for (let run = 0; run < idleRuns; run += 1)
      for (const contestant of measured) contestant.values.push(await bytesOf(contestant, keys));
    return [{ name: `${keys.toLocaleString("en")} keys`, rows: rowsOf(measured) }];
  },
};

async function bytesOf({ name, module, make, settings }, keys) {
  const nodeOptions = ["--expose-gc"];
  const process = processOf("idle-keys-process.mjs", { name, nodeOptions });
  try {
    const all = { limit: enough, windowMs, maxKeys: 2 * keys, ...settings };
    const { bytes } = await process.ask({ module, make, settings: all, keys });
    return bytes;
  } finally {
    await process.stop();
  }
}
