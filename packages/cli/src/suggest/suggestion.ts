import type { AlgorithmName, KeyBy, Millis, Policy } from "@headgate/core";
import type { InputResult, KeyResult, Part, Performance } from "../replay/result.js";

/** What is asked: the smallest limit under which at most `share` of the clients or requests is refused. */
export interface Question {
  readonly by: KeyBy;
  readonly windowMs: Millis;
  readonly share: number;
  readonly of: "clients" | "requests";
  readonly algorithms: readonly AlgorithmName[];
}

/** What a limit would have refused. */
export interface CurvePoint {
  readonly limit: number;
  readonly requests: Part;
  readonly clients: Part;
}

/** The smallest limit of one algorithm, what it would have refused, and all limits that were tried. */
export interface Suggestion extends CurvePoint {
  readonly policy: Policy;
  readonly curve: readonly CurvePoint[];
}

/** Everything that `suggest` found out, as `--json` prints it. */
export interface SuggestResult {
  readonly input: InputResult;
  readonly question: Question;
  readonly key: KeyResult;
  readonly suggestions: readonly Suggestion[];
  readonly performance: Performance;
}
