import type { Millis } from "../clock.js";
import type { Decision } from "../decision/decision.js";
import { HeadgateError, show } from "../errors.js";
import type { Identity } from "../identity/subject.js";
import type { Cost } from "../limiter/limiter.js";
import type { PolicyNumbers } from "../policy/policy.js";
import type { PolicyOverride } from "./selection.js";
import type { StandardHeaders } from "./standard-fields.js";

/** A value now or later. */
export type MaybePromise<T> = T | PromiseLike<T>;

/** What to do with a request that lacks the key its policy counts by. */
export type MissingKeyRule = "ip" | "shared" | "allow" | "deny";

/** Makes the body of a refusal. The fields are set before; the headers given here are set after them. */
export type RefusalBody<Request> = (
  decision: Decision,
  context: {
    readonly request: Request;
    readonly message: string;
    readonly retryAfterSeconds: number | undefined;
  },
) => {
  readonly contentType: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Options that a limiter's mounts share, and that each mount may set for itself. */
export interface GuardOptions<Request, N extends string = string> {
  /** Who asks: identity parts such as `{ user: request.user?.id }`. Asked only when a policy's key, the limits of a policy or the allow list need more than the address. */
  readonly identify?: (request: Request) => MaybePromise<Identity | undefined>;
  /**
   * What a request costs: a number, numbers by policy name, or a function giving either.
   * @default 1
   */
  readonly cost?: Cost<N> | ((request: Request) => MaybePromise<Cost<N>>);
  /** The caller's tier, for policies that have tiers. Without one a policy's own numbers count. */
  readonly tier?: (request: Request) => MaybePromise<string | undefined>;
  /** The caller's own numbers under a policy, such as those of a plan kept in a database, by all that `identify` tells. They go before a tier. */
  readonly limits?: {
    readonly [Name in N]?: (
      identity: Identity,
      request: Request,
    ) => MaybePromise<PolicyNumbers | undefined>;
  };
  /**
   * Policies that apply beside those that a mount names, as one decision with them.
   * @default none
   */
  readonly inherit?: readonly NoInfer<N>[];
  /** What a mount has instead of policies that it inherits: another one, or `false` for none. */
  readonly override?: PolicyOverride<NoInfer<N>>;
  /** The pattern of the mount's route, such as `"/items/:id"`, for policies that count by `"route"`. */
  readonly route?: string;
  /** Requests that are not limited at all, or not by one policy: they are not counted, and carry no fields. */
  readonly skip?:
    | ((request: Request) => MaybePromise<boolean>)
    | { readonly [Name in N]?: (request: Request) => MaybePromise<boolean> };
  /** Clients that are never limited: addresses and ranges under `ip`, values of other identity parts under their names. */
  readonly allow?: Readonly<Record<string, readonly string[]>>;
  /**
   * What happens to a request without the key its policy counts by: counted by its address (`"ip"`), in one
   * bucket with all others (`"shared"`), let through (`"allow"`), or refused with 403 (`"deny"`).
   * @default "ip"
   */
  readonly onMissingKey?: MissingKeyRule;
  /**
   * IPv6 clients are told apart by the first so many bits of their address, from 32 to 128.
   * @default 56
   */
  readonly ipv6Prefix?: number;
  /**
   * `false` lets every request through uncounted: for tests.
   * @default true
   */
  readonly enabled?: boolean;
  /**
   * Whether CORS preflights are counted.
   * @default false
   */
  readonly countPreflights?: boolean;
  /**
   * Whether responses carry the three fields.
   * @default true
   */
  readonly headers?: boolean;
  /**
   * What the names of the three fields begin with.
   * @default "X-RateLimit"
   */
  readonly headerPrefix?: string;
  /**
   * The IETF draft's fields, by the revision that they follow.
   * @default false
   */
  readonly standardHeaders?: false | StandardHeaders;
  /**
   * Whether scripts of other origins may read the fields.
   * @default false
   */
  readonly exposeHeaders?: boolean;
  /**
   * The status of a refusal, from 400 to 599.
   * @default 429
   */
  readonly status?: number;
  /**
   * The body of a refusal: `{ error }`, problem details, or what a function makes.
   * @default "json"
   */
  readonly body?: "json" | "problem" | RefusalBody<Request>;
  /** Told of every decision once its fields are known. A listener that throws changes nothing. */
  readonly onDecision?: (decision: Decision, request: Request) => void;
  /**
   * The clock that epoch fields are counted from; it should be the one that sets `Date`.
   * @default Date.now
   */
  readonly wallClock?: () => Millis;
}

/** Options that have a default, resolved. */
export type ResolvedOptions<Request, N extends string> = Required<
  Omit<GuardOptions<Request, N>, OptionWithoutDefault>
> &
  Pick<GuardOptions<Request, N>, OptionWithoutDefault>;

type OptionWithoutDefault =
  | "identify"
  | "tier"
  | "limits"
  | "route"
  | "skip"
  | "allow"
  | "onDecision";

const defaults = {
  cost: 1,
  inherit: [],
  override: {},
  onMissingKey: "ip",
  ipv6Prefix: 56,
  enabled: true,
  countPreflights: false,
  headers: true,
  headerPrefix: "X-RateLimit",
  standardHeaders: false,
  exposeHeaders: false,
  status: 429,
  body: "json",
  wallClock: Date.now,
} as const;

type Rule = readonly [test: (value: unknown) => boolean, says: string];

const isFunction = (value: unknown): boolean => typeof value === "function";
const isObject = (value: unknown): boolean =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.every((text) => typeof text === "string");
const aFunction: Rule = [isFunction, "must be a function"];
const aBoolean: Rule = [(value) => typeof value === "boolean", "must be true or false"];
const oneOf = (...values: readonly unknown[]): Rule => [
  (value) => values.includes(value),
  `must be one of ${values.map(show).join(", ")}`,
];
const integerFrom = (from: number, to: number): Rule => [
  (value) => Number.isInteger(value) && (value as number) >= from && (value as number) <= to,
  `must be an integer from ${from} to ${to}`,
];

const functionsByName = (value: unknown): boolean =>
  isObject(value) && Object.values(value as object).every(isFunction);

const rules: Readonly<Record<string, Rule>> = {
  identify: aFunction,
  tier: aFunction,
  limits: [functionsByName, "must be functions by policy name"],
  inherit: [isTexts, "must be a list of policy names"],
  override: [
    (value) =>
      isObject(value) &&
      Object.values(value as object).every((to) => to === false || typeof to === "string"),
    "must be policy names, or false, by policy name",
  ],
  route: [(value) => typeof value === "string" && value !== "", "must be a route's pattern"],
  cost: [
    (value) => typeof value === "number" || isFunction(value) || isObject(value),
    "must be a number, numbers by policy name, or a function",
  ],
  skip: [
    (value) => isFunction(value) || functionsByName(value),
    "must be a function, or functions by policy name",
  ],
  allow: [
    (value) => isObject(value) && Object.values(value as object).every(isTexts),
    "must be lists of texts by identity part",
  ],
  onMissingKey: oneOf("ip", "shared", "allow", "deny"),
  ipv6Prefix: integerFrom(32, 128),
  enabled: aBoolean,
  countPreflights: aBoolean,
  headers: aBoolean,
  headerPrefix: [(value) => typeof value === "string", "must be text"],
  standardHeaders: oneOf(false, "draft-11"),
  exposeHeaders: aBoolean,
  status: integerFrom(400, 599),
  body: [
    (value) => value === "json" || value === "problem" || isFunction(value),
    'must be "json", "problem" or a function',
  ],
  onDecision: aFunction,
  wallClock: aFunction,
};

/**
 * Options with their defaults.
 *
 * @throws HeadgateError `INVALID_OPTION` naming the option, its rule and the value
 */
export function resolveOptions<Request, N extends string>(
  options: GuardOptions<Request, N>,
): ResolvedOptions<Request, N> {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
    if (rule === undefined)
      throw new HeadgateError("INVALID_OPTION", `${name}: there is no option of that name`);
    if (!rule[0](value))
      throw new HeadgateError("INVALID_OPTION", `${name}: ${rule[1]}, got ${show(value)}`);
  }
  const given = Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== undefined),
  );
  return { ...defaults, ...given } as unknown as ResolvedOptions<Request, N>;
}
