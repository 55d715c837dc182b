import { bundleSize } from "./bundle-size.mjs";
import { cluster } from "./cluster.mjs";
import { coldImport } from "./cold-import.mjs";
import { http } from "./http.mjs";
import { idleKeys } from "./idle-keys.mjs";
import { limit } from "./limit.mjs";
import { memory } from "./memory.mjs";
import { middleware } from "./middleware.mjs";
import { outages } from "./outages.mjs";
import { policies, redisPolicies } from "./policies.mjs";
import { processes } from "./processes.mjs";
import { redis } from "./redis.mjs";
import { redisCpu } from "./redis-cpu.mjs";
import { redisKeys } from "./redis-keys.mjs";
import { refused } from "./refused.mjs";
import { roundTrips } from "./round-trips.mjs";
import { soak } from "./soak.mjs";

/** Everything that can be measured, in the order in which it is shown. */
export const measurements = [
  memory,
  policies,
  middleware,
  http,
  redis,
  redisPolicies,
  refused,
  cluster,
  processes,
  redisCpu,
  roundTrips,
  idleKeys,
  redisKeys,
  limit,
  outages,
  coldImport,
  bundleSize,
  soak,
];
