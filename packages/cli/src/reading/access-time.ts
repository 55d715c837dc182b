import type { Millis } from "@headgate/core";

const monthNames = "JanFebMarAprMayJunJulAugSepOctNovDec";
const dayMs = 86_400_000;
const [zero, nine, plus, minus] = [0x30, 0x39, 0x2b, 0x2d];

/** The length of `17/May/2015:10:05:03 +0000`. */
export const accessTimeLength = 26;

/** Reads the time of access logs. Lines of one day are common, so the day is worked out once. */
export class AccessTime {
  #day = -1;
  #month = -1;
  #year = -1;
  #midnightMs: Millis = Number.NaN;

  /** The instant that the bytes at `at` tell, or NaN when they tell none. */
  read(bytes: Buffer, at: number): Millis {
    const hour = twoDigits(bytes, at + 12);
    const minute = twoDigits(bytes, at + 15);
    const second = twoDigits(bytes, at + 18);
    // A leap second is the last one again, as clocks that log one count it.
    if (!(hour <= 23 && minute <= 59 && second <= 60)) return Number.NaN;
    const inDayMs = ((hour * 60 + minute) * 60 + second) * 1_000;
    return this.#midnight(bytes, at) + inDayMs - zoneMs(bytes, at + 21);
  }

  #midnight(bytes: Buffer, at: number): Millis {
    const day = twoDigits(bytes, at);
    const month = bytes.readUIntBE(at + 3, 3);
    const year = twoDigits(bytes, at + 7) * 100 + twoDigits(bytes, at + 9);
    if (day === this.#day && month === this.#month && year === this.#year) return this.#midnightMs;
    this.#day = day;
    this.#month = month;
    this.#year = year;
    const place = monthNames.indexOf(bytes.toString("latin1", at + 3, at + 6));
    const midnightMs = Date.UTC(year, place / 3, day);
    const exists = place % 3 === 0 && new Date(midnightMs).getUTCDate() === day;
    this.#midnightMs = exists ? midnightMs : Number.NaN;
    return this.#midnightMs;
  }
}

function zoneMs(bytes: Buffer, at: number): Millis {
  const sign = bytes[at] === plus ? 1 : bytes[at] === minus ? -1 : Number.NaN;
  const ms = (twoDigits(bytes, at + 1) * 60 + twoDigits(bytes, at + 3)) * 60_000;
  return ms <= dayMs ? sign * ms : Number.NaN;
}

function twoDigits(bytes: Buffer, at: number): number {
  const [tens, units] = [bytes[at] as number, bytes[at + 1] as number];
  if (tens < zero || tens > nine || units < zero || units > nine) return Number.NaN;
  return (tens - zero) * 10 + units - zero;
}
