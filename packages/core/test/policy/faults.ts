import { HeadgateError } from "../../src/errors.js";
import { definePolicy } from "../../src/policy/define.js";

export const valid = { algorithm: "token-bucket", limit: 10, window: "1m" } as const;

export const algorithms = [
  "fixed-window",
  "sliding-window",
  "sliding-window-counter",
  "token-bucket",
  "leaky-bucket",
] as const;

/** A correct policy of each algorithm, as data. */
export function example(algorithm: (typeof algorithms)[number]): Record<string, unknown> {
  const common = { algorithm, limit: 10, window: "1m" };
  return algorithm === "leaky-bucket" ? { ...common, queue: 1 } : common;
}

/** The message that a wrong policy named "api" is refused with, or undefined when it is accepted. */
export function refusalOf(input: unknown): string | undefined {
  try {
    definePolicy("api", input as Record<string, unknown>);
    return undefined;
  } catch (error) {
    if (error instanceof HeadgateError && error.code === "INVALID_POLICY") return error.message;
    throw error;
  }
}
