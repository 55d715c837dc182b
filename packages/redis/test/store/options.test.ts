import { HeadgateError } from "@headgate/core";
import { Redis } from "ioredis";
import { expect, test } from "vitest";
import { redisStore as httpStore, upstashExecutor } from "../../src/http/index.js";
import { nodeRedisExecutor, redisStore } from "../../src/index.js";

const client = new Redis({ lazyConnect: true });

const wrong: readonly [what: string, make: () => unknown][] = [
  ["a missing client", () => redisStore(undefined as never)],
  ["a client that is none", () => redisStore({} as never)],
  ["a URL", () => redisStore("redis://127.0.0.1" as never)],
  ["an unknown connection", () => redisStore(client, { connection: "mine" as never })],
  ["a prefix with a brace", () => redisStore(client, { prefix: "a{b" })],
  ["an empty prefix", () => redisStore(client, { prefix: "" })],
  ["a hash tag with a brace", () => redisStore(client, { hashTag: "}" })],
  ["a fractional timeout", () => redisStore(client, { callTimeoutMs: 0.5 })],
  ["a misspelt option", () => redisStore(client, { prefx: "a" } as never)],
  ["options that are no object", () => redisStore(client, "prefix" as never)],
  [
    "a misspelt option of node-redis",
    () => nodeRedisExecutor(client as never, { own: 1 } as never),
  ],
  ["a misspelt option for HTTP", () => httpStore(client as never, { connection: "own" } as never)],
  ["an ioredis client for node-redis", () => nodeRedisExecutor(client as never)],
  ["an ioredis client for HTTP", () => upstashExecutor(client as never)],
  ["no executor for HTTP", () => httpStore(client as never)],
];

for (const [what, make] of wrong) {
  test(`refuses ${what} with one readable error`, () => {
    let thrown: unknown;
    try {
      make();
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(HeadgateError);
    expect(thrown).toMatchObject({ code: "INVALID_OPTION" });
    expect((thrown as Error).message).not.toContain("\n");
  });
}
