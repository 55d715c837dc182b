import { show } from "../errors.js";
import type { Identity } from "../identity/subject.js";
import { variantOf } from "../policies/variants.js";
import type { Policy } from "../policy/policy.js";
import type { Charge } from "../store/store.js";
import { warnOnce } from "../warnings.js";
import { after, afterAll } from "./after.js";
import { costOf, isCost } from "./cost.js";
import type { MaybePromise, ResolvedOptions } from "./options.js";
import { isQueue, tooManyQueues } from "./selection.js";

/** On which terms a policy charges a caller: with the caller's numbers, and for how much. */
export interface Terms {
  readonly policy: Policy;
  readonly cost: number;
}

/** Why there are no terms: the application gave a value that nothing can be counted by, or chose two queues. */
export type NoTerms = "wrong-cost" | "wrong-limits" | "two-queues";

/** What the application's functions say of one request. */
interface Answers {
  readonly price: unknown;
  readonly tier: unknown;
  /** In the order of the policies. */
  readonly numbers: readonly unknown[];
}

/** What the application's options say of the terms of a request. What its functions throw is thrown. */
export class TermsReader<Request, N extends string> {
  readonly #options: ResolvedOptions<Request, N>;
  /** What is said where there is no function to ask. */
  readonly #constant: Answers | undefined;
  /** The terms by that of the policies that came last: mostly the same ones come again. */
  #last: { policies: readonly Policy[]; terms: readonly (Terms | NoTerms)[] } | undefined;

  constructor(options: ResolvedOptions<Request, N>) {
    const { cost, tier, limits } = options;
    this.#options = options;
    const asks = typeof cost === "function" || tier !== undefined || limits !== undefined;
    this.#constant = asks ? undefined : { price: cost, tier: undefined, numbers: [] };
  }

  /** The terms of each policy, in order. */
  read(
    request: Request,
    identity: Identity,
    policies: readonly Policy[],
  ): MaybePromise<readonly (Terms | NoTerms)[]> {
    if (this.#constant !== undefined) return this.#constantTerms(policies, this.#constant);
    const { cost, tier, limits } = this.#options;
    const tiered = policies.some(({ tiers }) => tiers !== undefined);
    const answers = afterAll<unknown>([
      typeof cost === "function" ? cost(request) : cost,
      tiered ? tier?.(request) : undefined,
      ...policies.map(({ name }) =>
        limits !== undefined && Object.hasOwn(limits, name)
          ? limits[name as N]?.(identity, request)
          : undefined,
      ),
    ]);
    return after(answers, ([price, given, ...numbers]) =>
      termsOf(policies, { price, tier: given, numbers }),
    );
  }

  #constantTerms(policies: readonly Policy[], answers: Answers): readonly (Terms | NoTerms)[] {
    if (this.#last?.policies !== policies)
      this.#last = { policies, terms: termsOf(policies, answers) };
    return this.#last.terms;
  }
}

/** The terms of a policy beside what the request is charged already: of several queues it can wait in the first. */
export function termsBeside(
  charges: readonly Charge[],
  policy: Policy,
  terms: Terms | NoTerms,
): Terms | NoTerms {
  if (!isQueue(policy)) return terms;
  const first = charges.find((made) => isQueue(made.policy) && made.policy.name !== policy.name);
  if (first === undefined) return terms;
  warnOnce(
    "HEADGATE_QUEUES",
    `${tooManyQueues([first.policy, policy])}; the onStoreFailure of "${policy.name}" applies`,
  );
  return "two-queues";
}

function termsOf(
  policies: readonly Policy[],
  { price, tier, numbers }: Answers,
): readonly (Terms | NoTerms)[] {
  return policies.map((policy, index) => {
    const variant = variantFor(policy, tier, numbers[index]);
    const cost = costFor(policy, price);
    if (variant === undefined) return "wrong-limits";
    return cost === undefined ? "wrong-cost" : { policy: variant, cost };
  });
}

/** The policy with the caller's numbers; where the application gives rubbish, what the failure mode makes of it. */
function variantFor(policy: Policy, tier: unknown, numbers: unknown): Policy | undefined {
  if (tier === undefined && numbers === undefined) return policy;
  const variant = variantOf(policy, { tier, numbers } as Parameters<typeof variantOf>[1]);
  if (typeof variant !== "string") return variant;
  warnOfRubbish(policy, numbers === undefined ? "HEADGATE_TIER" : "HEADGATE_LIMITS", variant);
  return policy.onStoreFailure === "local" ? policy : undefined;
}

function costFor(policy: Policy, price: unknown): number | undefined {
  const cost = costOf(policy, price);
  if (isCost(cost)) return cost;
  warnOfRubbish(policy, "HEADGATE_COST", `cost must be an integer from 0, got ${show(cost)}`);
  return policy.onStoreFailure === "local" ? 1 : undefined;
}

function warnOfRubbish({ name }: Policy, code: string, what: string): void {
  warnOnce(code, `policy "${name}": ${what}; the policy's onStoreFailure applies`);
}
