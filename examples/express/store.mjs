import { redisStore } from "@headgate/redis";
import { Redis } from "ioredis";

/** The shared store at REDIS_URL, or undefined without one: then each process counts for itself. */
export function storeFromEnvironment() {
  const { REDIS_URL } = process.env;
  if (REDIS_URL === undefined) return undefined;
  // The store opens a connection of its own with these settings; this client itself is never connected.
  return redisStore(new Redis(REDIS_URL, { lazyConnect: true }));
}
