import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { Redis } from "ioredis";

/** A local REST front of a Redis server, as far as `@upstash/redis` speaks with one. */
export interface HttpBridge {
  readonly url: string;
  readonly token: string;
  /** Requests that came in. */
  readonly requests: () => number;
  close(): Promise<void>;
}

/** Serves single commands at `/` and pipelines at `/pipeline`, text encoded in base64 when it is asked for. */
export async function startHttpBridge(port: number): Promise<HttpBridge> {
  const redis = new Redis({ port, host: "127.0.0.1" });
  const token = "secret";
  let requests = 0;
  const server = createServer(async (request, response) => {
    requests += 1;
    if (request.headers.authorization !== `Bearer ${token}`) {
      response.writeHead(401).end(JSON.stringify({ error: "Unauthorized" }));
      return;
    }
    const encode = request.headers["upstash-encoding"] === "base64" ? inBase64 : asItIs;
    const body: unknown = JSON.parse(await bodyOf(request));
    const run = async ([name, ...args]: readonly string[]) => {
      try {
        return { result: encode(await redis.call(String(name), ...args.map(String))) };
      } catch (error) {
        return { error: (error as Error).message };
      }
    };
    const piped = request.url === "/pipeline";
    const answer = piped
      ? await Promise.all((body as string[][]).map(run))
      : await run(body as string[]);
    const failed = !piped && "error" in answer;
    response.writeHead(failed ? 400 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(answer));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port: httpPort } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${httpPort}`,
    token,
    requests: () => requests,
    close: async () => {
      redis.disconnect();
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request) body += String(chunk);
  return body;
}

function asItIs(value: unknown): unknown {
  return value;
}

function inBase64(value: unknown): unknown {
  if (typeof value === "string") return Buffer.from(value).toString("base64");
  return Array.isArray(value) ? value.map(inBase64) : value;
}
