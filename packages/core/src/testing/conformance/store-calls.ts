import type { HeadgateError } from "../../errors.js";
import type { Policy } from "../../policy/policy.js";
import type { ApplyMode, Charge, Outcome, Store } from "../../store/store.js";
import { expectThat, text } from "../expectation.js";

export function charge(policy: Policy, subject = "client", cost = 1): Charge {
  return { policy, subject, cost };
}

/** Applies one charge and gives its outcome. */
export async function applyOne(
  store: Store,
  one: Charge,
  mode: ApplyMode = "commit",
): Promise<Outcome> {
  const outcomes = await store.apply([one], mode, true);
  expectThat(
    outcomes.length === 1,
    `a batch of one charge has one outcome, got ${outcomes.length}`,
  );
  return outcomes[0] as Outcome;
}

/** What a client has left under a policy. */
export async function remaining(store: Store, policy: Policy, subject?: string): Promise<number> {
  return (await applyOne(store, charge(policy, subject, 0), "peek")).remaining;
}

/** Expects a `HeadgateError` of a code, thrown or as a rejection. */
export async function expectCode(
  code: HeadgateError["code"],
  call: () => unknown,
  what: string,
): Promise<void> {
  let answer: unknown;
  try {
    answer = await call();
  } catch (error) {
    expectThat(
      (error as HeadgateError).name === "HeadgateError" && (error as HeadgateError).code === code,
      `${what}: must fail with ${code}, failed with ${String(error)}`,
    );
    return;
  }
  throw new Error(`${what}: must fail with ${code}, answered ${text(answer)}`);
}
