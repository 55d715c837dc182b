import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { fileInput } from "../src/reading/input.js";
import { LogReader } from "../src/reading/log-reader.js";
import { merged } from "../src/reading/merged.js";
import type { ReplayResult } from "../src/replay/result.js";
import { Folder } from "./files.js";
import { headgate, type Ran } from "./terminal.js";

const folder = new Folder();
const onePerMinute = { algorithm: "fixed-window", limit: 1, window: "1m" };

function replay(
  logs: readonly string[],
  {
    policy = onePerMinute,
    options = [],
    input = "",
  }: {
    readonly policy?: object;
    readonly options?: readonly string[];
    readonly input?: string | Buffer;
  } = {},
): Promise<Ran> {
  const policies = folder.policies({ one: policy });
  const args = ["replay", ...logs, "--policies", policies, "--json", "--show-clients", ...options];
  return headgate(args, { input });
}

async function resultOf(...args: Parameters<typeof replay>): Promise<ReplayResult> {
  const { out, errors } = await replay(...args);
  expect(errors).toBe("");
  return JSON.parse(out) as ReplayResult;
}

/** A line of the common format. */
function line({
  ip = "192.0.2.1",
  user = "-",
  time = "01/Jan/2026:00:00:00 +0000",
  request = "GET / HTTP/1.1",
  status = "200",
} = {}): string {
  return `${ip} - ${user} [${time}] "${request}" ${status} 12`;
}

function at(seconds: number, ip = "192.0.2.1"): string {
  const clock = new Date(seconds * 1_000).toISOString().slice(11, 19);
  return line({ ip, time: `01/Jan/2026:${clock} +0000` });
}

const refusedOf = ({ policies }: ReplayResult): number | undefined => policies[0]?.requests.count;
const worstOf = ({ policies }: ReplayResult): string | undefined =>
  policies[0]?.worstClients[0]?.client;

describe("a line of an access log", () => {
  it.each([
    ["the common format", line()],
    ["the combined format", `${line()} "-" "an agent"`],
    ["a virtual host in front", `www.example.com:443 ${line()}`],
    ["no status", line({ status: "-" })],
    ["an address with a port", line({ ip: "192.0.2.1:5123" })],
    ["a user", line({ user: "frank" })],
    ["a user with spaces and brackets", line({ user: "frank [the] tank" })],
    ["escaped quotes in the request", line({ request: 'GET /\\"a\\" HTTP/1.1' })],
    ["a request of garbage", line({ request: "\\x16\\x03\\x01\\x02" })],
    ["no request", line({ request: "-" })],
    ["an empty request", line({ request: "" })],
    ["a backslash at the request's end", line({ request: "GET /\\\\" })],
    ["CRLF at the end", `${line()}\r`],
  ])("may have %s", async (_, text) => {
    const result = await resultOf([folder.file(`${text}\n${text}\n`)]);
    expect(result.input).toMatchObject({
      lines: 2,
      requests: 2,
      broken: 0,
      firstAt: "2026-01-01T00:00:00.000Z",
    });
    expect(refusedOf(result)).toBe(1);
    expect(worstOf(result)).toBe("ip=192.0.2.1");
  });

  it("may have a byte order mark before it, at the beginning of a file", async () => {
    const result = await resultOf([folder.file(`\ufeff${line()}\n${line()}`)]);
    expect(refusedOf(result)).toBe(1);
  });

  it.each([
    ["01/Jan/2026:01:30:00 +0130", "2026-01-01T00:00:00.000Z"],
    ["31/Dec/2025:16:00:00 -0800", "2026-01-01T00:00:00.000Z"],
    ["25/Oct/2026:02:30:00 +0200", "2026-10-25T00:30:00.000Z"],
    ["25/Oct/2026:02:30:00 +0100", "2026-10-25T01:30:00.000Z"],
    ["29/Feb/2024:23:59:60 +0000", "2024-03-01T00:00:00.000Z"],
  ])("is at the instant that %s tells", async (time, iso) => {
    expect((await resultOf([folder.file(line({ time }))])).input.firstAt).toBe(iso);
  });

  it.each([
    ["nonsense", "nonsense"],
    ["no time", `192.0.2.1 - - "GET / HTTP/1.1" 200 1`],
    ["an open quote", `192.0.2.1 - - [01/Jan/2026:00:00:00 +0000] "GET / HTTP`],
    ["a day that does not exist", line({ time: "31/Feb/2026:00:00:00 +0000" })],
    ["a month that does not exist", line({ time: "01/Foo/2026:00:00:00 +0000" })],
    ["an hour that does not exist", line({ time: "01/Jan/2026:24:00:00 +0000" })],
    ["no zone", line({ time: "01/Jan/2026:00:00:00      " })],
    ["half of JSON", `{"time":`],
    ["JSON without a time", `{"ip":"192.0.2.1"}`],
    ["JSON with a time that is none", `{"time":"soon","ip":"192.0.2.1"}`],
    ["JSON that is a list", `[1,2]`],
    ["zero bytes", "\0\0\0\0"],
    ["a line of two megabytes", "x".repeat(2 << 20)],
  ])("is broken with %s, counted and shown", async (_, text) => {
    const { input } = await resultOf([folder.file(`${line()}\n${text}\n${line()}\n`)]);
    expect(input).toMatchObject({ lines: 3, requests: 2, broken: 1 });
    expect(input.examples).toMatchObject([{ line: 2, text: text.slice(0, 160) }]);
  });

  it("cannot steer a terminal by what it holds", async () => {
    const policies = folder.policies({ one: onePerMinute });
    const log = folder.file(
      `${line()}\n\x1b[2J\x1b]0;owned\x07\n${line({ request: "GET /\x1b[31m HTTP/1.1" })}`,
    );
    const { out } = await headgate(["replay", log, "--policies", policies]);
    expect(out).not.toContain("\x1b");
    expect(out).toContain("\\u{1b}[2J");
  });
});

describe("a JSON line", () => {
  it.each([
    ["ISO text", `"2026-01-01T00:00:00Z"`],
    ["ISO text with a zone", `"2026-01-01T02:00:00+02:00"`],
    ["text without a zone", `"2026-01-01 00:00:00"`],
    ["text with a comma", `"2026-01-01 00:00:00,000"`],
    ["seconds", "1767225600"],
    ["seconds with a fraction", "1767225600.0004"],
    ["milliseconds", "1767225600000"],
    ["microseconds", "1767225600000000"],
    ["nanoseconds", "1767225600000000000"],
    ["seconds as text", `"1767225600"`],
    ["the time of access logs", `"01/Jan/2026:00:00:00 +0000"`],
  ])("tells its time as %s", async (_, time) => {
    const { input } = await resultOf([folder.file(`{"time":${time},"ip":"192.0.2.1"}`)]);
    expect(input).toMatchObject({ requests: 1, firstAt: "2026-01-01T00:00:00.000Z" });
  });

  it.each([
    [
      "pino",
      `{"time":1767225600000,"req":{"method":"GET","url":"/a/1","remoteAddress":"192.0.2.1"}}`,
    ],
    [
      "Caddy",
      `{"ts":1767225600.5,"request":{"remote_ip":"192.0.2.1","method":"GET","uri":"/a/2"},"status":200}`,
    ],
    [
      "nginx",
      `{"@timestamp":"2026-01-01T00:00:00+00:00","remote_addr":"192.0.2.1","request_method":"GET","request_uri":"/a/3?b"}`,
    ],
  ])("may be %s's", async (_, text) => {
    const result = await resultOf([folder.file(`${text}\n${text}`)]);
    expect(worstOf(result)).toBe("ip=192.0.2.1");
    expect(result.policies[0]?.routes).toEqual([{ route: "GET /a/:id", refused: 1 }]);
  });

  it("gives identity parts by the field map, also from within objects", async () => {
    const text = `{"when":1767225600,"who":{"id":42,"plan.name":"x"}}`;
    const result = await resultOf([folder.file(`${text}\n${text}`)], {
      policy: { ...onePerMinute, by: "account" },
      options: ["--field", "time=when", "--field", "account=who.id"],
    });
    expect(worstOf(result)).toBe("account=42");
  });
});

describe("a client", () => {
  it.each([
    ["::ffff:192.0.2.1", "ip=192.0.2.1"],
    ["2001:db8:1:203:4:5:6:7", "ip=2001:db8:1:200::"],
    ["2001:DB8:1:2FF::9", "ip=2001:db8:1:200::"],
    ["Host.Example.COM", "ip=host.example.com"],
  ])("%s counts as %s, as in an adapter", async (ip, client) => {
    const result = await resultOf([folder.file(`${line({ ip })}\n${line({ ip })}`)]);
    expect(worstOf(result)).toBe(client);
  });

  it("is hashed unless it is to be shown, in the same way where a salt says so", async () => {
    const policies = folder.policies({ one: onePerMinute });
    const log = folder.file(`${line()}\n${line()}`);
    const name = async (...options: string[]): Promise<string | undefined> => {
      const { out } = await headgate(["replay", log, "--policies", policies, "--json", ...options]);
      expect(out).not.toContain("192.0.2.1");
      return worstOf(JSON.parse(out) as ReplayResult);
    };
    expect(await name()).toMatch(/^client-[0-9a-f]{12}$/);
    expect(await name()).not.toBe(await name());
    expect(await name("--salt", "a")).toBe(await name("--salt", "a"));
  });

  it("without the policy's key is left out and counted", async () => {
    const log = folder.file(`${line()}\n${line({ user: "ann" })}\n${line({ user: "ann" })}`);
    const result = await resultOf([log], { policy: { ...onePerMinute, by: "user" } });
    expect(result.policies[0]).toMatchObject({ withoutKey: 1, requests: { count: 1, of: 2 } });
  });

  it("is everybody under a global policy", async () => {
    const log = folder.file(`${at(0)}\n${at(0, "192.0.2.2")}`);
    const result = await resultOf([log], { policy: { ...onePerMinute, by: "global" } });
    expect(refusedOf(result)).toBe(1);
  });

  it("is a client and a route where a policy says so", async () => {
    const log = folder.file([line(), line({ request: "GET /a HTTP/1.1" }), line()].join("\n"));
    const result = await resultOf([log], { policy: { ...onePerMinute, by: ["ip", "route"] } });
    expect(refusedOf(result)).toBe(1);
  });
});

describe("order", () => {
  it("is that of the log's time, within the window", async () => {
    const log = folder.file([at(70), at(30), at(61), at(0)].join("\n"));
    const result = await resultOf([log], { options: ["--reorder", "2m"] });
    expect(result.input).toMatchObject({
      outOfOrder: 3,
      late: 0,
      firstAt: "2026-01-01T00:00:00.000Z",
    });
    expect(result.policies[0]?.longestWait).toEqual({ ms: 50_000, at: "2026-01-01T00:01:10.000Z" });
  });

  it("is kept when a line comes later than the window, and the line counted", async () => {
    const log = folder.file([at(0), at(100), at(101), at(200), at(201), at(1)].join("\n"));
    const result = await resultOf([log], { options: ["--reorder", "10s"] });
    expect(result.input).toMatchObject({ requests: 6, late: 1 });
  });

  it("is not lost to one line that is far ahead", async () => {
    const ahead = line({ time: "01/Jan/2105:00:00:00 +0000" });
    const rest = Array.from({ length: 300 }, (_, second) => at(second));
    const log = folder.file([ahead, ...rest].join("\n"));
    const result = await resultOf([log], { options: ["--reorder", "5s"] });
    expect(result.input).toMatchObject({ requests: 301, late: 0 });
    expect(refusedOf(result)).toBe(295);
  });

  it("begins no log before its time, so that many rotated ones need no more memory than a few", async () => {
    const first = Array.from({ length: 5_000 }, (_, index) => at(Math.floor(index / 10)));
    const files = [folder.file(at(7_200)), folder.file(`${first.join("\n")}\n`)];
    const inputs = await Promise.all(files.map((file) => fileInput(file)));
    const readers = inputs.map((input) => new LogReader(input, { reorderMs: 60_000 }));
    const batches = merged(readers);
    expect((await batches.next()).value).toHaveLength(4_096);
    expect(readers.map(({ lines }) => lines)).toEqual([0, 5_000]);
    const rest: unknown[] = [];
    for await (const batch of batches) rest.push(...batch);
    expect(rest).toHaveLength(905);
  });

  it("holds across several logs, one after the other or side by side, however they are named", async () => {
    const logs = [
      folder.file([at(120), at(121), at(300)].join("\n")),
      folder.file([at(0), at(1), at(122)].join("\n")),
      folder.file(gzipSync([at(2), at(123), at(124)].join("\n"))),
    ];
    const all = await Promise.all(
      [logs, logs.toReversed()].map((named) => resultOf(named, { options: ["--reorder", "0"] })),
    );
    for (const result of all) {
      expect(result.input).toMatchObject({ requests: 9, late: 0 });
      expect(refusedOf(result)).toBe(6);
    }
  });
});

describe("an input", () => {
  it("may be the standard input, packed or not", async () => {
    const text = `${line()}\n${line()}\n`;
    for (const input of [text, gzipSync(text)])
      expect(refusedOf(await resultOf(["-"], { input }))).toBe(1);
  });

  it("may be several packed files put together", async () => {
    const packed = Buffer.concat([gzipSync(`${at(0)}\n`), gzipSync(`${at(1)}\n`)]);
    expect(refusedOf(await resultOf([folder.file(packed)]))).toBe(1);
  });

  it("is read as far as it goes where it is cut off, and says so", async () => {
    const lines = Array.from({ length: 20_000 }, (_, index) => at(Math.floor(index / 10)));
    const packed = gzipSync(lines.join("\n"));
    const { code, out } = await replay([folder.file(packed.subarray(0, packed.length - 500))]);
    const { input } = JSON.parse(out) as ReplayResult;
    expect(code).toBe(1);
    expect(input.damaged).toMatchObject([{ why: "unexpected end of file" }]);
    expect(input.requests).toBeGreaterThan(15_000);
  });

  it.each([
    ["an empty file", "", "holds no line"],
    ["blank lines", "\n\r\n\n", "holds no line"],
    ["no log", "one\ntwo\n", "no line tells a request"],
    ["an archive", Buffer.from("504b0304aaaa", "hex"), "unzip -p"],
    ["the beginning of a packed file", gzipSync("x").subarray(0, 6), "cannot be read"],
  ])("that is %s is an error", async (_, content, message) => {
    const { code, errors } = await replay([folder.file(content)]);
    expect(code).toBe(1);
    expect(errors).toContain(message);
  });

  it("that is not there, a folder or named twice is an error", async () => {
    const log = folder.file(line());
    for (const names of [[`${log}.none`], [folder.path], [log, log]]) {
      const { code, errors } = await replay(names);
      expect({ code, hasName: errors.includes(names[0] as string) }).toEqual({
        code: 1,
        hasName: true,
      });
    }
  });

  it("without the key of a policy is an error that names the fields it has", async () => {
    const { code, errors } = await replay(
      [folder.file(`{"time":1767225600,"ip":"192.0.2.1","login":"x"}`)],
      {
        policy: { ...onePerMinute, by: ["ip", "account"] },
      },
    );
    expect(code).toBe(1);
    expect(errors).toContain(
      `policy "one" counts by ip and account, which no request of the log has`,
    );
    expect(errors).toContain("Its lines have: time, ip, login.");
    expect(errors).toContain("--field account=NAME");
  });
});
