export type { Law, LawOptions } from "./law.js";
export { lawsOf } from "./laws-of.js";
export { type LawSubject, lawSubjects } from "./policies.js";
