import { HeadgateError } from "@headgate/core";
import { keysOfPage, type Page, pagesOf } from "../clients/pages.js";
import type { Executor, ScriptCall } from "../executor.js";

/** A client of `@upstash/redis`. */
export interface UpstashClient {
  evalsha(sha: string, keys: string[], args: unknown[]): Promise<unknown>;
  eval(script: string, keys: string[], args: unknown[]): Promise<unknown>;
  scan(
    cursor: string | number,
    options: { readonly match: string; readonly count: number },
  ): Promise<Page>;
}

/** Where the client keeps how often it sends a request again. */
interface Retrying {
  readonly client?: { readonly retry?: { readonly attempts?: number } };
}

/**
 * Runs scripts through the HTTP client `@upstash/redis`, on Edge runtimes too.
 *
 * @throws HeadgateError `INVALID_OPTION` for another kind of client, and for one that sends a request again
 *   whose answer was lost: make it with `retry: false`
 */
export function upstashExecutor(client: UpstashClient): Executor {
  if (
    typeof client?.evalsha !== "function" ||
    typeof client.eval !== "function" ||
    "duplicate" in client
  ) {
    throw new HeadgateError(
      "INVALID_OPTION",
      "upstashExecutor: the client must be one of @upstash/redis",
    );
  }
  const { attempts = 0 } = (client as Retrying).client?.retry ?? {};
  if (attempts > 1) {
    throw new HeadgateError(
      "INVALID_OPTION",
      "upstashExecutor: the client must be made with retry: false, or a lost answer counts a request twice",
    );
  }
  return {
    slotOf: undefined,
    ready: () => undefined,
    run: ({ command, script, keys, args }: ScriptCall) =>
      command === "EVALSHA"
        ? client.evalsha(script, [...keys], [...args])
        : client.eval(script, [...keys], [...args]),
    scan: (pattern) =>
      pagesOf((cursor) => client.scan(cursor, { match: pattern, count: keysOfPage })),
    close: async () => undefined,
  };
}
