// The least that could count in Redis: INCR, without a window and without a verdict.
import { connect } from "./connection.mjs";

async function counting({ limit, policies: count = 1, ports }, options) {
  const client = await connect({ ports }, options);
  const prefixes = Array.from({ length: count }, (_, index) => `floor-${index}:`);
  const [only] = prefixes;
  return {
    ask:
      count === 1
        ? (key) => client.incr(only + key)
        : (key) => Promise.all(prefixes.map((prefix) => client.incr(prefix + key))),
    admits: (counted) => (count === 1 ? counted : counted[0]) <= limit,
    close: () => client.disconnect(),
  };
}

/** One command for each. */
export function incr(settings) {
  return counting(settings, {});
}

/** Commands of one turn of the event loop in one pipeline. */
export function pipelinedIncr(settings) {
  return counting(settings, { enableAutoPipelining: true });
}
