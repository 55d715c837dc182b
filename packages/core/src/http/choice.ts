import type { Limiter } from "../limiter/limiter.js";
import { policyNamed } from "../limiter/named.js";
import { countsEndings } from "../policies/conclude.js";
import type { Policy } from "../policy/policy.js";
import { after, afterAll } from "./after.js";
import { type Needs, needsOf } from "./caller.js";
import { checkConstantCost } from "./cost.js";
import { checkMounted } from "./mounted.js";
import type { MaybePromise, ResolvedOptions } from "./options.js";
import {
  checkSelection,
  chosenNames,
  inheritedNames,
  namesIn,
  type PolicySelection,
  together,
} from "./selection.js";

/** What is known of the limiter's policies until they are replaced. */
interface Known<N extends string> {
  readonly policies: Readonly<Record<N, Policy>>;
  /** The policies of a mount that has always the same, and what they need. */
  readonly fixed: readonly Policy[] | undefined;
  readonly needs: Needs;
  /** Whether it matters to one of the policies how a request goes. */
  readonly awaitsEndings: boolean;
}

/** Chooses the policies of requests, by name, among those that the limiter has at the time. */
export class PolicyChoice<Request, N extends string> {
  readonly #limiter: Pick<Limiter<N>, "policies">;
  readonly #selection: PolicySelection<Request, N>;
  readonly #options: ResolvedOptions<Request, N>;
  readonly #inherited: readonly N[];
  #known: Known<N>;

  /** @throws HeadgateError `UNKNOWN_POLICY` or `INVALID_OPTION` for what can never work */
  constructor(
    limiter: Pick<Limiter<N>, "policies" | "replacePolicies">,
    selection: PolicySelection<Request, N>,
    options: ResolvedOptions<Request, N>,
  ) {
    const { cost, skip, limits, inherit, override } = options;
    this.#limiter = limiter;
    this.#selection = selection;
    this.#options = options;
    this.#inherited = inheritedNames(inherit, override);
    this.#known = this.#learn();
    const { fixed } = this.#known;
    if (fixed !== undefined)
      checkMounted(
        limiter,
        fixed.map(({ name }) => name as N),
        checkSelection,
      );
    for (const byName of [cost, skip, limits])
      for (const name of namesIn<N>(byName)) this.#policy(name);
    for (const name of [...inherit, ...this.#inherited]) this.#policy(name);
    const met = fixed ?? Object.values<Policy>(limiter.policies);
    if (typeof cost !== "function") checkConstantCost(cost, met, fixed !== undefined);
  }

  /** The policies of a request: the very same list for all of them where a mount has always the same. */
  of(request: Request): MaybePromise<readonly Policy[]> {
    const { fixed } = this.#current();
    const { skip } = this.#options;
    if (fixed !== undefined && typeof skip !== "object") return fixed;
    const selected =
      typeof this.#selection === "function" ? this.#selection(request) : this.#selection;
    return after(selected, (chosen) => {
      const own = chosen === false ? [] : chosenNames(chosen);
      const names = together(this.#inherited, own);
      return after(this.#withoutSkipped(names, request), (kept) =>
        kept.map((name) => this.#policy(name)),
      );
    });
  }

  /** What a list that was chosen needs to know of a request. */
  needsOf(policies: readonly Policy[]): Needs {
    const { fixed, needs } = this.#known;
    return policies === fixed ? needs : needsOf(policies, this.#options.limits);
  }

  get awaitsEndings(): boolean {
    return this.#known.awaitsEndings;
  }

  #current(): Known<N> {
    if (this.#known.policies !== this.#limiter.policies) this.#known = this.#learn();
    return this.#known;
  }

  #learn(): Known<N> {
    const { policies } = this.#limiter;
    const names = typeof this.#selection === "function" ? undefined : this.#selection;
    const fixed =
      names === undefined
        ? undefined
        : together(this.#inherited, names).map((name) => this.#policy(name));
    const met = fixed ?? Object.values<Policy>(policies);
    return {
      policies,
      fixed,
      needs: needsOf(met, this.#options.limits),
      awaitsEndings: met.some(countsEndings),
    };
  }

  #withoutSkipped(names: readonly N[], request: Request): MaybePromise<readonly N[]> {
    const { skip } = this.#options;
    if (typeof skip !== "object") return names;
    const verdicts = afterAll(names.map((name) => skip[name]?.(request) ?? false));
    return after(verdicts, (skipped) => names.filter((_, index) => skipped[index] !== true));
  }

  #policy(name: N): Policy {
    return policyNamed(this.#limiter.policies, name);
  }
}
