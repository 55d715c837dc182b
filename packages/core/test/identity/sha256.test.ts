import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { sha256 } from "../../src/identity/sha256.js";

const reference = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

test("gives the digest that Node gives for every length around the block size", () => {
  for (let length = 0; length <= 200; length += 1) {
    const bytes = Uint8Array.from({ length }, (_, index) => (index * 31 + length) & 0xff);
    expect(sha256(bytes)).toBe(reference(bytes));
  }
});

test("gives the digest that Node gives for any bytes", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 2_000 }), (bytes) => sha256(bytes) === reference(bytes)),
  );
});
