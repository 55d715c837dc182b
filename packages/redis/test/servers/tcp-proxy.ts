import { once } from "node:events";
import { createConnection, createServer, type Socket } from "node:net";

/**
 * What a proxy does with its traffic: passes it on; takes it and never answers; or passes on what a client
 * sends, waits for the server's answer, and breaks the connection instead of handing that over.
 */
export type ProxyMode = "pass" | "swallow" | "drop-replies";

/** A proxy between a client and a server of the test's own. */
export interface TcpProxy {
  readonly port: number;
  mode: ProxyMode;
  /** Answers that were kept from the client. */
  readonly dropped: () => number;
  /** How often a client has begun to send since the server last answered it: round trips, pipelines as one. */
  readonly roundTrips: () => number;
  close(): Promise<void>;
}

/** Listens on a free port and connects each client to a server on `target`. */
export async function startTcpProxy(target: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let [dropped, roundTrips] = [0, 0];
  const server = createServer((client) => {
    const upstream = createConnection({ port: target, host: "127.0.0.1" });
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        if (proxy.mode !== "swallow") other.destroy();
      });
    }
    let waiting = false;
    client.on("data", (data) => {
      if (proxy.mode === "swallow") return;
      if (!waiting) roundTrips += 1;
      waiting = true;
      upstream.write(data);
    });
    upstream.on("data", (data) => {
      if (proxy.mode === "swallow") return;
      waiting = false;
      if (proxy.mode === "pass") client.write(data);
      else {
        dropped += 1;
        client.destroy();
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const proxy: TcpProxy = {
    port: (server.address() as { port: number }).port,
    mode: "pass",
    dropped: () => dropped,
    roundTrips: () => roundTrips,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
  return proxy;
}
