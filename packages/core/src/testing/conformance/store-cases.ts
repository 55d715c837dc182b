import type { StoreCase } from "../store-under-test.js";
import { banCases } from "./ban-cases.js";
import { batchCases } from "./batch-cases.js";
import { keyCases } from "./key-cases.js";
import { outcomeCases } from "./outcome-cases.js";
import { policyCases } from "./policy-cases.js";
import { refundCases } from "./refund-cases.js";
import { versionCases } from "./version-cases.js";

/**
 * What every store must do, whatever keeps its counts. A test file runs them all in two lines, in any runner:
 *
 * ```ts
 * for (const { name, run } of conformanceCases)
 *   test(name, () => run((clock) => memoryStore({ clock })));
 * ```
 *
 * Beside these, a store answers the worked examples (`vectorCases`) and obeys the laws (`@headgate/core/testing/laws`).
 */
export const conformanceCases: readonly StoreCase[] = [
  ...outcomeCases,
  ...batchCases,
  ...refundCases,
  ...keyCases,
  ...policyCases,
  ...versionCases,
  ...banCases,
];
