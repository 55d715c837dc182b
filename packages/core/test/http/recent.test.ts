import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { Recent } from "../../src/http/recent.js";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

function heapUsed(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

const headerLength = 16_000;

/** What a proxy passes on: as much as the client likes, and then its address. */
function header(client: number): string {
  const text = `${"x".repeat(headerLength)}, 2001:db8:0:1::${client.toString(16)}`;
  return Buffer.from(text).toString("latin1");
}

test.each([
  ["an address keeps nothing of the header that it came in", headerLength + 2],
  ["text that is too long for an address is not remembered", 0],
])("%s", (_, start) => {
  const recent = new Recent((text) => text);
  const before = heapUsed();
  for (let client = 0; client < 2_000; client += 1) {
    const text = header(client).slice(start);
    expect(recent.of(text)).toBe(text);
  }
  // The headers are 32 MB together.
  expect(heapUsed() - before).toBeLessThan(8_000_000);
  expect(recent.of("192.0.2.1")).toBe("192.0.2.1");
});
