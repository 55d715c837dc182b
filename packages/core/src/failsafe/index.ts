export { failsafe } from "./failsafe.js";
