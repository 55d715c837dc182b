import { observe } from "@headgate/core/events";
import { redisStore } from "@headgate/redis";
import { PrometheusExporter } from "@opentelemetry/exporter-prometheus";
import { MeterProvider } from "@opentelemetry/sdk-metrics";
import { Redis } from "ioredis";
import { expect, it } from "vitest";
import { freePort, startRedisServer } from "../../../redis/test/servers/redis-server.js";
import { until } from "../../../redis/test/servers/until.js";
import { instrumentLimiter } from "../../src/index.js";
import { patientMs, routes, startLimitedApp } from "./limited-app.js";
import { Load, type Seen } from "./load.js";
import { type Sample, scrape } from "./scrape.js";

const clients = 8;
const reasons: Readonly<Record<number, string>> = {
  200: "admitted",
  429: "limit",
  503: "store-failure",
};

/** How many decisions there were of each kind, as the load generator saw them from outside. */
function seenByKind(seen: readonly Seen[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { route, status, degraded } of seen) {
    const kind = [route, status === 200 ? "allowed" : "denied", reasons[status], degraded];
    counts[kind.join(" ")] = (counts[kind.join(" ")] ?? 0) + 1;
  }
  return counts;
}

/** The same from a scrape. */
function scrapedByKind(samples: readonly Sample[]): Readonly<Record<string, number>> {
  return Object.fromEntries(
    samples
      .filter(({ name }) => name === "headgate_decisions_total")
      .map(({ labels, value }) => [
        [
          labels.headgate_policy,
          labels.headgate_outcome,
          labels.headgate_reason,
          labels.headgate_degraded,
        ].join(" "),
        value,
      ]),
  );
}

/** What else a scrape shows. */
function healthOf(samples: readonly Sample[]) {
  const sum = (wanted: string, where: (labels: Sample["labels"]) => boolean = () => true) =>
    samples
      .filter(({ name, labels }) => name === wanted && where(labels))
      .reduce((total, { value }) => total + value, 0);
  return {
    breaker: samples.find(({ name, value }) => name === "headgate_breaker_state" && value === 1)
      ?.labels.headgate_breaker_state,
    errorsOf: (policy: string) =>
      sum("headgate_store_errors_total", (labels) => labels.headgate_policy === policy),
    answered: sum("headgate_store_duration_count", (labels) => labels.error_type === undefined),
  };
}

it("shows on a real endpoint what a load generator sees, before, during and after an outage of Redis", async () => {
  const metricsPort = await freePort();
  const exporter = new PrometheusExporter({
    host: "127.0.0.1",
    port: metricsPort,
    preventServerStart: true,
  });
  await exporter.startServer();
  const meterProvider = new MeterProvider({ readers: [exporter] });
  let redis = await startRedisServer();
  const client = new Redis({ host: "127.0.0.1", port: redis.port, lazyConnect: true });
  const app = await startLimitedApp(redisStore(client, { callTimeoutMs: patientMs }));
  instrumentLimiter(app.limiter, { meterProvider });
  let remembered = 0;
  observe(app.limiter, {
    decision: (event) => {
      if (event.remembered) remembered += 1;
    },
  });
  const load = new Load(app.port, routes);
  const more = (requests: number, holds: (seen: Seen) => boolean = () => true) => {
    const from = load.seen.length;
    return until(async () => load.seen.slice(from).filter(holds).length >= requests);
  };
  /** Compares what is scraped with what was seen, while nobody asks. */
  const compare = async (phase: string) => {
    await load.pause();
    const samples = await scrape(`http://127.0.0.1:${metricsPort}/metrics`);
    const { breaker, errorsOf, answered } = healthOf(samples);
    const seen = seenByKind(load.seen);
    console.log(`${phase}: ${load.seen.length} requests, breaker ${breaker}`, seen);
    expect(scrapedByKind(samples)).toEqual(seen);
    for (const route of routes) {
      const failed = load.seen.filter((one) => one.route === route && isDegraded(one));
      expect(errorsOf(route)).toBe(failed.length);
    }
    expect(answered).toBe(load.seen.length - load.seen.filter(isDegraded).length - remembered);
    expect(JSON.stringify(samples)).not.toMatch(/user3|ada3|grace3/);
    load.start(clients);
    return { breaker, seen };
  };
  try {
    load.start(clients);
    await more(600);
    const before = await compare("before the outage");
    expect(before.breaker).toBe("closed");
    expect(Object.keys(before.seen).filter((kind) => !kind.endsWith(" none"))).toEqual([]);
    expect(Object.keys(before.seen).filter((kind) => kind.includes("denied"))).not.toEqual([]);

    // What is left of a refusal holds during an outage as well: others come now.
    load.users = "ada";
    await redis.stop();
    for (const mode of routes) await more(100, ({ degraded }) => degraded === mode);
    const during = await compare("during the outage");
    expect(during.breaker).toBe("open");
    expect(Object.keys(during.seen)).toEqual(
      expect.arrayContaining([
        "local allowed admitted local",
        "local denied limit local",
        "open allowed admitted open",
        "closed denied store-failure closed",
      ]),
    );

    load.users = "grace";
    redis = await startRedisServer([], redis.port);
    await more(300, (seen) => !isDegraded(seen) && seen.status === 200);
    const after = await compare("after the outage");
    expect(after.breaker).toBe("closed");
  } finally {
    await load.pause();
    load.close();
    await app.close();
    client.disconnect();
    await redis.stop();
    await meterProvider.shutdown();
  }
}, 60_000);

function isDegraded({ degraded }: Seen): boolean {
  return degraded !== "none";
}
