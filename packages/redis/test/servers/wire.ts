import type { Redis } from "ioredis";

/** How many calls of the store's script the server has run since its statistics were last reset. */
async function scriptCalls(client: Redis): Promise<number> {
  const stats = await client.info("commandstats");
  return [...stats.matchAll(/^cmdstat_(?:evalsha|eval):calls=(\d+)/gm)].reduce(
    (sum, [, calls]) => sum + Number(calls),
    0,
  );
}

/** How many script calls the server runs while `body` does its work. */
export async function scriptCallsDuring(
  client: Redis,
  body: () => Promise<unknown>,
): Promise<number> {
  const before = await scriptCalls(client);
  await body();
  return (await scriptCalls(client)) - before;
}
