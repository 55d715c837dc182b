import { checkOptions, invalidOption } from "../errors.js";
import type { Limiter } from "../limiter/limiter.js";
import type { Store } from "../store/store.js";
import { Bursts } from "./bursts.js";
import type { DecisionEvent } from "./event.js";
import { hashedSubject } from "./hashed-subject.js";
import {
  banLine,
  breakerLine,
  type Line,
  type Naming,
  refusalLine,
  shadowLine,
  storeErrorLine,
} from "./lines.js";
import { observe } from "./observe.js";

/** What is needed of a logger: pino's, or any other that takes fields and then a message. */
export interface DecisionLogger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface LogOptions {
  /**
   * How subjects are written: with their values hashed, as they are, or as a function makes them, such as a
   * keyed hash.
   * @default "hashed"
   */
  readonly identities?: "hashed" | "plain" | Naming;
}

const caller = "logDecisions";

/**
 * Writes refusals, those of shadow policies included, as `info`, and bans, store errors and changes of the breaker
 * as `warn`: one line for each cause and second at most. The field `suppressed` of a line tells how many like it
 * were left out since the line before. What the logger throws changes nothing.
 *
 * @returns how to stop; what is held back is written then
 * @throws HeadgateError `INVALID_OPTION`
 */
export function logDecisions<N extends string, S extends Store>(
  limiter: Limiter<N, S>,
  logger: DecisionLogger,
  options: LogOptions = {},
): () => void {
  checkLogger(logger);
  const name = namingOf(options);
  const bursts = new Bursts();
  const add = (level: "info" | "warn", { cause, make }: Line): void => {
    bursts.add(cause, (suppressed) => {
      const { fields, message } = make();
      logger[level](suppressed > 0 ? { ...fields, suppressed } : fields, message);
    });
  };
  const stop = observe(limiter, {
    decision: (event) => {
      for (const line of linesOf(event, name)) add("info", line);
    },
    ban: (event) => add("warn", banLine(event, name)),
    storeError: (event) => add("warn", storeErrorLine(event)),
    breaker: (event) => add("warn", breakerLine(event)),
  });
  return () => {
    stop();
    bursts.end();
  };
}

function linesOf(event: DecisionEvent, name: Naming): readonly Line[] {
  if (event.mode !== "commit") return [];
  const lines = event.outcome === "denied" ? [refusalLine(event, name)] : [];
  if (event.decision.shadows.length === 0) return lines;
  for (const charge of event.charges) {
    const { policy, outcome } = charge;
    if (policy.shadow && outcome?.allowed === false) lines.push(shadowLine(charge, outcome, name));
  }
  return lines;
}

function checkLogger(logger: DecisionLogger): void {
  const { info, warn } = (logger ?? {}) as Partial<DecisionLogger>;
  if (typeof info === "function" && typeof warn === "function") return;
  throw invalidOption(caller, "logger must have methods info and warn", logger);
}

function namingOf(options: LogOptions): Naming {
  checkOptions(caller, options, ["identities"]);
  const { identities = "hashed" } = options;
  if (typeof identities === "function") return identities;
  if (identities === "plain") return (subject) => subject;
  if (identities === "hashed") return hashedSubject;
  throw invalidOption(caller, 'identities must be "hashed", "plain" or a function', identities);
}
