import { RateLimiterRedis, RateLimiterUnion } from "rate-limiter-flexible";
import { connect } from "./connection.mjs";

/** One policy, or several at once: those of a union are counted side by side, and never given back. */
export async function consume({ limit, windowMs, policies: count = 1, blocksInMemory, ports }) {
  const storeClient = await connect({ ports });
  const limiters = Array.from(
    { length: count },
    (_, index) =>
      new RateLimiterRedis({
        storeClient,
        points: limit,
        duration: windowMs / 1_000,
        keyPrefix: `rlflx-${index}`,
        ...(blocksInMemory && { inMemoryBlockOnConsumed: limit + 1 }),
      }),
  );
  const close = () => storeClient.disconnect();
  if (count === 1) {
    const [only] = limiters;
    return { ask: (key) => only.consume(key), admits: (answer) => isWithin(answer, limit), close };
  }
  const union = new RateLimiterUnion(...limiters);
  const admits = (answers) => isWithin(answers["rlflx-0"], limit);
  return { ask: (key) => union.consume(key), admits, close };
}

/** A refusal out of this process's memory tells no count, and no time that it was consumed. */
function isWithin({ consumedPoints, remainingPoints }, limit) {
  return consumedPoints > 0 && consumedPoints <= limit && remainingPoints >= 0;
}
