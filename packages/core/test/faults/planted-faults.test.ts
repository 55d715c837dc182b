import { afterAll, describe, expect, test } from "vitest";
import { type Fault, faults } from "./faults.js";
import { Copies, type Copy } from "./faulty-copy.js";

const copies = new Copies();
afterAll(() => copies.remove());

const sound = copies.make();

/** Runs a fault's law on a copy; the same histories each time. */
function runLaw({ law: name, subject }: Fault, { laws, memoryStore }: Copy): Promise<void> {
  const all =
    subject === undefined
      ? [...laws.compositeLaws(), ...laws.policyLaws()]
      : [...laws.lawsOf(subject), ...laws.refundLawsOf(subject), ...laws.envelopesOf(subject)];
  const law = all.find((one) => one.name === name);
  if (law === undefined) throw new Error(`there is no law "${name}"`);
  return law.run((clock) => memoryStore({ clock }), { histories: 2_000, seed: 1, shrink: false });
}

test("at least thirty faults are planted, and some in every algorithm", () => {
  expect(faults.length).toBeGreaterThanOrEqual(30);
  expect(new Set(faults.map(({ subject }) => subject)).size).toBe(7);
});

describe.each(faults)("a fault in $file, which $name", (fault) => {
  test(`breaks the law "${fault.law}"`, async () => {
    const faulty = copies.make(fault);
    await expect(runLaw(fault, faulty)).rejects.toThrow(/^Property failed/);
  });
});

const tried = new Map(
  faults.map((fault) => [`${fault.subject ?? "several"}: ${fault.law}`, fault]),
);

test.each([...tried])("without a fault the same histories obey %s", async (_name, fault) => {
  await expect(runLaw(fault, sound)).resolves.toBeUndefined();
});
