import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";

/** What the load generator saw of a request. */
export interface Seen {
  readonly route: string;
  readonly status: number;
  readonly degraded: string;
}

/** Several clients that send one request after the other over HTTP, and count what they see. */
export class Load {
  readonly seen: Seen[] = [];
  /** Who the clients say they are, in front of a number. */
  users = "user";
  readonly #port: number;
  readonly #routes: readonly string[];
  readonly #agent = new Agent({ keepAlive: true });
  #clients: readonly Promise<void>[] = [];
  #running = false;
  #sent = 0;

  constructor(port: number, routes: readonly string[]) {
    this.#port = port;
    this.#routes = routes;
  }

  start(clients: number): void {
    this.#running = true;
    this.#clients = Array.from({ length: clients }, () => this.#client());
  }

  /** Ends once every request that was sent is answered. */
  async pause(): Promise<void> {
    this.#running = false;
    await Promise.all(this.#clients);
  }

  close(): void {
    this.#agent.destroy();
  }

  async #client(): Promise<void> {
    while (this.#running) {
      const route = this.#routes[this.#sent % this.#routes.length] as string;
      const user = `${this.users}${this.#sent % 7}`;
      this.#sent += 1;
      this.seen.push(await this.#send(route, user));
    }
  }

  async #send(route: string, user: string): Promise<Seen> {
    const outgoing = request({
      host: "127.0.0.1",
      port: this.#port,
      path: `/${route}`,
      agent: this.#agent,
      headers: { "x-user": user },
    }).end();
    const [response] = (await once(outgoing, "response")) as [IncomingMessage];
    response.resume();
    await once(response, "end");
    return {
      route,
      status: response.statusCode ?? 0,
      degraded: String(response.headers["x-degraded"]),
    };
  }
}
