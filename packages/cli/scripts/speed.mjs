// Writes an access log of 5 million lines (or as many as are named), replays it under one policy in a
// process of its own, and prints that process's lines per second and peak memory. The clients are
// many and uneven: every tenth request comes from one of a hundred, the others from one of 200,000.
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const lines = Number(process.argv[2] ?? 5_000_000);
const headgate = fileURLToPath(new URL("../bin/headgate.js", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "headgate-speed-"));
const [log, policies] = [join(folder, "access.log"), join(folder, "policies.json")];
const startMs = Date.UTC(2026, 0, 1);
const perSecond = 500;
const agent = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun"];

try {
  await writeLog();
  const policy = { algorithm: "fixed-window", limit: 20, window: "1m" };
  writeFileSync(policies, JSON.stringify({ policies: { perClient: policy } }));
  console.log(`${lines} lines, ${Math.round(statSync(log).size / 2 ** 20)} MB`);
  const args = [headgate, "replay", log, "--policies", policies, "--json"];
  const child = spawnSync(process.execPath, args, { encoding: "utf8", maxBuffer: 1 << 26 });
  if (child.status !== 0) throw new Error(child.stderr);
  const { performance, policies: results, keys } = JSON.parse(child.stdout);
  console.log(`${keys[0].clients} clients, ${results[0].requests.count} requests refused`);
  console.log(`${performance.linesPerSecond} lines per second`);
  console.log(`${Math.round(performance.peakMemoryBytes / 2 ** 20)} MB peak memory`);
} finally {
  rmSync(folder, { recursive: true });
}

async function writeLog() {
  const file = createWriteStream(log, { highWaterMark: 1 << 20 });
  let random = 1;
  const below = (bound) => {
    random = (Math.imul(random, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((random / 2 ** 32) * bound);
  };
  for (let line = 0; line < lines; ) {
    let text = "";
    for (const end = Math.min(lines, line + 10_000); line < end; line += 1) {
      const client = below(10) === 0 ? below(100) : below(200_000);
      const address = `10.${client >> 16}.${(client >> 8) & 255}.${client & 255}`;
      const request = `GET /articles/${below(5_000)}?page=${below(9)} HTTP/1.1`;
      text += `${address} - - [${timeOf(line)}] "${request}" 200 ${below(90_000)} "-" "${agent}"\n`;
    }
    if (!file.write(text)) await once(file, "drain");
  }
  file.end();
  await once(file, "close");
}

function timeOf(line) {
  const at = new Date(startMs + Math.floor(line / perSecond) * 1_000);
  const [day, clock] = [at.getUTCDate(), at.toISOString().slice(11, 19)];
  return `${String(day).padStart(2, "0")}/${months[at.getUTCMonth()]}/2026:${clock} +0000`;
}
