import type { Clock, Millis } from "../clock.js";
import { type Decision, decisionOf, undecided } from "../decision/decision.js";
import { capacityOf } from "../policy/capacity.js";
import { definePolicy } from "../policy/define.js";
import type { Policy } from "../policy/policy.js";
import { type MemoryStore, memoryStore } from "../store/memory/memory-store.js";
import type { ApplyMode, Charge } from "../store/store.js";

/**
 * Decides while the store fails, by each policy's failure mode: any `closed` one refuses the request,
 * else the `local` ones are enforced in this process, and the `open` ones are left out.
 */
export class DegradedLimits {
  /** What this process counts by itself. */
  readonly store: MemoryStore;
  readonly #localPolicies = new WeakMap<Policy, Policy>();
  readonly #made = new WeakSet<Policy>();

  constructor(clock: Clock) {
    this.store = memoryStore({ clock });
  }

  decide(
    charges: readonly Charge[],
    { mode, wantNext, retryInMs }: { mode: ApplyMode; wantNext: boolean; retryInMs: Millis },
  ): Decision {
    // Policies that are not enforced when the store is well are not enforced now.
    const enforced = charges.filter(({ policy }) => !policy.shadow);
    const closed = enforced.find(({ policy }) => policy.onStoreFailure === "closed");
    if (closed !== undefined)
      return undecided(closed.policy, "closed", {
        reason: "store-failure",
        retryAfterMs: Math.max(1, retryInMs),
      });
    const local = enforced
      .filter(({ policy }) => policy.onStoreFailure === "local")
      .map((charge) => this.#localCharge(charge));
    if (local.length > 0) return decisionOf(this.store.apply(local, mode, wantNext), "local");
    return undecided((enforced[0] ?? (charges[0] as Charge)).policy, "open", {
      reason: "admitted",
      retryAfterMs: 0,
    });
  }

  /** Whether a policy is a part of one that is enforced here. */
  isLocal(policy: Policy): boolean {
    return this.#made.has(policy);
  }

  #localCharge({ policy, subject, cost }: Charge): Charge {
    const local = this.#localPolicy(policy);
    // What fits the whole limit must not be called impossible because this process holds a share of it.
    const fits = cost <= capacityOf(policy);
    return { policy: local, subject, cost: fits ? Math.min(cost, capacityOf(local)) : cost };
  }

  #localPolicy(policy: Policy): Policy {
    let local = this.#localPolicies.get(policy);
    if (local === undefined) {
      local = shareOf(policy);
      this.#localPolicies.set(policy, local);
      this.#made.add(local);
    }
    return local;
  }
}

/**
 * The part of a policy that one process enforces by itself; always at least one request. Even all of it is a policy
 * apart, by which receipts tell where they were made.
 */
function shareOf(policy: Policy): Policy {
  const { localShare } = policy;
  if (localShare === 1) return Object.freeze({ ...policy });
  const part = (value: number): number => Math.max(1, Math.floor(value * localShare));
  const limit = part(policy.limit);
  switch (policy.algorithm) {
    case "token-bucket":
      return definePolicy(policy.name, { ...policy, limit, burst: part(policy.burst) });
    case "leaky-bucket": {
      // A slower queue must still hold nobody longer than the policy allows.
      const holdable = Math.floor((policy.maxDelayMs * limit) / policy.windowMs);
      return definePolicy(policy.name, {
        ...policy,
        limit,
        queue: Math.min(Math.floor(policy.queue * localShare), holdable),
      });
    }
    default:
      return definePolicy(policy.name, { ...policy, limit });
  }
}
