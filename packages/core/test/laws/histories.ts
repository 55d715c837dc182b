/** How many random histories each law is tried on: 1,000, or what `HEADGATE_HISTORIES` says. */
export const histories: number = Number(process.env.HEADGATE_HISTORIES ?? 1_000);

/** A million histories take minutes for each law. */
export const timeoutMs: number = Math.max(60_000, histories * 20);
