import { createHmac, randomBytes } from "node:crypto";

/** How clients are called in results. */
export interface ClientNames {
  nameOf(subject: string): string;
  readonly hashed: boolean;
}

/** Clients by what they are: addresses and account names that belong to people. */
export const plainNames: ClientNames = { nameOf: (subject) => subject, hashed: false };

/**
 * Clients by a keyed hash, which nobody can turn into an address by trying all of them.
 *
 * @param key - the same key gives the same names; by default, names are good for one run alone
 */
export function hashedNames(key: string | Buffer = randomBytes(16)): ClientNames {
  return {
    nameOf: (subject) =>
      `client-${createHmac("sha256", key).update(subject).digest("hex").slice(0, 12)}`,
    hashed: true,
  };
}
