// SHA-256 (FIPS 180-4), at once and without Node: the platform's own digest is either a Node module or a
// promise, and a library weighs a quarter of this package.

const rounds = 64;
const initial: readonly number[] = rootBits(8, 1 / 2);
let constants: readonly number[] | undefined;

/** The SHA-256 digest of some bytes, as 64 hexadecimal digits. */
export function sha256(bytes: Uint8Array): string {
  constants ??= rootBits(rounds, 1 / 3);
  const state = [...initial];
  const blocks = padded(bytes);
  for (let offset = 0; offset < blocks.byteLength; offset += 64)
    compress(state, blocks, { offset, constants });
  return state.map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}

/** The message, a 1 bit, zeros, and its length in bits: whole blocks of 64 bytes. */
function padded(bytes: Uint8Array): DataView {
  const blocks = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64);
  blocks.set(bytes);
  blocks[bytes.length] = 0x80;
  const view = new DataView(blocks.buffer);
  view.setBigUint64(blocks.length - 8, BigInt(bytes.length) * 8n);
  return view;
}

function compress(
  state: number[],
  view: DataView,
  { offset, constants }: { offset: number; constants: readonly number[] },
): void {
  const schedule: number[] = [];
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let round = 0; round < rounds; round += 1) {
    const before = (back: number): number => schedule[round - back] as number;
    const word =
      round < 16
        ? view.getInt32(offset + 4 * round)
        : (mix(before(2), 17, 19) ^ (before(2) >>> 10)) +
          before(7) +
          (mix(before(15), 7, 18) ^ (before(15) >>> 3)) +
          before(16);
    schedule.push(word | 0);
    const one =
      h +
      (mix(e, 6, 11) ^ rotated(e, 25)) +
      ((e & f) ^ (~e & g)) +
      (constants[round] as number) +
      (word | 0);
    const two = (mix(a, 2, 13) ^ rotated(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    [a, b, c, d, e, f, g, h] = [(one + two) | 0, a, b, c, (d + one) | 0, e, f, g];
  }
  for (const [index, word] of [a, b, c, d, e, f, g, h].entries())
    state[index] = ((state[index] as number) + word) | 0;
}

function mix(word: number, one: number, two: number): number {
  return rotated(word, one) ^ rotated(word, two);
}

function rotated(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

/** The first 32 bits of the fractional parts of the roots of the first primes. */
function rootBits(count: number, exponent: number): readonly number[] {
  const primes: number[] = [];
  for (let candidate = 2; primes.length < count; candidate += 1) {
    if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate);
  }
  return primes.map((prime) => ((prime ** exponent % 1) * 2 ** 32) | 0);
}
