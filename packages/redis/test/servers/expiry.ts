import type { Redis } from "ioredis";
import { expect } from "vitest";

/** Fails when a server holds a key of the store's, which are all texts, that would stay for ever. */
export async function expectEveryKeyToExpire(client: Redis): Promise<void> {
  const keys: string[] = [];
  for await (const found of client.scanStream({ count: 1_000, type: "string" })) {
    keys.push(...(found as string[]));
  }
  if (keys.length === 0) return;
  const pipeline = client.pipeline();
  for (const key of keys) pipeline.pttl(key);
  const ttls = (await pipeline.exec()) ?? [];
  // -2 is a key that has expired since it was listed.
  const kept = keys.filter((_, index) => ttls[index]?.[1] === -1);
  expect(kept, "keys without a TTL").toEqual([]);
}
