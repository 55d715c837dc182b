import { anyChange } from "./changes.js";
import { type Law, lawOf } from "./law.js";
import * as migration from "./migration-laws.js";
import * as penalty from "./penalty-laws.js";
import * as settle from "./settle-laws.js";
import { shadowHasNoSay } from "./shadow-laws.js";
import * as tier from "./tier-laws.js";
import * as version from "./version-laws.js";

/** What policies that go beyond a plain limit must do: tiers, versions, penalties, debt, endings, shadows. */
export function policyLaws(): readonly Law[] {
  const histories = anyChange();
  return [
    lawOf("tiers share one count", histories, tier.tiersShare),
    lawOf("a state expires under the numbers it was written with", histories, tier.tiersExpire),
    lawOf("a refund gives other tiers no more than its due", histories, tier.tiersRefund),
    lawOf("keep, scale and reset say how a state goes on", histories, migration.goesOnByTheRule),
    lawOf("waits are honest after a switch", histories, migration.honestAfterSwitch),
    lawOf("an earlier clock grants nothing more at a switch", histories, migration.earlierSwitch),
    lawOf("a version in a state never goes down", histories, version.versionsGoUp),
    lawOf("two versions side by side keep to their bound", histories, version.twoVersions),
    lawOf("two versions keep to their bound on greedy traffic", histories, version.greedyVersions),
    lawOf(
      "two versions of a queue keep departures apart",
      anyChange("leaky-bucket"),
      version.queuesKeepApart,
    ),
    lawOf(
      "a settled cost takes what capacity and debt have room for",
      histories,
      settle.settledCost,
    ),
    lawOf("its envelope with debts", histories, settle.settledEnvelope),
    lawOf("a decision is corrected once", histories, settle.correctedOnce),
    lawOf("a concluded request counts as its policy says", histories, settle.concluded),
    lawOf("a ban begins with the last strike and ends to the millisecond", histories, penalty.bans),
    lawOf("strikes touch no allowance", histories, penalty.strikesAreApart),
    lawOf("only who refuses counts a refused batch", histories, penalty.batchStrikes),
    lawOf("bans by hand last as long as they were told to", histories, penalty.bansByHand),
    lawOf("a shadow policy has no say", histories, shadowHasNoSay),
  ];
}
