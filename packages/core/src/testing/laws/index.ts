// The laws try policies that go beyond plain limits.
import "../../policies/index.js";

export { compositeLaws } from "./composite-laws.js";
export { envelopesOf } from "./envelope-laws.js";
export type { Law, LawOptions } from "./law.js";
export { lawsOf, refundLawsOf } from "./laws-of.js";
export { type LawSubject, lawSubjects } from "./policies.js";
export { policyLaws } from "./policy-laws.js";
