import {
  type Clock,
  createLimiter,
  type Decision,
  type Limiter,
  type MemoryStore,
  type Millis,
  memoryStore,
  type Policy,
} from "@headgate/core";
import { awaitsEnding, conclude } from "@headgate/core/policies";
import type { LoggedRequest } from "../reading/request.js";
import { Attempts } from "./attempts.js";
import type { Client, Clients } from "./clients.js";
import type { Column } from "./columns.js";
import type { Ending } from "./endings.js";
import type { Plan } from "./plan.js";
import { Routes, routeOf } from "./routes.js";
import type { Spans } from "./spans.js";

/** One request as all trials of one key see it. */
export interface Arrival {
  readonly atMs: Millis;
  readonly request: LoggedRequest;
  readonly client: Client;
  readonly span: number;
  readonly ending: Ending;
}

/** What a trial needs of its surroundings. */
interface TrialOptions {
  readonly clock: Clock;
  readonly maxKeys: number;
  readonly clients: Clients;
  readonly spans: Spans;
  /** Whether it is known how requests ended. */
  readonly hasEndings: boolean;
}

/** A wait, and the request that it was for. */
export interface Wait {
  readonly ms: Millis;
  readonly atMs: Millis;
}

/** One policy with a limiter and a store of its own, and what it did with the requests so far. */
export class Trial {
  readonly plan: Plan;
  readonly clients: Clients;
  readonly refusedByClient: Column;
  readonly refusedBySpan: Column;
  readonly routes: Routes = new Routes();
  readonly attempts: Attempts | undefined;
  readonly #limiter: Limiter<string, MemoryStore>;
  readonly #policy: Policy;
  readonly #maxKeys: number;
  requests = 0;
  refused = 0;
  banned = 0;
  held = 0;
  longestWait: Wait | undefined;
  longestHold: Wait | undefined;
  /** Whether the store ever held as many keys as it may, so that it may have had to forget a client. */
  storeWasFull = false;

  constructor(plan: Plan, { clock, maxKeys, clients, spans, hasEndings }: TrialOptions) {
    const { policy } = plan;
    const store = memoryStore({ clock, maxKeys });
    this.plan = plan;
    this.clients = clients;
    this.#limiter = createLimiter({ policies: { [policy.name]: policy }, store });
    this.#policy = this.#limiter.policies[policy.name] as Policy;
    this.#maxKeys = maxKeys;
    this.refusedByClient = clients.column();
    this.refusedBySpan = spans.column();
    if (hasEndings) this.attempts = new Attempts(clients);
  }

  decide(arrival: Arrival): void {
    const { client, atMs, ending } = arrival;
    const { subject } = client;
    const decision = this.#limiter.decide([{ policy: this.#policy, subject, cost: 1 }]);
    this.requests += 1;
    // Before the clock goes on, as if each request were answered at once.
    if (awaitsEnding(decision)) conclude(this.#limiter, decision, ending ?? "abandoned");
    const refused = !decision.allowed;
    if (ending !== undefined) this.attempts?.count(client, { ending, refused, atMs });
    if (refused) this.#refuse(decision, arrival);
    else if (decision.delayMs > 0) this.#hold({ ms: decision.delayMs, atMs });
    if (this.#limiter.store.size >= this.#maxKeys) this.storeWasFull = true;
  }

  #refuse(decision: Decision, { atMs, request, client, span }: Arrival): void {
    this.refused += 1;
    if (client.row !== undefined) this.refusedByClient.increment(client.row);
    this.refusedBySpan.increment(span);
    this.routes.count(routeOf(request));
    if (decision.reason === "ban") this.banned += 1;
    const ms = decision.retryAfterMs;
    if (ms > (this.longestWait?.ms ?? 0)) this.longestWait = { ms, atMs };
  }

  #hold(wait: Wait): void {
    this.held += 1;
    if (wait.ms > (this.longestHold?.ms ?? 0)) this.longestHold = wait;
  }
}
