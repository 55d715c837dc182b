/** Limits that are tried first: 1, 2, 5, 10, … 10,000. */
const firstLimits = ladder(1, 10_000);
/** Limits that are tried at once between two that are known: few, since each is a limiter at work. */
const atOnce = 5;

/**
 * Looks for the smallest limit that refuses no more than it may, by trying several at once.
 *
 * The more a policy allows, the fewer it refuses: under a higher limit, no client has at any time had fewer requests
 * admitted. That holds for all five algorithms, since a refusal consumes nothing, and so what can be admitted next
 * depends on admissions before it in one direction alone. So the limits in between need not be tried.
 */
export class LimitSearch {
  #tooLow = 0;
  #enough: number | undefined;

  /** The smallest limit that refuses little enough, once nothing is left to try. */
  get answer(): number | undefined {
    return this.#enough;
  }

  /**
   * The limits to try next; none once the answer is known.
   *
   * @param requests - how many requests there are, if that is known: a limit as high refuses none
   */
  next(requests?: number): readonly number[] {
    if (this.#enough !== undefined) return between(this.#tooLow, this.#enough);
    if (this.#tooLow === 0) return firstLimits;
    const highest = Math.max(requests ?? 0, this.#tooLow + 1);
    return [...ladder(this.#tooLow + 1, highest - 1), highest];
  }

  /** Notes whether a limit refuses no more than it may. */
  note(limit: number, isEnough: boolean): void {
    if (!isEnough) this.#tooLow = Math.max(this.#tooLow, limit);
    else if (this.#enough === undefined || limit < this.#enough) this.#enough = limit;
  }
}

/** Whole numbers between two, at equal distances, or at equal ratios where the two are far apart. */
function between(low: number, high: number): readonly number[] {
  const steps = Array.from({ length: atOnce }, (_, index) => (index + 1) / (atOnce + 1));
  const isFar = high > 8 * Math.max(1, low);
  const at = (share: number): number =>
    isFar ? Math.max(1, low) * (high / Math.max(1, low)) ** share : low + (high - low) * share;
  const limits = steps.map((share) => Math.round(at(share)));
  return [...new Set(limits)].filter((limit) => limit > low && limit < high);
}

/** 1, 2 and 5 and their tenfolds, from one number to another. */
function ladder(from: number, to: number): readonly number[] {
  const limits: number[] = [];
  for (let unit = 1; unit <= to; unit *= 10)
    for (const limit of [unit, 2 * unit, 5 * unit])
      if (limit >= from && limit <= to) limits.push(limit);
  return limits;
}
