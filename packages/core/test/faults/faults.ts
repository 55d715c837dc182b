import type { LawSubject } from "../../src/testing/laws/index.js";

/** A mistake to make in a copy of the source: the law that must tell, and under which algorithm. */
export interface Fault {
  readonly name: string;
  /** The source file, below `src`. */
  readonly file: string;
  /** Text that the file holds exactly once. */
  readonly text: string;
  readonly instead: string;
  readonly law: string;
  /** The algorithm that the law is tried with; none for a law of several policies together. */
  readonly subject?: LawSubject;
}

type Mistake = readonly [name: string, text: string, instead: string, law: string];

const undo = "a refund at once undoes the charge";
const lateRefund = "a late refund changes nothing";
const earlierRefund = "refunding an earlier charge takes out that one";
const greedyTraffic = "its envelope on greedy traffic";
const used = "keep, scale and reset say how a state goes on";
const settles = "a settled cost takes what capacity and debt have room for";
const banned = "a ban begins with the last strike and ends to the millisecond";
const part = "a part given back is a smaller charge";
const corrected = "a decision is corrected once";
const concluded = "a concluded request counts as its policy says";
const byHand = "bans by hand last as long as they were told to";
const batchStrikes = "only who refuses counts a refused batch";
const inTurns = "two versions side by side keep to their bound";
const inGreedyTurns = "two versions keep to their bound on greedy traffic";
const goesUp = "a version in a state never goes down";
const randomTraffic = "its envelope on random traffic";

export const faults: readonly Fault[] = [
  ...inAlgorithm("fixed-window", [
    ["refuses the last one", "used + cost <= limit", "used + cost < limit", "honest remaining"],
    ["admits one too many", "used + cost <= limit", "used + cost <= limit + 1", randomTraffic],
    [
      "refuses a look at a full key",
      "cost === 0 || used + cost <= limit",
      "used + Math.max(1, cost) <= limit",
      "peek",
    ],
    [
      "keeps a window one instant too long",
      "now < state.startMs + policy.windowMs",
      "now <= state.startMs + policy.windowMs",
      "honest wait",
    ],
    [
      "takes no window for live",
      "now < state.startMs + policy.windowMs",
      "now < state.startMs",
      randomTraffic,
    ],
    [
      "forgets the window for an earlier clock",
      "now < state.startMs + policy.windowMs",
      "now >= state.startMs && now < state.startMs + policy.windowMs",
      "clock steps",
    ],
    ["sets the count", "state.count += cost", "state.count = cost", "additive"],
    ["counts calls, not costs", "state.count += cost", "state.count += 1", "additive"],
    [
      "tells an untouched key to wait",
      "resetMs: used > 0 ? endMs - now : 0",
      "resetMs: endMs - now",
      "honest reset",
    ],
    [
      "rounds the wait up to a second",
      ": endMs - now,\n      resetMs",
      ": Math.ceil((endMs - now) / 1000) * 1000,\n      resetMs",
      "honest wait",
    ],
    [
      "waits for what can never fit",
      "cost > limit ? Infinity : endMs - now",
      "endMs - now",
      "never is never",
    ],
    [
      "reports one too many as remaining",
      "remaining: Math.max(0, limit - used)",
      "remaining: Math.max(0, limit - used + 1)",
      "honest remaining",
    ],
    [
      "expires one instant too early",
      "state.startMs + policy.windowMs : 0",
      "state.startMs + policy.windowMs - 1 : 0",
      "forgettable",
    ],
    ["never expires", "state.startMs + policy.windowMs : 0", "Infinity : 0", "forgettable"],
    [
      "anchors clock windows at a request",
      'policy.anchor === "clock"',
      'policy.anchor !== "clock"',
      "same everywhere",
    ],
    [
      "refunds into a later window",
      "if (state.startMs === receipt.mark)",
      "if (state.startMs >= receipt.mark)",
      lateRefund,
    ],
    [
      "refunds one, whatever was taken",
      "state.count - (receipt.part ?? receipt.cost))",
      "state.count - 1)",
      undo,
    ],
  ]),
  ...inAlgorithm(
    "fixed-window",
    [
      [
        "puts anchored windows on the grid",
        'policy.anchor === "clock"',
        'policy.anchor !== "none"',
        "same everywhere",
      ],
      [
        "lets each call open a window",
        "if (liveWindow(policy, state, now) === undefined)",
        "",
        "same everywhere",
      ],
    ],
    "fixed-window-first-request",
  ),
  ...inAlgorithm("sliding-window", [
    [
      "counts a stamp for one instant too long",
      "log.unitsAfter(instant - windowMs)",
      "log.unitsAfter(instant - windowMs - 1)",
      "honest wait",
    ],
    [
      "counts a stamp for one instant too short",
      "log.unitsAfter(instant - windowMs)",
      "log.unitsAfter(instant - windowMs + 1)",
      randomTraffic,
    ],
    [
      "waits for the oldest unit alone",
      "log.units - used + excess)",
      "log.units - used + 1)",
      "honest wait",
    ],
    ["finds the wait among expired units", "log.units - used + excess)", "excess)", "honest wait"],
    [
      "stamps with an earlier clock",
      "const at = Math.max(now, log.newest);",
      "const at = now;",
      "clock steps",
    ],
    [
      "drops units that still count",
      "log.dropThrough(at - policy.windowMs)",
      "log.dropThrough(at - 1)",
      randomTraffic,
    ],
    [
      "resets with the oldest unit",
      "log.newest + windowMs - now : 0",
      "log.stampOfUnit(log.units - used + 1) + windowMs - now : 0",
      "honest reset",
    ],
    [
      "expires one instant too early",
      "log.newest + policy.windowMs : 0",
      "log.newest + policy.windowMs - 1 : 0",
      "forgettable",
    ],
    [
      "refunds the newest stamp",
      "log.take(receipt.at, receipt.part ?? receipt.cost)",
      "log.take(log.newest, receipt.cost)",
      earlierRefund,
    ],
  ]),
  ...inFile("algorithms/stamp-log.ts", "sliding-window", [
    [
      "forgets how much was dropped",
      "this.#dropped = this.#totalBefore(kept);",
      "",
      "same everywhere",
    ],
    [
      "keeps totals of what was taken back",
      "this.#totalAt(from) - taken;",
      "this.#totalAt(from);",
      earlierRefund,
    ],
    [
      "keeps old totals in a new ring",
      "this.#totalAt(index) - this.#dropped;\n    }",
      "this.#totalAt(index);\n    }",
      "same everywhere",
    ],
    [
      "never starts totals afresh",
      "this.#dropped > largestDropped",
      "this.#dropped < 0",
      greedyTraffic,
    ],
    ["finds the unit before", "- this.#dropped >= n)", "- this.#dropped >= n - 1)", "honest wait"],
  ]),
  ...inAlgorithm("sliding-window-counter", [
    ["refuses at the exact weight", "weighed <= (limit", "weighed < (limit", "honest remaining"],
    [
      "rounds the weight down",
      "Math.ceil(weighed / windowMs)",
      "Math.floor(weighed / windowMs)",
      "honest remaining",
    ],
    [
      "weighs the share that is over",
      "windowMs - (instant % windowMs)",
      "1 + (instant % windowMs)",
      "same everywhere",
    ],
    [
      "forgets the previous window",
      "const weighed = previous * restMs",
      "const weighed = 0 * restMs",
      randomTraffic,
    ],
    [
      "rounds the wait in this window down",
      "Math.ceil((previous * restMs",
      "Math.floor((previous * restMs",
      "honest wait",
    ],
    [
      "rounds the wait in the next window down",
      "Math.ceil((current * windowMs",
      "Math.floor((current * windowMs",
      "honest wait",
    ],
    [
      "passes before the next window begins",
      "Math.max(0, intoNextMs)",
      "intoNextMs",
      "honest wait",
    ],
    ["resets a window too early", "lateMs + windowMs + restMs", "lateMs + restMs", "honest reset"],
    [
      "expires a window too early",
      "startMs + 2 * policy.windowMs",
      "startMs + policy.windowMs",
      "forgettable",
    ],
    [
      "counts a window that is long over",
      "index === state.index - 1 ? state.previous : 0",
      "state.previous",
      "same everywhere",
    ],
    [
      "forgets to move the count on",
      "state.previous = countOf(state, index - 1);",
      "",
      "same everywhere",
    ],
    [
      "lets an earlier clock open a window",
      ": Math.max(now, state.index * policy.windowMs)",
      ": now",
      "clock steps",
    ],
    [
      "refunds nothing of the previous window",
      "else if (receipt.mark === state.index - 1)",
      "else if (receipt.mark === -1)",
      earlierRefund,
    ],
    [
      "refunds the previous window from the current one",
      "state.previous = Math.max(0, state.previous - (receipt.part ?? receipt.cost));",
      "state.current = Math.max(0, state.current - receipt.cost);",
      earlierRefund,
    ],
  ]),
  ...inAlgorithm("token-bucket", [
    ["refuses the last token", "excess <= 0;", "excess < 0;", "honest remaining"],
    [
      "rounds remaining up",
      "Math.floor((full - owed) / windowMs)",
      "Math.ceil((full - owed) / windowMs)",
      "honest remaining",
    ],
    [
      "rounds the wait down",
      "Math.ceil(excess / limit)",
      "Math.floor(excess / limit)",
      "honest wait",
    ],
    [
      "waits one millisecond too long",
      "Math.ceil(excess / limit)",
      "(Math.floor(excess / limit) + 1)",
      "honest wait",
    ],
    [
      "rounds the reset down",
      "Math.ceil(owed / limit)",
      "Math.floor(owed / limit)",
      "honest reset",
    ],
    [
      "forgets by how much the clock is behind",
      "retryAfterMs: allowed ? 0 : lateMs +",
      "retryAfterMs: allowed ? 0 :",
      "clock steps",
    ],
    [
      "spends one token, whatever the cost",
      "+ cost * policy.windowMs;",
      "+ policy.windowMs;",
      "additive",
    ],
    [
      "forgets when it last refilled",
      "+ cost * policy.windowMs;\n    state.atMs = at;",
      "+ cost * policy.windowMs;",
      "same everywhere",
    ],
    ["waits for what can never fit", "cost > burst ? Infinity : owed", "owed", "never is never"],
    [
      "refunds what has come back by itself",
      "if (instantOf(state, now) - receipt.at >= refillMs) return;",
      "",
      lateRefund,
    ],
    [
      "refunds one token, whatever was taken",
      "(receipt.part ?? receipt.cost) * policy.windowMs",
      "policy.windowMs",
      undo,
    ],
  ]),
  ...inFile("algorithms/owed.ts", "token-bucket", [
    ["reads an earlier clock as it is", ": Math.max(now, state.atMs)", ": now", "clock steps"],
    [
      "refills at one unit a millisecond",
      "state.units - elapsedMs * limit",
      "state.units - elapsedMs",
      "same everywhere",
    ],
    [
      "refills beyond what is owed",
      "elapsedMs >= Math.ceil(state.units / limit)",
      "elapsedMs > Math.ceil(state.units / limit)",
      "honest reset",
    ],
    [
      "expires before all is repaid",
      "state.atMs + Math.ceil(state.units / limit)",
      "state.atMs + Math.floor(state.units / limit)",
      "forgettable",
    ],
  ]),
  ...inAlgorithm("leaky-bucket", [
    [
      "counts the departing one as waiting",
      "owed + (cost - 1) * windowMs - longest",
      "owed + cost * windowMs - longest",
      "honest remaining",
    ],
    ["refuses the last place", "excess <= 0;", "excess < 0;", "the envelope that is reached"],
    [
      "lets one more wait",
      "const longest = queue * windowMs",
      "const longest = (queue + 1) * windowMs",
      randomTraffic,
    ],
    ["holds nobody", "delayMs: allowed && cost > 0 ? slotMs : 0", "delayMs: 0", randomTraffic],
    [
      "holds looks too",
      "delayMs: allowed && cost > 0 ? slotMs : 0",
      "delayMs: slotMs",
      "same everywhere",
    ],
    [
      "lets go one millisecond early",
      "const slotMs = Math.ceil(owed / limit)",
      "const slotMs = Math.floor(owed / limit)",
      "same everywhere",
    ],
    [
      "forgets the departing one in remaining",
      "Math.floor((longest - owed) / windowMs) + 1",
      "Math.floor((longest - owed) / windowMs)",
      "honest remaining",
    ],
    [
      "takes the capacity for too much",
      "cost > queue + 1 ? Infinity",
      "cost > queue ? Infinity",
      "never is never",
    ],
    [
      "takes one place, whatever the cost",
      "+ cost * policy.windowMs;",
      "+ policy.windowMs;",
      "additive",
    ],
    ["gives back a slot with others behind it", "if (undisturbed && ", "if (", lateRefund],
    [
      "gives back a slot that was used",
      "undisturbed && instantOf(state, now) <= departureMs",
      "undisturbed",
      lateRefund,
    ],
    [
      "gives back no slot",
      "state.units = receipt.mark - (receipt.part ?? receipt.cost) * policy.windowMs;",
      "state.atMs = receipt.at;",
      undo,
    ],
  ]),
  ...inFile("store/memory/memory-store.ts", "token-bucket", [
    [
      "charges refused calls",
      'mode === "commit" && met.allowed && !banned',
      'mode === "commit" && !banned',
      "refusal is free",
    ],
    [
      "commits a peek",
      "this.#decide(first, call);",
      'this.#decide(first, { ...call, mode: "commit" });',
      "peek",
    ],
    [
      "reports what was left before the call",
      "after = algorithm.measure(policy, state, now, 0);",
      "",
      "same everywhere",
    ],
    [
      "asks for the wait of what is left",
      "remaining + 1).retryAfterMs",
      "remaining).retryAfterMs",
      "same everywhere",
    ],
    [
      "hands out one live record",
      "return banned ?",
      "const live = (this as { live?: object }).live ?? ((this as { live?: object }).live = {});\n    if (!banned) return Object.assign(live, outcome) as Outcome;\n    return banned ?",
      "snapshots",
    ],
  ]),
  ...inFile("policies/memory-refunds.ts", "token-bucket", [
    [
      "keeps what was refunded",
      "if (!emptied) table.save(slot, state, keeper);",
      "if (!emptied) return;",
      undo,
    ],
    [
      "creates a key to refund to",
      "if (slot === undefined || keeper",
      "if (slot === undefined) tables.keep({ table, slot, state: undefined, keeper: policy }, table.untouched(), subject, now);\n  if (slot === undefined || keeper",
      "a refund never recreates a key",
    ],
  ]),
  ...inFile("store/memory/memory-store.ts", "sliding-window", [
    ["writes at cost 0", "if (cost > 0 && (settles", "if (cost >= 0 && (settles", "peek"],
  ]),
  ...inFile("store/memory/policy-table.ts", "token-bucket", [
    [
      "folds the spelling of subjects",
      "return this.#slots.get(subject);",
      "return this.#slots.get(subject.normalize());",
      "isolated",
    ],
    [
      "loses the state that moves into a gap",
      "this.save(slot, this.load(last), this.keeperOf(last));",
      "",
      "isolated",
    ],
    [
      "shares one state among subjects",
      "slot * columns.width);\n    return",
      "0);\n    return",
      "isolated",
    ],
  ]),
  ...inFile("store/memory/housekeeper.ts", "fixed-window", [
    [
      "sweeps one instant too early",
      ".expiresAt(this.#sweptSlot) <= now",
      ".expiresAt(this.#sweptSlot) <= now + 1",
      "forgettable",
    ],
    [
      "sweeps nothing",
      ".expiresAt(this.#sweptSlot) <= now",
      ".expiresAt(this.#sweptSlot) < 0",
      "forgettable",
    ],
  ]),
  ...inFile("store/memory/memory-store.ts", undefined, [
    [
      "charges the admitting ones of a refused batch",
      "looks.some(({ allowed, policy }) => !allowed && !policy.shadow)",
      "looks.every(({ allowed, policy }) => !allowed && !policy.shadow)",
      "refused charges nobody",
    ],
    [
      "commits a peeked batch",
      'mode: "peek", wantNext, write: false',
      'mode: mode === "peek" ? "commit" : "peek", wantNext, write: false',
      "admitted together iff admitted by each",
    ],
  ]),
  ...inFile("policies/migration.ts", undefined, [
    ["scales downwards", "rest > 0 ? quotient + 1 : quotient", "quotient", used],
    ["scales where it should keep", 'rule === "scale" ?', 'rule !== "reset" ?', used],
    ["forgets at every switch", 'if (rule === "reset")', "if (true)", used],
    ["migrates again and again", "highest < version", "highest !== version", inTurns],
    [
      "charges at an earlier clock what it switches",
      "Math.max(now, heldInstant(old, state))",
      "now",
      "an earlier clock grants nothing more at a switch",
    ],
    ["moves the next free slot", "resetMs * policy.limit", "resetMs * old.limit", used],
    ["forgets what exceeds a capacity", "enlarged(old, spare(old))", "old", goesUp],
    ["scales by the first bits alone", "bit >= 1; bit", "bit >= 8; bit", used],
    [
      "charges more than is exact",
      "Math.min(units, mostUsed(policy))",
      "Math.min(units, capacityOf(policy))",
      goesUp,
    ],
  ]),
  ...inFile("policies/carry-over.ts", undefined, [
    [
      "leaves a converted state as it was",
      "|| !write) return entry;",
      "|| true) return entry;",
      "waits are honest after a switch",
    ],
    [
      "forgives again before what was forgiven would have ended",
      'rule === "keep" ? 0 : endsAt',
      "0",
      inGreedyTurns,
    ],
    [
      "takes another tier for another state",
      "if (sameForm(held, policy))",
      "if (false)",
      "tiers share one count",
    ],
    [
      "goes on with what has expired",
      "if (endsAt <= now)",
      "if (endsAt < 0)",
      "a state expires under the numbers it was written with",
    ],
  ]),
  ...inFile("policies/kept-policy.ts", undefined, [
    ["lets a version go down", "if (highest <= policy.version)", "if (true)", inTurns],
    [
      "takes what a lower version has written for a higher one's",
      "Object.freeze({ ...policy, highest })",
      "Object.freeze({ ...policy, version: highest })",
      "two versions of a queue keep departures apart",
    ],
  ]),
  ...inFile("policies/memory-refunds.ts", undefined, [
    ["forgets a version with what it counted", "highest === 1 ||", "true ||", inGreedyTurns],
  ]),
  ...inFile("policies/debt.ts", undefined, [
    ["allows no debt", "enlarged(policy, policy.debt)", "enlarged(policy, 0)", settles],
    ["takes what was asked", "Math.min(cost, table", "Math.max(cost, table", settles],
    ["allows a queue no debt", "policy.queue + units", "policy.queue", settles],
    [
      "allows a bucket twice the debt",
      "policy.burst + units",
      "policy.burst + 2 * units",
      "its envelope with debts",
    ],
  ]),
  ...inFile("policies/settle.ts", undefined, [
    ["settles the whole cost on top", "more -= receipt.cost", "more -= 0", corrected],
    [
      "gives back all that was paid",
      "refunds.push({ ...receipt, part })",
      "refunds.push(receipt)",
      corrected,
    ],
    ["gives nothing back", "if (more >= 0) break;", "break;", corrected],
  ]),
  ...inFile("policies/receipts.ts", undefined, [
    [
      "uses a receipt again and again",
      "for (const receipt of receipts) used.add(receipt);",
      "",
      corrected,
    ],
  ]),
  ...inFile("policies/conclude.ts", undefined, [
    [
      "gives back what is counted",
      'success: "failures", failure: "successes"',
      'success: "successes", failure: "failures"',
      concluded,
    ],
    ["gives back what was abandoned", "abandoned: undefined", 'abandoned: "failures"', concluded],
    ["clears at every ending", 'ending === "success" && policy.count', "policy.count", concluded],
    ["strikes who succeeds", 'ending !== "success" && made', "made", concluded],
  ]),
  ...inFile("policies/ban-algorithm.ts", undefined, [
    [
      "bans one strike too late",
      "state.count >= policy.after",
      "state.count > policy.after",
      banned,
    ],
    ["never forgets a strike", "now >= state.startMs + policy.withinMs", "false", banned],
  ]),
  ...inFile("policies/memory-bans.ts", undefined, [
    ["strikes those who are banned", "if (state.untilMs <= now) ban", "ban", banned],
    [
      "ends a ban one millisecond early",
      "load(slot).untilMs - now)",
      "load(slot).untilMs - now - 1)",
      banned,
    ],
    [
      "admits under a ban",
      "allowed: outcome.allowed && spared,",
      "allowed: outcome.allowed,",
      banned,
    ],
    [
      "tells the shorter wait",
      "retryAfterMs: spared ? retryAfterMs : Math.max(",
      "retryAfterMs: spared ? retryAfterMs : Math.min(",
      banned,
    ],
    [
      "keeps strikes beside a ban by hand",
      "now + forMs;\n      state.count = 0;",
      "now + forMs;",
      byHand,
    ],
    ["lets every ban go on", "if (keepBan && this", "if (this", byHand],
    ["lists bans that have ended", "if (endsInMs <= 0) continue;", "", byHand],
    [
      "strikes refusals that do not count",
      '.on !== "refusals" ||',
      '.on === "failures" ||',
      byHand,
    ],
    [
      "tells no instant for an untouched subject",
      "nextMs: !wantNext ? undefined",
      "nextMs: !wantNext || nextMs === 0 ? undefined",
      banned,
    ],
  ]),
  ...inFile("store/memory/memory-store.ts", undefined, [
    [
      "lets a shadow policy refuse",
      "!allowed && !policy.shadow",
      "!allowed",
      "a shadow policy has no say",
    ],
    [
      "strikes a shadow that an enforced one refused",
      "(refused && charge.policy.shadow)",
      "false",
      batchStrikes,
    ],
    [
      "strikes all of a refused batch",
      "return met.allowed || (refused",
      "return (met.allowed && !refused) || (refused",
      batchStrikes,
    ],
  ]),
  ...inAlgorithm("token-bucket", [
    ["gives back all of a charge", "(receipt.part ?? receipt.cost)", "receipt.cost", part],
  ]),
  ...inFile("algorithms/token-bucket.ts", undefined, [
    [
      "writes at a refund what one tier has got back",
      "state.units = Math.max(0, state.units -",
      "state.units = owedAt(state, policy.limit, instantOf(state, now));\n    state.atMs = instantOf(state, now);\n    state.units = Math.max(0, state.units -",
      "a refund gives other tiers no more than its due",
    ],
  ]),
  ...inAlgorithm("fixed-window", [
    [
      "gives back all of a charge",
      "state.count - (receipt.part ?? receipt.cost)",
      "state.count - receipt.cost",
      part,
    ],
  ]),
  ...inAlgorithm("sliding-window", [
    ["gives back all of a charge", "receipt.part ?? receipt.cost", "receipt.cost", part],
  ]),
  ...inAlgorithm("sliding-window-counter", [
    [
      "gives back all of a charge",
      "state.current - (receipt.part ?? receipt.cost)",
      "state.current - receipt.cost",
      part,
    ],
  ]),
  ...inAlgorithm("leaky-bucket", [
    ["gives back all of a charge", "(receipt.part ?? receipt.cost)", "receipt.cost", part],
  ]),
  ...inFile("decision/decision.ts", undefined, [
    [
      "reports the shortest wait",
      "outcome.retryAfterMs > than.retryAfterMs",
      "outcome.retryAfterMs < than.retryAfterMs",
      "the wait is the longest of the refusing policies",
    ],
    [
      "decides by the first policy alone",
      "if (tighter(outcome, reported))",
      "if (tighter(outcome, reported) && index < 0)",
      "the order of the policies changes no verdict",
    ],
  ]),
  ...inFile("limiter/charges.ts", undefined, [
    [
      "keeps the smaller cost of a policy named twice",
      "charge.cost > (merged",
      "charge.cost < (merged",
      "one policy and subject twice is one charge of the larger cost",
    ],
  ]),
];

function inAlgorithm(
  algorithm: LawSubject,
  mistakes: readonly Mistake[],
  subject: LawSubject = algorithm,
): readonly Fault[] {
  return inFile(`algorithms/${algorithm}.ts`, subject, mistakes);
}

function inFile(
  file: string,
  subject: LawSubject | undefined,
  mistakes: readonly Mistake[],
): readonly Fault[] {
  return mistakes.map(([name, text, instead, law]) => ({
    name,
    file,
    text,
    instead,
    law,
    ...(subject === undefined ? {} : { subject }),
  }));
}
