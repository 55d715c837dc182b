/** So many different keys of 16 characters, each one flat string of its own. */
export function keysOf(count) {
  return Array.from({ length: count }, (_, index) => keyAt(index));
}

/** One of these keys. */
export function keyAt(index) {
  // Through bytes, because a joined string would hold on to its parts.
  return Buffer.from(`user:${String(index).padStart(11, "0")}`, "latin1").latin1Slice();
}

/** So many different IPv4 addresses. */
export function addressesOf(count) {
  return Array.from(
    { length: count },
    (_, index) => `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`,
  );
}

/** Gives keys one after the other, again and again. */
export class InOrder {
  #keys;
  #place = 0;

  constructor(keys) {
    this.#keys = keys;
  }

  next() {
    const place = this.#place;
    this.#place = place + 1 === this.#keys.length ? 0 : place + 1;
    return this.#keys[place];
  }
}

/**
 * Gives keys at random, the same ones in every process. They are drawn beforehand, and so many of them that
 * neither a cache nor a branch predictor can learn the order.
 */
export class AtRandom {
  #keys;
  #order;
  #place = 0;

  constructor(keys) {
    this.#keys = keys;
    this.#order = new Uint32Array(2 ** Math.max(20, Math.ceil(Math.log2(keys.length))));
    let state = 1;
    for (let place = 0; place < this.#order.length; place += 1) {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      this.#order[place] = Math.floor((state / 2 ** 32) * keys.length);
    }
  }

  next() {
    this.#place = (this.#place + 1) & (this.#order.length - 1);
    return this.#keys[this.#order[this.#place]];
  }
}
