import { extend } from "../extension.js";
import { carryOver } from "./carry-over.js";
import { roomFor } from "./debt.js";
import { BansInMemory } from "./memory-bans.js";
import { refundInMemory } from "./memory-refunds.js";
import { extendedFaults, resolveExtended } from "./rules.js";
import { variantOf } from "./variants.js";

// Whatever imports this entry has policies that go beyond a plain limit.
extend({
  faults: extendedFaults,
  resolve: resolveExtended,
  variant: variantOf,
  carryOver,
  room: roomFor,
  refund: refundInMemory,
  memoryBans: (tables, clock) => new BansInMemory(tables, clock),
});

export { awaitsEnding, conclude, type Ending } from "./conclude.js";
export { ban, bans, peekAll, unban } from "./operate.js";
export { refund, settle } from "./settle.js";
