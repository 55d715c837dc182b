/** Entries of one generation; there are two. */
const mostEntries = 16_384;

/** Longer text is not remembered. */
const longestText = 100;

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
    if (text.length > longestText) return this.#make(text);
    // A text of its own: a part of a header would keep all of the header, as long as a client likes.
    const own = [...text].join("");
    const value = this.#old.get(own) ?? this.#make(own);
    if (this.#young.size >= mostEntries) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(own, value);
    return value;
  }
}
