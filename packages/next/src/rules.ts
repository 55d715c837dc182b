import { type Cost, HeadgateError, type Identity } from "@headgate/core";
import type { MaybePromise } from "@headgate/core/http";
import type { NextRequest } from "next/server.js";
import { pathForms, pathMatcher } from "./path.js";

/** What requests a proxy limits, and how. */
export interface ProxyRule<N extends string> {
  /**
   * Paths in the syntax of `config.matcher`, such as `/api/:path*`, without the base path and the locale.
   * Every spelling of a path that reaches the same handler matches alike.
   */
  readonly path: string | readonly string[];
  /**
   * The methods that are limited; `GET` means `HEAD` too.
   * @default every method
   */
  readonly methods?: readonly string[];
  readonly policies: readonly [N, ...N[]];
  /**
   * What a request costs under this rule's policies. A policy that several matching rules name costs the
   * largest of theirs.
   * @default 1
   */
  readonly cost?: Cost<N> | ((request: NextRequest) => MaybePromise<Cost<N>>);
  /**
   * Who asks, by identity parts that only these paths have, such as `{ account: … }`. Of parts with one name
   * the first matching rule's stands, before the shared option's.
   */
  readonly identify?: (request: NextRequest) => MaybePromise<Identity | undefined>;
}

interface CompiledRule<N extends string> extends ProxyRule<N> {
  matches(request: NextRequest, paths: readonly string[]): boolean;
}

/** The rules of a proxy: all that match a request apply to it, as one decision. */
export class RuleBook<N extends string> {
  readonly #rules: readonly CompiledRule<N>[];
  readonly #matching = new WeakMap<NextRequest, readonly CompiledRule<N>[]>();

  /** @throws HeadgateError `INVALID_OPTION` naming the rule */
  constructor(rules: readonly ProxyRule<N>[]) {
    if (!Array.isArray(rules) || rules.length === 0) {
      throw invalid("rateLimitProxy: rules must be a list of rules");
    }
    this.#rules = rules.map((rule, index) => compileRule(rule, index));
  }

  /** The policies of a request, in the order in which the rules name them; `false` where none does. */
  policiesOf(request: NextRequest): readonly N[] | false {
    const names = new Set(this.#matchingRules(request).flatMap(({ policies }) => policies));
    return names.size === 0 ? false : [...names];
  }

  /** The pattern of the first rule that names one of some policies for a request; undefined when none does. */
  routeOf(request: NextRequest, isOne: (name: N) => boolean): string | undefined {
    const rule = this.#matchingRules(request).find(({ policies }) => policies.some(isOne));
    return [rule?.path].flat()[0];
  }

  async costOf(request: NextRequest): Promise<Cost<N>> {
    const costs: Record<string, unknown> = {};
    for (const { policies, cost = 1 } of this.#matchingRules(request)) {
      const price: unknown = typeof cost === "function" ? await cost(request) : cost;
      for (const name of policies) costs[name] = larger(costs[name], priceOf(price, name));
    }
    return costs as Cost<N>;
  }

  async identityOf(request: NextRequest): Promise<Identity> {
    let identity: Identity = {};
    for (const { identify } of this.#matchingRules(request)) {
      if (identify !== undefined) identity = { ...(await identify(request)), ...identity };
    }
    return identity;
  }

  #matchingRules(request: NextRequest): readonly CompiledRule<N>[] {
    const known = this.#matching.get(request);
    if (known !== undefined) return known;
    const paths = pathForms(request.nextUrl.pathname);
    const rules = this.#rules.filter((rule) => rule.matches(request, paths));
    this.#matching.set(request, rules);
    return rules;
  }
}

const known = ["path", "methods", "policies", "cost", "identify"];

function compileRule<N extends string>(rule: ProxyRule<N>, index: number): CompiledRule<N> {
  const option = `rateLimitProxy: rules[${index}]`;
  if (typeof rule !== "object" || rule === null) throw invalid(`${option}: must be a rule`);
  const unknown = Object.keys(rule).find((name) => !known.includes(name));
  if (unknown !== undefined) throw invalid(`${option}.${unknown}: there is no option of that name`);
  if (!Array.isArray(rule.policies)) throw invalid(`${option}.policies: must be a list of names`);
  if (!["function", "undefined"].includes(typeof rule.identify))
    throw invalid(`${option}.identify: must be a function`);
  const matchesPath = pathMatcher(`${option}.path`, rule.path);
  const methods = rule.methods && methodsOf(`${option}.methods`, rule.methods);
  return {
    ...rule,
    matches: ({ method }, paths) => (methods?.has(method) ?? true) && paths.some(matchesPath),
  };
}

function methodsOf(option: string, methods: readonly string[]): ReadonlySet<string> {
  const valid = Array.isArray(methods) && methods.length > 0;
  if (!valid || methods.some((method) => typeof method !== "string" || !/^[A-Z]+$/.test(method)))
    throw invalid(`${option}: must be methods such as ["POST"]`);
  return new Set(methods.includes("GET") ? [...methods, "HEAD"] : methods);
}

function invalid(message: string): HeadgateError {
  return new HeadgateError("INVALID_OPTION", message);
}

function priceOf(price: unknown, name: string): unknown {
  if (typeof price !== "object" || price === null) return price;
  return Object.hasOwn(price, name) ? ((price as Record<string, unknown>)[name] ?? 1) : 1;
}

/** A wrong price stays wrong, for the guard to report. */
function larger(a: unknown, b: unknown): unknown {
  if (a === undefined) return b;
  if (!isCost(a)) return a;
  return isCost(b) ? Math.max(a, b) : b;
}

function isCost(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
