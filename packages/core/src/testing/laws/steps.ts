/**
 * A computation that asks a store and goes on with its answer, whether that comes at once or as a promise.
 * Written once as a generator, it makes no promise over a store that makes none.
 */
export type Steps<T> = Generator<Promise<unknown>, T, unknown>;

/** Goes on with an answer, after waiting for it where it is a promise. */
export function* answered<T>(answer: T | Promise<T>): Steps<T> {
  return answer instanceof Promise ? ((yield answer) as T) : answer;
}

/** Runs a computation to its end at once. */
export function runNow<T>(steps: Steps<T>): T {
  const { done, value } = steps.next();
  if (done !== true) throw new Error("a synchronous store answered with a promise");
  return value;
}

/** Runs a computation to its end, waiting for each promise on the way. */
export async function runLater<T>(steps: Steps<T>): Promise<T> {
  let turn = steps.next();
  while (turn.done !== true) turn = await nextTurn(steps, turn.value);
  return turn.value;
}

async function nextTurn<T>(
  steps: Steps<T>,
  pending: Promise<unknown>,
): Promise<IteratorResult<Promise<unknown>, T>> {
  let answer: unknown;
  try {
    answer = await pending;
  } catch (error) {
    return steps.throw(error);
  }
  return steps.next(answer);
}
