// How many bytes each idle key costs a contestant. Needs --expose-gc.
import { keyAt } from "./keys.mjs";
import { answer } from "./process-of.mjs";

answer(async ({ module, make, settings, keys }) => {
  const contestants = await import(`../contestants/${module}.mjs`);
  const contestant = await contestants[make](settings);
  await contestant.ask(keyAt(0));
  const before = bytesInUse();
  for (let index = 1; index <= keys; index += 1) await contestant.ask(keyAt(index));
  const bytes = (bytesInUse() - before) / keys;
  // Keeps the contestant, which is not to be collected before it has been measured.
  await contestant.ask(keyAt(0));
  return { bytes };
});

/** The heap and what typed arrays hold beside it, without garbage. */
function bytesInUse() {
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
