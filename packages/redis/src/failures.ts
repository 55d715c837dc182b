import { HeadgateError } from "@headgate/core";

/** What a client threw or a server answered, as the store's own error; the original is its cause. */
export function storeFailure(cause: unknown): HeadgateError {
  if (cause instanceof HeadgateError) return cause;
  const said = cause instanceof Error ? withoutCommand(cause.message) : "failed without an error";
  return new HeadgateError("STORE_FAILURE", `redis: ${said}`, { cause });
}

// @upstash/redis repeats the command: a script's length, and subjects that are not for logs.
function withoutCommand(message: string): string {
  return message.split(/, command was: /, 1)[0] as string;
}

/** A reply that is no answer to the script. */
export function oddReply(reply: unknown): HeadgateError {
  return new HeadgateError("STORE_FAILURE", "redis: the reply is not the script's", {
    cause: reply,
  });
}

/**
 * The error of one batch among others, by the text that the script gives for it. What is neither the server's nor has
 * its code is the script's own, over a value that it could not read.
 */
export function batchFailure(text: string): HeadgateError {
  const cause = new Error(text);
  return text.startsWith("WRONGTYPE") || !/^[A-Z]/.test(text)
    ? new HeadgateError("STORE_KEY_FAILURE", "redis: a key of this request holds a foreign value", {
        cause,
      })
    : new HeadgateError("STORE_FAILURE", `redis: ${text}`, { cause });
}

export function timedOut(afterMs: number): HeadgateError {
  return new HeadgateError("STORE_TIMEOUT", `redis: no answer within ${afterMs} ms`);
}

/** Marks failures after which the call has certainly not run, so that it may be sent again. */
const notRun = new WeakSet<HeadgateError>();

export function certainlyNotRun(error: HeadgateError): HeadgateError {
  notRun.add(error);
  return error;
}

export function hasCertainlyNotRun(error: unknown): boolean {
  return error instanceof HeadgateError && notRun.has(error);
}
