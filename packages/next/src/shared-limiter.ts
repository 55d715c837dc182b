import { HeadgateError, type Limiter, type Store } from "@headgate/core";

// A registered symbol: Next bundles the proxy and each route apart, and reloads them in development, so
// modules of one process have nothing but globalThis in common.
const limitersKey = Symbol.for("headgate.limiters");

/**
 * The limiter of that name in this process, made once: the proxy, route handlers and actions then count
 * together, and a reload in development opens no second connection. An Edge function has a process of its
 * own, in effect, and so does each worker.
 *
 * A limiter once made stays until the process ends, whatever `make` would give later.
 *
 * ```ts
 * export const limiter = sharedLimiter("app", () => createLimiter({ policies }));
 * ```
 *
 * @throws HeadgateError `INVALID_OPTION` for a blank name
 */
export function sharedLimiter<N extends string, S extends Store>(
  name: string,
  make: () => Limiter<N, S>,
): Limiter<N, S> {
  if (typeof name !== "string" || name.trim() === "")
    throw new HeadgateError("INVALID_OPTION", "sharedLimiter: name must be text that is not blank");
  const shared = globalThis as { [limitersKey]?: Map<string, unknown> };
  shared[limitersKey] ??= new Map();
  const limiters = shared[limitersKey];
  if (!limiters.has(name)) limiters.set(name, make());
  return limiters.get(name) as Limiter<N, S>;
}
