import { Column } from "./columns.js";

/** A client: the subject that a policy counts, and its row in all columns. */
export interface Client {
  readonly subject: string;
  /** Undefined for one outside the sample. */
  row: number | undefined;
  /** How often the sample had been thinned out when the row was given. */
  bits: number;
}

/**
 * Counts requests and refusals of each client, in bounded memory.
 *
 * While there are no more clients than it holds, all counts are exact. Beyond, it keeps a sample: the clients whose hash
 * ends in a number of zero bits, every second one at first. A client is in the sample from its first request on or
 * not at all, so the counts of those kept stay exact, and numbers of clients are told as estimates.
 */
export class Clients {
  readonly #mostClients: number;
  readonly #rows = new Map<string, number>();
  readonly #columns: Column[] = [];
  readonly requests: Column;
  #bits = 0;

  constructor(mostClients: number) {
    this.#mostClients = mostClients;
    this.requests = this.column();
  }

  /** Each client that is held stands for so many; 1 while all are held. */
  get weight(): number {
    return 2 ** this.#bits;
  }

  /** The clients that are held, with their rows. */
  held(): Iterable<[subject: string, row: number]> {
    return this.#rows;
  }

  /** How many clients there are: all that are held, times what each stands for. */
  get size(): number {
    return this.#rows.size * this.weight;
  }

  /** Another number for each client, 0 at first. */
  column(): Column {
    const column = new Column();
    this.#columns.push(column);
    return column;
  }

  /** A client by its subject, for `count`. */
  client(subject: string): Client {
    return { subject, row: undefined, bits: -1 };
  }

  /** Counts a request of a client, and gives the client its row. */
  count(client: Client): void {
    if (client.bits !== this.#bits) {
      client.row = this.#rowOf(client.subject);
      client.bits = this.#bits;
    }
    if (client.row !== undefined) this.requests.increment(client.row);
  }

  /** How many clients have more than 0 in a column: an estimate where they are a sample. */
  withAny(column: Column): number {
    let clients = 0;
    for (const row of this.#rows.values()) if (column.get(row) > 0) clients += 1;
    return clients * this.weight;
  }

  #rowOf(subject: string): number | undefined {
    const known = this.#rows.get(subject);
    if (known !== undefined) return known;
    if (!this.#isSampled(subject)) return undefined;
    if (this.#rows.size >= this.#mostClients) {
      this.#thinOut();
      return this.#rowOf(subject);
    }
    const row = this.#rows.size;
    this.#rows.set(subject, row);
    return row;
  }

  #isSampled(subject: string): boolean {
    return this.#bits === 0 || hash(subject) % this.weight === 0;
  }

  #thinOut(): void {
    this.#bits += 1;
    const kept = [...this.#rows].filter(([subject]) => this.#isSampled(subject));
    for (const column of this.#columns) column.keep(kept.map(([, row]) => row));
    this.#rows.clear();
    for (const [subject] of kept) this.#rows.set(subject, this.#rows.size);
  }
}

/** FNV-1a with the finish of MurmurHash3, so that the low bits depend on all characters. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1)
    value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
