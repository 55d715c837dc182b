// The process of one contestant. The first message makes the contestant, asks it once for every key, so that
// rounds find all keys known and limits of 1 used up, and warms it up. Each further one measures a round.
import { drivers } from "./drivers.mjs";
import { AtRandom, addressesOf, InOrder, keysOf } from "./keys.mjs";
import { answer } from "./process-of.mjs";

let run;
let keys;

answer(async ({ start, roundMs }) => {
  if (start === undefined) return run(keys, roundMs);
  const { module, make, settings, drive, warmUpMs } = start;
  const contestants = await import(`../contestants/${module}.mjs`);
  const contestant = await contestants[make](settings);
  const all = drive.driver === "middleware" ? addressesOf(drive.keys) : keysOf(drive.keys);
  run = (chosen, forMs) => drivers[drive.driver](contestant, { ...drive, keys: chosen, forMs });
  const inOrder = new InOrder(all);
  for (let asked = 0; asked < all.length; ) asked += (await run(inOrder, 0)).operations;
  keys = new AtRandom(all);
  await run(keys, warmUpMs);
  return {};
});
