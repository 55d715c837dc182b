import { ownValue } from "../own-value.js";
import type { KeyBy, KeyParts } from "../policy/policy.js";
import { sha256 } from "./sha256.js";

/** Who is asking, by parts that the application names: `{ ip: "203.0.113.7", user: "42" }`. */
export type Identity = Readonly<Record<string, string | undefined>>;

/** Longest encoded value that stands in a subject as it is; longer ones are hashed. */
const longestValue = 64;
const plainValue = /^[A-Za-z0-9._:@-]{1,64}$/;
const otherCharacter = /[^A-Za-z0-9._:@-]/gu;
const loneSurrogate = /^[\ud800-\udfff]$/;
const encoder = new TextEncoder();

/**
 * The subject that a policy's key names: `kind=value` of each part joined by `&`, or `global=`.
 * Different identities never share a subject, whatever characters they hold; a subject stays short
 * whatever the length of a value.
 *
 * @param secret - parts whose value must not be readable in the store
 * @returns undefined when a part that the key needs is missing, blank or not a string
 */
export function subjectOf(
  by: KeyBy,
  identity: Identity,
  secret?: ReadonlySet<string>,
): string | undefined {
  if (typeof by === "string" || !("firstOf" in by)) return subjectOfParts(by, identity, secret);
  for (const parts of by.firstOf) {
    const subject = subjectOfParts(parts, identity, secret);
    if (subject !== undefined) return subject;
  }
  return undefined;
}

function subjectOfParts(
  parts: KeyParts,
  identity: Identity,
  secret: ReadonlySet<string> | undefined,
): string | undefined {
  if (typeof parts === "string") {
    if (parts === "global") return "global=";
    const value = encodedValue(identity, parts, secret);
    return value === undefined ? undefined : `${parts}=${value}`;
  }
  const pairs: string[] = [];
  for (const part of parts) {
    const value = encodedValue(identity, part, secret);
    if (value === undefined) return undefined;
    pairs.push(`${part}=${value}`);
  }
  return pairs.join("&");
}

function encodedValue(
  identity: Identity,
  part: string,
  secret: ReadonlySet<string> | undefined,
): string | undefined {
  const value: unknown = ownValue(identity, part);
  if (typeof value !== "string") return undefined;
  const hidden = secret?.has(part) === true;
  if (!hidden && plainValue.test(value)) return value;
  if (value.trim() === "") return undefined;
  // Before it is encoded: a client must not make that as dear as its value is long.
  if (hidden || value.length > longestValue) return digest(value);
  const encoded = value.replace(otherCharacter, percentEncode);
  return encoded.length > longestValue ? digest(value) : encoded;
}

function percentEncode(character: string): string {
  // Half a surrogate pair has no bytes: TextEncoder would make all of them equal.
  if (loneSurrogate.test(character))
    return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return Array.from(
    encoder.encode(character),
    (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`,
  ).join("");
}

/** 128 bits of SHA-256, marked as a digest. As JSON, because half a surrogate pair has no bytes of its own. */
function digest(text: string): string {
  return `#${sha256(encoder.encode(JSON.stringify(text))).slice(0, 32)}`;
}
