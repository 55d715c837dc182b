// Adapters serve policies that go beyond plain limits.
import "../policies/index.js";

export { countsEndings, type Ending } from "../policies/conclude.js";
export { canonicalAddress, clientOfAddress } from "./address.js";
export { after } from "./after.js";
export { countsByRoute } from "./caller.js";
export { mergeExposed } from "./cors.js";
export {
  checkedSucceeded,
  concludeAtEnd,
  type EndingResponse,
  endingOf,
  isSuccess,
} from "./ending.js";
export type { Field } from "./fields.js";
export { type AddressReader, type AddressSource, addressFrom } from "./forwarded.js";
export { Guard, type RequestReader } from "./guard.js";
export { Holds } from "./hold.js";
export { checkMounted, type MountCheck } from "./mounted.js";
export { isOver, type NodeResponse, writePlan } from "./node-response.js";
export {
  type GuardOptions,
  type MaybePromise,
  type MissingKeyRule,
  type RefusalBody,
  type ResolvedOptions,
  resolveOptions,
} from "./options.js";
export type { ContinuePlan, RejectPlan, ResponsePlan } from "./plan.js";
export { RequestRecord, recordOf } from "./record.js";
export { inheritedNames, type PolicyOverride, type PolicySelection } from "./selection.js";
export type { StandardHeaders } from "./standard-fields.js";
