import { HeadgateError } from "@headgate/core";

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

/** `prefix:{subject}:policy`: a subject's keys share a slot. Policy names have no colon, so no two pairs share a key. */
export function keyOf({ prefix, hashTag }: KeyNaming, subject: string, policyName: string): string {
  return hashTag === undefined
    ? `${prefix}:{${subject}}:${policyName}`
    : `${prefix}:{${hashTag}}:${subject}:${policyName}`;
}

function checkPart(option: string, value: unknown): void {
  if (typeof value === "string" && value !== "" && !/[{}]/.test(value)) return;
  throw new HeadgateError(
    "INVALID_OPTION",
    `redisStore: ${option} must be text without braces, got ${JSON.stringify(value)}`,
  );
}
