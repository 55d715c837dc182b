import { sha256 } from "../identity/sha256.js";

const encoder = new TextEncoder();

/** A subject with its values hashed: `user=42` becomes `user=#` and 32 hexadecimal digits. The kinds stay readable. */
export function hashedSubject(subject: string): string {
  return subject.split("&").map(hashedPart).join("&");
}

function hashedPart(part: string): string {
  const at = part.indexOf("=") + 1;
  const value = part.slice(at);
  // Nothing (everybody's subject), or hashed already.
  if (value === "" || value.startsWith("#")) return part;
  return `${part.slice(0, at)}#${sha256(encoder.encode(value)).slice(0, 32)}`;
}
