/**
 * Adds names to an `Access-Control-Expose-Headers` value: nothing twice, whatever the case; `*` stays
 * as it is.
 */
export function mergeExposed(existing: string, names: readonly string[]): string {
  const exposed = existing
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  if (exposed.includes("*")) return existing;
  const seen = new Set(exposed.map((name) => name.toLowerCase()));
  return [...exposed, ...names.filter((name) => !seen.has(name.toLowerCase()))].join(", ");
}
