import { setTimeout as pause } from "node:timers/promises";
import { definePolicy, HeadgateError, type Outcome } from "@headgate/core";
import { Redis } from "ioredis";
import { expect, test, vi } from "vitest";
import { type Executor, redisStore } from "../../src/index.js";
import { freePort, startRedisServer } from "../servers/redis-server.js";
import { freshPrefix, patientMs, useSingleServer } from "../servers/single.js";

const redis = useSingleServer();
const policy = definePolicy("api", { algorithm: "fixed-window", limit: 5, window: "1h" });
/** How much longer than a call the server stays away. */
const outageMs = 100;
const charge = { policy, subject: "user=1", cost: 1 };

async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    expect(error).toBeInstanceOf(HeadgateError);
    return (error as HeadgateError).code;
  }
  return "no error";
}

test("leaves undone what a stopped server finds in its buffers when it goes on", async () => {
  const store = redisStore(redis.client, { prefix: freshPrefix(), callTimeoutMs: 400 });
  // The quickest answer tells best what time it is at the server.
  for (let count = 0; count < 10; count += 1)
    await vi.waitFor(() => store.apply([{ ...charge, subject: "warm=up" }], "peek"), patientMs);
  redis.server.process.kill("SIGSTOP");
  const calls = [0, 1, 2].map(() => codeOf(store.apply([charge], "commit")));
  expect(await Promise.all(calls)).toEqual(["STORE_TIMEOUT", "STORE_TIMEOUT", "STORE_TIMEOUT"]);
  await pause(outageMs);
  redis.server.process.kill("SIGCONT");
  const [outcome] = await vi.waitFor(() => store.apply([charge], "commit"), patientMs);
  expect(outcome?.remaining).toBe(4);
  await store.close();
});

test("leaves undone the very first call, when the server stops before it", async () => {
  const store = redisStore(redis.client, { prefix: freshPrefix(), callTimeoutMs: 400 });
  await redis.client.ping();
  redis.server.process.kill("SIGSTOP");
  expect(await codeOf(store.apply([charge], "commit"))).toBe("STORE_TIMEOUT");
  await pause(outageMs);
  redis.server.process.kill("SIGCONT");
  const [outcome] = await vi.waitFor(() => store.apply([charge], "commit"), patientMs);
  expect(outcome?.remaining).toBe(4);
  await store.close();
});

test("lives while Redis is down at boot, fails at once, and works once it is up", async () => {
  const port = await freePort();
  const client = new Redis({ port, host: "127.0.0.1", lazyConnect: true });
  const store = redisStore(client, { prefix: freshPrefix(), callTimeoutMs: patientMs });
  expect(await codeOf(store.apply([charge], "commit"))).toBe("STORE_FAILURE");
  const started = performance.now();
  expect(await codeOf(store.apply([charge], "commit"))).toBe("STORE_FAILURE");
  expect(performance.now() - started).toBeLessThan(patientMs / 2);
  const server = await startRedisServer([], port);
  try {
    const [outcome] = await vi.waitFor(() => store.apply([charge], "commit"), patientMs);
    expect(outcome?.remaining).toBe(4);
  } finally {
    await store.close();
    client.disconnect();
    await server.stop();
  }
});

test("fails for a closed store, and closes twice", async () => {
  const store = redisStore(redis.client, { prefix: freshPrefix(), callTimeoutMs: patientMs });
  await store.apply([charge], "commit");
  await store.close();
  await store.close();
  expect(await codeOf(store.apply([charge], "commit"))).toBe("STORE_FAILURE");
});

const serverMs = Date.now();
/** What the script answers to one charge, as part of a run and as a batch by itself. */
const rightReplies = {
  commit: "4 60000",
  peek: [1, 4, 0, -1, 60_000, 0, -1, 0],
} as const;

const oddAnswers = {
  commit: [
    ["a number", 4],
    ["a list", [4, 60_000]],
    ["a short line", "4"],
    ["a long line", "4 60000 5"],
    ["a line too many", "4 60000\n4 60000"],
    ["a fraction", "4.5 60000"],
    ["a number too large", "9007199254740992 60000"],
    ["a refusal without its wait", "-1 60000"],
    ["a refusal with an instant", "-1 60000 5 5"],
    ["an empty line", ""],
  ],
  peek: [
    ["numbers of bigint", rightReplies.peek.map(BigInt)],
    ["numbers as text", rightReplies.peek.map(String)],
    ["a short batch", rightReplies.peek.slice(1)],
    ["a long batch", [...rightReplies.peek, 1]],
    ["a fraction", rightReplies.peek.map((number) => number + 0.5)],
  ],
} as const;

function oddReplies(mode: "commit" | "peek"): readonly [what: string, reply: unknown][] {
  const right = rightReplies[mode];
  const answers = oddAnswers[mode].map(
    ([what, answer]) => [what, [serverMs, 0, answer]] as [string, unknown],
  );
  return [
    ...answers,
    ["null", null],
    ["OK", "OK"],
    ["a number", 1],
    ["an empty list", []],
    ["a short list", [serverMs, 0]],
    ["a Buffer", Buffer.from("1")],
    ["a time of bigint", [BigInt(serverMs), 0, right]],
    ["a batch too many", [serverMs, 0, right, right]],
    ["null in place of a batch", [serverMs, 0, null]],
  ];
}

for (const mode of ["commit", "peek"] as const) {
  test(`takes the right reply to a ${mode}`, async () => {
    const store = redisStore(answering(async () => [serverMs, 0, rightReplies[mode]]));
    const [outcome] = await store.apply([charge], mode);
    expect(outcome).toMatchObject({ allowed: true, remaining: 4, resetMs: 60_000 });
  });

  for (const [what, reply] of oddReplies(mode)) {
    test(`takes a reply of ${what} to a ${mode} for a store failure that keeps it as its cause`, async () => {
      const store = redisStore(answering(async () => reply));
      const error = await store.apply([charge], mode).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(HeadgateError);
      expect(error).toMatchObject({ code: "STORE_FAILURE" });
      expect(error).toHaveProperty("cause");
    });
  }
}

const serverErrors = [
  "OOM command not allowed when used memory > 'maxmemory'.",
  "READONLY You can't write against a read only replica.",
  "BUSY Redis is busy running a script.",
  "NOPERM this user has no permissions to run the 'evalsha' command",
  "LOADING Redis is loading the dataset in memory",
  "CLUSTERDOWN The cluster is down",
];

for (const message of serverErrors) {
  test(`takes ${message.split(" ")[0]} for a store failure with its text as cause, and asks once`, async () => {
    const run = vi.fn(async () => {
      throw new Error(message);
    });
    const error = await redisStore(answering(run))
      .apply([charge], "commit")
      .catch((thrown: unknown) => thrown as HeadgateError);
    expect(error).toMatchObject({ code: "STORE_FAILURE", cause: { message } });
    expect(run).toHaveBeenCalledTimes(1);
  });
}

test("hears an answer that came in while the process was busy, although its time is over", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const store = redisStore(
    answering(async () => {
      // As after a long turn: timers come before what has been received.
      vi.advanceTimersByTime(1_000);
      return [serverMs, 0, rightReplies.commit];
    }),
    { callTimeoutMs: 400 },
  );
  try {
    expect((await store.apply([charge], "commit"))[0]?.remaining).toBe(4);
  } finally {
    vi.useRealTimers();
  }
});

test("gives back what a call charged whose answer comes after it was given up", async () => {
  const prefix = freshPrefix();
  let late = 0;
  const slow: Executor = {
    ...answering(async ({ command, script, keys, args }) => {
      const reply = await redis.client.call(command, script, keys.length, ...keys, ...args);
      if (late > 0) await pause(late);
      return reply;
    }),
  };
  const store = redisStore(slow, { prefix, callTimeoutMs: 400 });
  await store.apply([charge], "commit");
  late = 600;
  expect(await codeOf(store.apply([charge], "commit"))).toBe("STORE_TIMEOUT");
  late = 0;
  const left = (): Promise<readonly Outcome[]> => store.apply([{ ...charge, cost: 0 }], "peek");
  await vi.waitFor(async () => expect((await left())[0]?.remaining).toBe(4), patientMs);
  expect(store.lostRefunds).toBe(0);
});

function answering(run: Executor["run"]): Executor {
  return { slotOf: undefined, ready: () => undefined, run, close: async () => undefined };
}
