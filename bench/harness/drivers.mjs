// How a contestant is kept busy. Each driver asks it again and again for some milliseconds, at least once,
// and tells how many answers it had, how many of them admitted, and how long they took. A contestant has
// `ask(key)` and `admits(answer)`; of one that refuses by throwing, what it threw is looked at as its answer.
import { FakeRequest, FakeResponse } from "./fake-http.mjs";

/** Calls between two looks at the clock. */
const chunk = 256;

export const drivers = { sync, awaited, inFlight, middleware };

/** For answers that come at once. */
function sync({ ask, admits }, { keys, forMs }) {
  return inChunks(keys, forMs, (chosen) => {
    let admitted = 0;
    for (let call = 0; call < chunk; call += 1) if (admits(ask(chosen[call]))) admitted += 1;
    return admitted;
  });
}

/** For answers that are promises of this process: one after the other. */
function awaited({ ask, admits }, { keys, forMs }) {
  return inChunks(keys, forMs, async (chosen) => {
    let admitted = 0;
    for (let call = 0; call < chunk; call += 1) {
      let answer;
      try {
        answer = await ask(chosen[call]);
      } catch (thrown) {
        answer = refusalOf(thrown);
      }
      if (admits(answer)) admitted += 1;
    }
    return admitted;
  });
}

/** For answers that come from elsewhere: so many are waited for at any time. */
async function inFlight({ ask, admits }, { keys, forMs, width, onLatency }) {
  const startMs = performance.now();
  const endMs = startMs + forMs;
  let operations = 0;
  let admitted = 0;
  const work = async () => {
    let now = startMs;
    do {
      const askedAt = now;
      let answer;
      try {
        answer = await ask(keys.next());
      } catch (thrown) {
        answer = refusalOf(thrown);
      }
      now = performance.now();
      onLatency?.(now - askedAt);
      operations += 1;
      if (admits(answer)) admitted += 1;
    } while (now < endMs);
  };
  await Promise.all(Array.from({ length: width }, work));
  return { operations, admitted, elapsedMs: performance.now() - startMs };
}

/** For a middleware, which `ask` is: one request after the other. */
function middleware({ ask }, { keys, forMs }) {
  return inChunks(keys, forMs, (chosen) => {
    let call = 0;
    let admitted = 0;
    let concluded = false;
    let later = false;
    return new Promise((resolve, reject) => {
      const conclude = () => {
        concluded = true;
        if (later) run();
      };
      const next = (error) => {
        if (error !== undefined) {
          reject(error);
          return;
        }
        admitted += 1;
        conclude();
      };
      // A loop where the middleware concludes at once, and a call of its own where it does so later.
      const run = () => {
        later = false;
        while (call < chunk) {
          concluded = false;
          const request = new FakeRequest(chosen[call]);
          call += 1;
          ask(request, new FakeResponse(request, conclude), next);
          if (!concluded) {
            later = true;
            return;
          }
        }
        resolve(admitted);
      };
      run();
    });
  });
}

/** Runs chunk after chunk. Keys are chosen between them, and not while the time is taken. */
async function inChunks(keys, forMs, runChunk) {
  const chosen = new Array(chunk).fill("");
  let operations = 0;
  let admitted = 0;
  let elapsedMs = 0;
  do {
    for (let call = 0; call < chunk; call += 1) chosen[call] = keys.next();
    const startMs = performance.now();
    const result = runChunk(chosen);
    admitted += typeof result === "number" ? result : await result;
    elapsedMs += performance.now() - startMs;
    operations += chunk;
  } while (elapsedMs < forMs);
  return { operations, admitted, elapsedMs };
}

function refusalOf(thrown) {
  if (thrown instanceof Error) throw thrown;
  return thrown;
}
