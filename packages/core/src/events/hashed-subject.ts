import { subjectOf } from "../identity/subject.js";

/**
 * A subject with its values hashed as secret parts are: `user=42` becomes `user=#` and 32 hexadecimal digits. The
 * kinds stay readable.
 */
export function hashedSubject(subject: string): string {
  return subject.split("&").map(hashedPart).join("&");
}

function hashedPart(part: string): string {
  const at = part.indexOf("=");
  const kind = part.slice(0, at);
  const value = part.slice(at + 1);
  // Everybody's subject has no value, and what begins so is hashed already.
  if (value === "" || value.startsWith("#")) return part;
  return subjectOf(kind, { [kind]: value }, new Set([kind])) ?? part;
}
