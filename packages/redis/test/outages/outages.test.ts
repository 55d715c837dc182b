import { setTimeout as pause } from "node:timers/promises";
import type { Redis } from "ioredis";
import { afterAll, expect, test, vi } from "vitest";
import { redisStore } from "../../src/index.js";
import { patientMs } from "../servers/single.js";
import {
  type Answer,
  type LimitedApp,
  limitOfAll,
  type Route,
  startLimitedApp,
} from "./limited-app.js";
import { type Situation, type Stage, situations } from "./situations.js";

const deadlineMs = 200;
/** The breaker's 1 s and 2 s, and a reconnection's 1 s: what a brief outage costs at most; twice on a busy machine. */
const backWithinMs = 2 * 4_000;
const failoverWithinMs = 12_000;
const outageMs = 300;
const graceMs = 250;
const openMs = 25;
const routes: readonly Route[] = ["local", "open", "closed", "three"];
const table: Record<string, string | number>[] = [];

afterAll(() => console.table(table));

for (const situation of situations) {
  test(`answers in time by the failure modes and comes back: ${situation.name}`, async () => {
    const stage = await situation.start();
    // Where no request may notice anything, none may do so because the machine is busy.
    const callTimeoutMs = situation.harmless ? patientMs : deadlineMs;
    const store = redisStore(stage.client, { callTimeoutMs });
    const app = await startLimitedApp(store, callTimeoutMs);
    const told = listenToWarnings();
    try {
      await playThrough(situation, { stage, app, told });
    } finally {
      vi.restoreAllMocks();
      await app.close();
      (stage.client as Redis).disconnect();
      await stage.stop();
    }
  });
}

async function playThrough(
  situation: Situation,
  { stage, app, told }: { stage: Stage; app: LimitedApp; told: number[] },
): Promise<void> {
  for (let count = 0; count < 20; count += 1) await app.get("free");
  if (situation.worksAtFirst ?? true) {
    // On a busy machine the first connection may take longer than a deadline.
    await vi.waitFor(() => app.counted("local"), patientMs);
    told.length = 0;
    for (let count = 0; count < 5; count += 1) await eachRoute(app);
    expect(app.answers.every(({ degraded }) => degraded === "none")).toBe(true);
  }
  const load = situation.counts === "acknowledged" ? eachRoute(app, 20) : undefined;
  await stage.begin();
  const begunAt = performance.now();
  await eachRoute(app, situation.harmless ? 25 : 8);
  await load;
  const openAt = performance.now();
  while (performance.now() - begunAt < outageMs || performance.now() - openAt < 100) {
    await eachRoute(app);
  }
  const endingAt = performance.now();
  await stage.end();
  const endedAt = performance.now();
  const within = situation.counts === "acknowledged" ? failoverWithinMs : backWithinMs;
  const backMs = await untilBack(app, endedAt, within);
  for (let count = 0; count < 5; count += 1) await eachRoute(app);

  for (const answer of app.answers) expectInOrder(answer, app.answers);
  const slowest = Math.max(...app.answers.map(({ tookMs }) => tookMs));
  const degraded = app.answers.filter(({ degraded }) => degraded !== "none");
  if (situation.harmless) expect(degraded.length).toBe(0);
  else expect(degraded.length).toBeGreaterThan(0);
  const whileOpen = app.answers.filter(({ sentAt }) => sentAt >= openAt && sentAt < endingAt);
  const added = addedMs(whileOpen);
  expect(quantile(added, 0.5), "ms added once the breaker is open").toBeLessThan(openMs);
  if (!situation.harmless) expectOneLineASecond(told);
  await expectCounts(app, { situation, endedAt });
  table.push({
    situation: situation.name,
    answers: app.answers.length,
    degraded: degraded.length,
    "slowest ms": Math.round(slowest),
    "added ms, open": quantile(added, 0.5).toFixed(1),
    "of 95 %": quantile(added, 0.95).toFixed(1),
    "back after ms": Math.round(backMs),
    "log lines": told.length,
  });
}

/** What limited requests took longer than the others that were sent at the same time. */
function addedMs(answers: readonly Answer[]): readonly number[] {
  const free = answers.filter(({ route }) => route === "free").map(({ tookMs }) => tookMs);
  const typicalMs = quantile(free, 0.5);
  return answers
    .filter(({ route }) => route !== "free")
    .map(({ tookMs }) => Math.max(0, tookMs - typicalMs));
}

/** One request of each route, as many times at once, and behind them one without limits to compare with. */
async function eachRoute(app: LimitedApp, times = 1): Promise<readonly Answer[]> {
  const all = Array.from({ length: times }, () => routes).flat();
  return Promise.all([...all, "free" as const].map((route) => app.get(route)));
}

async function untilBack(app: LimitedApp, from: number, withinMs: number): Promise<number> {
  for (;;) {
    const answers = await eachRoute(app);
    const passedMs = performance.now() - from;
    if (answers.every(({ degraded }) => degraded === "none")) return passedMs;
    expect(passedMs, "ms until Redis is used again").toBeLessThan(withinMs);
    await pause(10);
  }
}

/** Contract S-2 and S-3, and the deadline. */
function expectInOrder(answer: Answer, all: readonly Answer[]): void {
  const { route, status, headers, body, degraded, tookMs } = answer;
  if (route === "free") return;
  const limit = headers["x-ratelimit-limit"];
  const [remaining, reset] = [headers["x-ratelimit-remaining"], headers["x-ratelimit-reset"]];
  expect(tookMs - usualMs(answer, all)).toBeLessThan(deadlineMs + graceMs);
  expect(limit).toBe(String(limitOfAll));
  if (degraded === "closed") {
    expect(route).toBe("closed");
    expect(status).toBe(503);
    expect(Number(headers["retry-after"])).toBeGreaterThanOrEqual(1);
    expect(JSON.parse(body).error.code).toBe("RATE_LIMITER_UNAVAILABLE");
  } else {
    expect(status).toBe(200);
    expect(headers["retry-after"]).toBeUndefined();
  }
  if (degraded === "closed" || degraded === "open") {
    expect([remaining, reset]).toEqual([undefined, undefined]);
  } else {
    expect(Number(remaining)).toBeGreaterThan(0);
    expect(Number(reset)).toBeGreaterThan(Date.now() / 1000);
  }
  const expected = route === "three" ? "local" : route;
  expect(["none", expected]).toContain(degraded);
}

/** The longest that a request without limits took meanwhile. */
function usualMs({ sentAt, tookMs }: Answer, all: readonly Answer[]): number {
  const free = all.filter(
    (other) =>
      other.route === "free" &&
      other.sentAt <= sentAt + tookMs &&
      other.sentAt + other.tookMs >= sentAt,
  );
  return Math.max(0, ...free.map((other) => other.tookMs));
}

/** Nothing that was answered without Redis is counted there later, unless it ran and its answer was lost. */
async function expectCounts(
  app: LimitedApp,
  { situation, endedAt }: { situation: Situation; endedAt: number },
): Promise<void> {
  const { counts = "kept" } = situation;
  for (const route of ["local", "open", "closed"] as const) {
    const admitted = app.answers.filter(
      ({ route: asked, degraded, sentAt }) =>
        asked === route && degraded === "none" && (counts !== "lost" || sentAt >= endedAt),
    );
    await vi.waitFor(async () => {
      const counted = await app.counted(route);
      if (counts === "acknowledged") expect(counted).toBeLessThanOrEqual(admitted.length);
      else if (counts === "answers lost") expect(counted).toBeGreaterThan(admitted.length);
      else expect(counted, `requests counted of /${route}`).toBe(admitted.length);
    }, 3_000);
  }
}

function listenToWarnings(): number[] {
  const told: number[] = [];
  vi.spyOn(process, "emitWarning").mockImplementation((text, options) => {
    const { code } = (options ?? {}) as { code?: string };
    if (code !== "HEADGATE_STORE") throw new Error(`another warning: ${String(text)}`);
    told.push(performance.now());
  });
  return told;
}

function expectOneLineASecond(told: readonly number[]): void {
  expect(told.length).toBeGreaterThan(0);
  for (const [index, at] of told.entries()) {
    if (index > 0) expect(at - (told[index - 1] as number)).toBeGreaterThanOrEqual(990);
  }
}

function quantile(values: readonly number[], part: number): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length * part)] as number;
}
