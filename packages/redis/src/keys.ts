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
