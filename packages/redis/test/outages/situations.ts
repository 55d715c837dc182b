import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { Redis } from "ioredis";
import type { IoredisClient } from "../../src/index.js";
import { freePort, type RedisServer, startRedisServer } from "../servers/redis-server.js";
import { startSentinelGroup } from "../servers/sentinel.js";
import { type ProxyMode, startTcpProxy } from "../servers/tcp-proxy.js";

/** One way in which Redis fails and comes back. */
export interface Situation {
  readonly name: string;
  /**
   * What becomes of the counts: they are kept; lost with the server's memory; kept as far as the replica had
   * acknowledged them; or they hold requests as well whose answers were lost.
   * @default "kept"
   */
  readonly counts?: "kept" | "lost" | "acknowledged" | "answers lost";
  /**
   * Whether Redis works at first.
   * @default true
   */
  readonly worksAtFirst?: boolean;
  /** Whether no request may notice it. */
  readonly harmless?: boolean;
  start(): Promise<Stage>;
}

/** A situation with its servers started. */
export interface Stage {
  /** What the application makes its store of. */
  readonly client: IoredisClient;
  begin(): Promise<unknown>;
  /** Ends the outage; where Redis does so by itself, there is nothing to do. */
  end(): Promise<unknown>;
  stop(): Promise<unknown>;
}

const host = "127.0.0.1";

export const situations: readonly Situation[] = [
  {
    ...onOneServer("SCRIPT FLUSH under 100 parallel requests", ({ control }) => {
      let flushing: NodeJS.Timeout | undefined;
      return {
        begin: async () => {
          flushing = setInterval(() => void control.script("FLUSH"), 2);
          await control.script("FLUSH");
        },
        end: async () => clearInterval(flushing),
      };
    }),
    harmless: true,
  },
  onOneServer("SIGSTOP and SIGCONT", ({ server }) => ({
    begin: async () => server.process.kill("SIGSTOP"),
    end: async () => server.process.kill("SIGCONT"),
  })),
  onOneServer("CLIENT PAUSE", ({ control }) => ({
    begin: () => control.client("PAUSE", 700, "ALL"),
    end: () => control.ping(),
  })),
  onOneServer("REPLICAOF, so that writes are answered READONLY", ({ control }) => ({
    begin: async () => control.replicaof(host, await freePort()),
    end: () => control.replicaof("NO", "ONE"),
  })),
  onOneServer("maxmemory reached, so that writes are answered OOM", ({ control }) => ({
    begin: () => control.config("SET", "maxmemory", "1"),
    end: () => control.config("SET", "maxmemory", "0"),
  })),
  onOneServer(
    "a script of somebody else that does not end, answered BUSY",
    ({ control, server }) => {
      const endless = new Redis({ port: server.port, host });
      return {
        begin: async () => {
          await control.config("SET", "busy-reply-threshold", "50");
          endless.eval("while true do end", 0).catch(() => undefined);
          await pause(100);
        },
        end: () => control.script("KILL"),
        stop: async () => endless.disconnect(),
      };
    },
  ),
  onOneServer("an ACL that takes the scripts away, answered NOPERM", ({ control }) => ({
    begin: () => control.acl("SETUSER", "default", "-evalsha", "-eval"),
    end: () => control.acl("SETUSER", "default", "+evalsha", "+eval"),
  })),
  onOneServer(
    "a server that loads its data, answered LOADING",
    ({ control, server }) => {
      const loader = new Redis({ port: server.port, host });
      return {
        begin: async () => {
          await control.call("DEBUG", "POPULATE", "2000", "filler");
          await control.config("SET", "loading-process-events-interval-bytes", "1024");
          await control.config("SET", "key-load-delay", "1000");
          loader.call("DEBUG", "RELOAD").catch(() => undefined);
          await pause(100);
        },
        end: () => control.config("SET", "key-load-delay", "0"),
        stop: async () => loader.disconnect(),
      };
    },
    ["--enable-debug-command", "yes"],
  ),
  {
    name: "a server that is killed and started anew",
    counts: "lost",
    start: async () => {
      let server = await startRedisServer();
      return {
        client: new Redis({ port: server.port, host, lazyConnect: true }),
        begin: () => server.stop(),
        end: async () => {
          server = await startRedisServer([], server.port);
        },
        stop: () => server.stop(),
      };
    },
  },
  {
    name: "a closed port at boot",
    worksAtFirst: false,
    start: async () => {
      const port = await freePort();
      let server: RedisServer | undefined;
      return {
        client: new Redis({ port, host, lazyConnect: true }),
        begin: async () => undefined,
        end: async () => {
          server = await startRedisServer([], port);
        },
        stop: async () => server?.stop(),
      };
    },
  },
  {
    ...behindProxy(
      "a black hole at boot: a server that accepts and never answers",
      "swallow",
      true,
    ),
    worksAtFirst: false,
  },
  behindProxy("a black hole that an open connection falls into", "swallow"),
  {
    ...behindProxy("replies that are lost after the calls have run", "drop-replies"),
    counts: "answers lost",
  },
  {
    name: "a Sentinel failover: the primary is killed under load",
    counts: "acknowledged",
    start: async () => {
      const group = await startSentinelGroup();
      return {
        client: group.connect(),
        begin: async () => {
          await pause(50);
          group.primary.process.kill("SIGKILL");
          await once(group.primary.process, "exit");
        },
        end: async () => undefined,
        stop: () => group.stop(),
      };
    },
  },
];

interface OneServer {
  readonly server: RedisServer;
  readonly control: Redis;
}

function onOneServer(
  name: string,
  stage: (one: OneServer) => Pick<Stage, "begin" | "end"> & Partial<Pick<Stage, "stop">>,
  args: readonly string[] = [],
): Situation {
  return {
    name,
    start: async () => {
      const server = await startRedisServer(args);
      const control = new Redis({ port: server.port, host });
      const { begin, end, stop } = stage({ server, control });
      return {
        client: new Redis({ port: server.port, host, lazyConnect: true }),
        begin,
        end,
        stop: async () => {
          control.disconnect();
          await stop?.();
          await server.stop();
        },
      };
    },
  };
}

function behindProxy(name: string, mode: ProxyMode, atOnce = false): Situation {
  return {
    name,
    start: async () => {
      const server = await startRedisServer();
      const proxy = await startTcpProxy(server.port);
      if (atOnce) proxy.mode = mode;
      return {
        client: new Redis({ port: proxy.port, host, lazyConnect: true }),
        begin: async () => {
          proxy.mode = mode;
        },
        end: async () => {
          proxy.mode = "pass";
        },
        stop: async () => {
          await proxy.close();
          await server.stop();
        },
      };
    },
  };
}
