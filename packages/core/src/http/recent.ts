/** Entries of one generation; there are two. */
const mostEntries = 16_384;

/**
 * Remembers what was made of texts that come again and again, such as the addresses of clients. Bounded: when a
 * generation is full it becomes the old one, and the one before is dropped.
 */
export class Recent<V> {
  readonly #make: (text: string) => V;
  #young = new Map<string, V>();
  #old = new Map<string, V>();

  constructor(make: (text: string) => V) {
    this.#make = make;
  }

  of(text: string): V {
    const known = this.#young.get(text);
    if (known !== undefined) return known;
    const value = this.#old.get(text) ?? this.#make(text);
    if (this.#young.size >= mostEntries) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(text, value);
    return value;
  }
}
