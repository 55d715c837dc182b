import { HeadgateError, subjectOf } from "@headgate/core";

/** What the limiter's subjects look like; they stand in keys as they are. */
const plainSubject = /^[A-Za-z0-9._:@=&%#-]{1,512}$/;

/** How keys are named. */
export interface KeyNaming {
  readonly prefix: string;
  /** One hash tag for all keys, instead of one for each subject. */
  readonly hashTag: string | undefined;
}

/** @throws HeadgateError `INVALID_OPTION` for what would move or hide the hash tag */
export function checkKeyNaming({ prefix, hashTag }: KeyNaming): KeyNaming {
  checkPart("prefix", prefix);
  if (hashTag !== undefined) checkPart("hashTag", hashTag);
  return { prefix, hashTag };
}

/**
 * `prefix:{subject}:policy`: a subject's keys share a slot. Policy names have no colon, so no two pairs share
 * a key. A subject of other characters, or an endless one, is encoded.
 */
export function keyOf({ prefix, hashTag }: KeyNaming, subject: string, policyName: string): string {
  const name = plainSubject.test(subject) ? subject : encoded(subject);
  return hashTag === undefined
    ? `${prefix}:{${name}}:${policyName}`
    : `${prefix}:{${hashTag}}:${name}:${policyName}`;
}

/** The key of a subject's ban, beside that of its state: no policy's name ends like it. */
export function banKeyOf(key: string): string {
  return `${key}!`;
}

/** Whether a subject's keys show it as it is. */
export function showsSubject(subject: string): boolean {
  return plainSubject.test(subject);
}

/** A glob pattern that every key of a ban matches, and few others. */
export function banPatternOf({ prefix, hashTag }: KeyNaming): string {
  return hashTag === undefined
    ? `${asGlob(prefix)}:{*}:*!`
    : `${asGlob(prefix)}:{${asGlob(hashTag)}}:*:*!`;
}

/** Whose ban a key is, the subject as the key shows it; undefined for other keys. */
export function banOfKey(
  { prefix, hashTag }: KeyNaming,
  key: string,
): { readonly subject: string; readonly policyName: string } | undefined {
  const start = hashTag === undefined ? `${prefix}:{` : `${prefix}:{${hashTag}}:`;
  const between = hashTag === undefined ? "}:" : ":";
  const at = key.lastIndexOf(between);
  if (!key.startsWith(start) || !key.endsWith("!") || at < start.length) return undefined;
  return {
    subject: key.slice(start.length, at),
    policyName: key.slice(at + between.length, -1),
  };
}

/** Text as a glob pattern that matches it alone. */
export function asGlob(text: string): string {
  return text.replaceAll(/[*?[\]\\]/g, "\\$&");
}

// The tilde in front keeps it apart from plain subjects; the one within keeps it from being blank.
function encoded(subject: string): string {
  return `~${subjectOf("raw", { raw: `~${subject}` })?.slice("raw=".length)}`;
}

function checkPart(option: string, value: unknown): void {
  if (typeof value === "string" && value !== "" && !/[{}]/.test(value)) return;
  throw new HeadgateError(
    "INVALID_OPTION",
    `redisStore: ${option} must be text without braces, got ${JSON.stringify(value)}`,
  );
}
