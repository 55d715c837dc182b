import type { MaybePromise } from "./options.js";

/**
 * Goes on with a value at once, or once its promise is kept: a request that meets nothing asynchronous
 * is decided without a promise.
 */
export function after<T, U>(
  value: MaybePromise<T>,
  next: (value: T) => U | Promise<U>,
): U | Promise<U> {
  // Promise.resolve, because a thenable of a library need not keep the rules of a promise.
  return isThenable(value) ? Promise.resolve(value).then(next) : next(value);
}

/** All values at once, or a promise of them when any is one. */
export function afterAll<T>(
  values: readonly MaybePromise<T>[],
): readonly T[] | Promise<readonly T[]> {
  return values.some(isThenable) ? Promise.all(values) : (values as readonly T[]);
}

function isThenable<T>(value: MaybePromise<T>): value is PromiseLike<T> {
  return (
    typeof value === "object" &&
    value !== null &&
    "then" in value &&
    typeof value.then === "function"
  );
}
