import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll } from "vitest";
import { expectEveryKeyToExpire } from "./expiry.js";
import { type RedisServer, startRedisServer } from "./redis-server.js";

/** A server and a client for the tests of a file. */
export interface SingleServer {
  readonly server: RedisServer;
  readonly client: Redis;
}

/**
 * Starts one server before the tests of a file and stops it after them; read the parts inside tests. After
 * each test no key may be left that would stay for ever.
 */
export function useSingleServer(args: readonly string[] = []): SingleServer {
  let server: RedisServer | undefined;
  let client: Redis | undefined;
  beforeAll(async () => {
    server = await startRedisServer(args);
    client = new Redis({ port: server.port, host: "127.0.0.1" });
  });
  afterEach(async () => {
    if (client !== undefined) await expectEveryKeyToExpire(client);
  });
  afterAll(async () => {
    client?.disconnect();
    await server?.stop();
  });
  return {
    get server() {
      if (server === undefined) throw new Error("the server is started before the tests run");
      return server;
    },
    get client() {
      if (client === undefined) throw new Error("the client is made before the tests run");
      return client;
    },
  };
}

/** A call timeout for tests that are not about time: a busy machine must not fail them. */
export const patientMs = 10_000;

let prefixes = 0;

/** A prefix that no other store of this process has. */
export function freshPrefix(): string {
  prefixes += 1;
  return `test${prefixes}`;
}
