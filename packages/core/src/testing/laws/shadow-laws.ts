import type { Outcome } from "../../store/store.js";
import { answerOf, expectSameAnswer } from "../expectation.js";
import type { ChangingHistory } from "./changes.js";
import type { LawBody } from "./law.js";

/** A history with a shadow policy and one without give the same enforced outcomes. */
export const shadowHasNoSay: LawBody<ChangingHistory> = function* (trial, history) {
  const policy = trial.named("enforced", history.policy);
  const alone = trial.named("alone", history.policy);
  // Not even a ban of the shadow's is felt.
  const penalty = { after: 1 + (history.share % 3), within: "1h", ban: "1h" };
  const banning = history.share % 2 === 0;
  const shadow = trial.named("shadow", {
    ...history.other,
    shadow: true,
    ...(banning && { penalty }),
  });
  const twin = trial.named("twin", history.other);
  for (const move of trial.walk(history)) {
    const charges = [shadow, policy].map((of) => ({ policy: of, subject: "a", cost: move.cost }));
    const [silent, enforced] = yield* trial.apply(charges, move.mode);
    const [expected] = yield* trial.apply(
      [{ policy: alone, subject: "a", cost: move.cost }],
      move.mode,
    );
    expectSameAnswer(answerOf(enforced as Outcome), answerOf(expected as Outcome), "the verdict");
    if (banning) continue;
    // It is charged where both admit, and else only looked at.
    const mode = (enforced as Outcome).allowed ? move.mode : "peek";
    const [own] = yield* trial.apply([{ policy: twin, subject: "a", cost: move.cost }], mode);
    expectSameAnswer(answerOf(silent as Outcome), answerOf(own as Outcome), "the shadow's answer");
  }
};
