export { type InstrumentOptions, instrumentLimiter } from "./instrument.js";
