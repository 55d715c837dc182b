// Preloaded before everything else: puts this process's clocks off by SHIFT_MS.
const shiftMs = Number(process.env.SHIFT_MS);
const { now } = Date;
const monotonic = performance.now.bind(performance);

globalThis.Date = class extends Date {
  constructor(...parts) {
    if (parts.length === 0) super(now() + shiftMs);
    else super(...parts);
  }

  static now() {
    return now() + shiftMs;
  }
};
performance.now = () => monotonic() + shiftMs;
