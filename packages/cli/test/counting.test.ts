import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Clients } from "../src/replay/clients.js";
import { Spans } from "../src/replay/spans.js";
import { durationText, durationWords, percent, roundDuration } from "../src/words/durations.js";

describe("counting clients", () => {
  function counted(most: number, clients: number, requestsOf: (client: number) => number): Clients {
    const counter = new Clients(most);
    const known = Array.from({ length: clients }, (_, client) => counter.client(`ip=10.${client}`));
    const longest = Math.max(...known.map((_, client) => requestsOf(client)));
    for (let round = 0; round < longest; round += 1)
      known.forEach((client, index) => {
        if (round < requestsOf(index)) counter.count(client);
      });
    return counter;
  }

  it("is exact for as many as it may hold", () => {
    const counter = counted(1_000, 1_000, (client) => 1 + (client % 7));
    expect({ size: counter.size, weight: counter.weight }).toEqual({ size: 1_000, weight: 1 });
  });

  it("keeps a sample of more, with the whole count of each client in it", () => {
    const counter = counted(1_000, 50_000, (client) => 1 + (client % 7));
    expect([...counter.held()].length).toBeLessThanOrEqual(1_000);
    expect(counter.weight).toBeGreaterThan(1);
    for (const [subject, row] of counter.held())
      expect(counter.requests.get(row)).toBe(1 + (Number(subject.slice(6)) % 7));
  });

  it("estimates the number of clients from a sample", () => {
    const counter = counted(1_000, 50_000, () => 1);
    expect(Math.abs(counter.size - 50_000) / 50_000).toBeLessThan(0.15);
  });
});

describe("spans of time", () => {
  it("keep every count, whatever the length of the log", () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 40_000_000 }), {
      minLength: 1,
      maxLength: 200,
    });
    const property = fc.property(gaps, fc.nat(2 ** 40), (steps, startMs) => {
      const spans = new Spans();
      const column = spans.column();
      let nowMs = startMs;
      const instants = steps.map((gap) => {
        nowMs += gap;
        column.increment(spans.at(nowMs));
        return nowMs;
      });
      const expected = new Array<number>(spans.count).fill(0);
      for (const instant of instants) {
        const span = Math.floor((instant - spans.startMs) / spans.widthMs);
        expected[span] = (expected[span] ?? 0) + 1;
      }
      expect(spans.countsOf(column)).toEqual(expected);
      expect(spans.count).toBeLessThanOrEqual(240);
    });
    fc.assert(property, { numRuns: 200 });
  });
});

describe("numbers in words", () => {
  it.each([
    [60_000, "1 minute", "1m"],
    [900_000, "15 minutes", "15m"],
    [90_000, "90 seconds", "90s"],
    [86_400_000, "1 day", "1d"],
    [1_500, "1,500 ms", "1500ms"],
  ])("%i ms is %s", (ms, words, text) => {
    expect([durationWords(ms), durationText(ms)]).toEqual([words, text]);
  });

  it.each([
    [1, "1 ms"],
    [999.5, "1000 ms"],
    [1_001, "2 s"],
    [59_001, "1 min"],
    [61_000, "1 min 1 s"],
    [3_599_001, "1 h"],
    [3_661_000, "1 h 2 min"],
    [90_000_000, "1 d 1 h"],
  ])("a wait of %d ms is at most %s", (ms, text) => {
    expect(roundDuration(ms)).toBe(text);
  });

  it.each([
    [0, 100, "0 %"],
    [1, 10_000, "0.010 %"],
    [99_999, 100_000, "99.999 %"],
    [1, 3, "33.3 %"],
    [3, 3, "100 %"],
    [0, 0, "0 %"],
  ])("%i of %i is %s", (count, of, text) => {
    expect(percent(count, of)).toBe(text);
  });
});
