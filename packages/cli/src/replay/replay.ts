import type { Clock, KeyBy, Millis } from "@headgate/core";
import { countsEndings } from "@headgate/core/http";
import { inputError } from "../errors.js";
import type { LoggedRequest } from "../reading/request.js";
import { Clients } from "./clients.js";
import type { Column } from "./columns.js";
import type { EndingRule } from "./endings.js";
import { ClientFinder, keyWords, partsOf } from "./identity.js";
import type { Plan } from "./plan.js";
import { Spans } from "./spans.js";
import { Trial } from "./trial.js";

/** Requests after which a field that no line has had is taken for missing. */
const enoughToTell = 10_000;

/** How requests are to be decided. */
export interface ReplayOptions {
  /** The field of each identity part that does not have its name. */
  readonly fields: ReadonlyMap<string, string>;
  readonly endingOf: EndingRule;
  /** Whether to tell failures and successes apart also for policies that do not. */
  readonly tellEndings: boolean;
  /** The most keys of each policy's store, and the most clients that are counted one by one. */
  readonly maxKeys: number;
}

/** All policies that count by one key, and the clients that it tells apart. */
interface KeyGroup {
  readonly by: KeyBy;
  readonly clients: Clients;
  readonly finder: ClientFinder;
  readonly trials: Trial[];
  withoutKey: number;
}

/** The time of the log: where it stands, until the next request moves it. */
class LogClock implements Clock {
  nowMs: Millis = 0;

  now(): Millis {
    return this.nowMs;
  }
}

/** Decides the requests of a log by several policies, each by itself, at the instants that the log tells. */
export class Replay {
  readonly spans: Spans = new Spans();
  readonly groups: readonly KeyGroup[];
  readonly trials: readonly Trial[];
  readonly requestsBySpan: Column = this.spans.column();
  requests = 0;
  firstMs: Millis = Number.NaN;
  readonly #clock = new LogClock();
  readonly #options: ReplayOptions;
  readonly #wantsEndings: boolean;
  #withEnding = 0;

  constructor(plans: readonly Plan[], options: ReplayOptions) {
    const { maxKeys, tellEndings } = options;
    const groups = new Map<string, KeyGroup>();
    this.#options = options;
    this.trials = plans.map((plan) => {
      const key = JSON.stringify(plan.policy.by);
      const group = groups.get(key) ?? keyGroup(plan.policy.by, options);
      groups.set(key, group);
      const trial = new Trial(plan, {
        clock: this.#clock,
        maxKeys,
        clients: group.clients,
        spans: this.spans,
        hasEndings: tellEndings || countsEndings(plan.policy),
      });
      group.trials.push(trial);
      return trial;
    });
    this.groups = [...groups.values()];
    this.#wantsEndings = this.trials.some(({ attempts }) => attempts !== undefined);
  }

  /** The instant of the last request. */
  get lastMs(): Millis {
    return this.#clock.nowMs;
  }

  take(request: LoggedRequest): void {
    const atMs = request.timeMs;
    if (this.requests === 0) this.firstMs = atMs;
    this.requests += 1;
    this.#clock.nowMs = atMs;
    const span = this.spans.at(atMs);
    this.requestsBySpan.increment(span);
    const ending = this.#wantsEndings ? this.#options.endingOf(request) : undefined;
    if (ending !== undefined) this.#withEnding += 1;
    for (const group of this.groups) {
      const client = group.finder.find(request);
      if (client === undefined) {
        group.withoutKey += 1;
        continue;
      }
      group.clients.count(client);
      const arrival = { atMs, request, client, span, ending };
      for (const trial of group.trials) trial.decide(arrival);
    }
    if (this.requests === enoughToTell) this.check(request.fieldNames());
  }

  /**
   * @param fieldNames - those that the lines of the log have
   * @throws CommandError when no request so far has had the key of a policy, or has told how it ended
   */
  check(fieldNames: readonly string[]): void {
    if (this.requests === 0) return;
    const has = `Its lines have: ${fieldNames.join(", ")}.`;
    for (const { by, trials, withoutKey } of this.groups) {
      if (withoutKey < this.requests) continue;
      const part = partsOf(by).find((name) => !fieldNames.includes(name)) ?? partsOf(by)[0];
      throw inputError(
        `${named(trials)} counts by ${keyWords(by)}, which no request of the log has. ${has} Say which of them it is: --field ${part}=NAME`,
      );
    }
    if (!this.#wantsEndings || this.#withEnding > 0) return;
    const wanting = this.trials.filter(({ attempts }) => attempts !== undefined);
    throw inputError(
      `${named(wanting)} needs to know which requests failed, and no request of the log tells. ${has} Say how to tell: --failed NAME=VALUE`,
    );
  }
}

function keyGroup(by: KeyBy, options: ReplayOptions): KeyGroup {
  const clients = new Clients(options.maxKeys);
  const finder = new ClientFinder(by, clients, options);
  return { by, clients, finder, trials: [], withoutKey: 0 };
}

function named(trials: readonly Trial[]): string {
  const names = new Set(trials.map(({ plan }) => `"${plan.policy.name}"`));
  return `policy ${[...names].join(", ")}`;
}
