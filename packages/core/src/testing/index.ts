export { ManualClock, SteppingClock } from "./manual-clock.js";
