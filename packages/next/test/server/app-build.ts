// Builds an application once, whoever asks first, and finds it built in later runs by its content.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import {
  type AppPlan,
  edgePlan,
  examplePlan,
  installed,
  packageFolder,
  variantPlan,
} from "./app-layout.js";
import type { Variant } from "./variants.js";

/** An application that has been built. */
export interface BuiltApp {
  readonly folder: string;
  /** The script behind the command `next` of its version. */
  readonly next: string;
  /** What the build printed. */
  readonly log: string;
  /** What a request must carry to revalidate a page of this build. */
  previewSecret(): string;
}

const appsFolder = join(packageFolder, ".apps");
const longestBuildMs = 240_000;
const keptMs = 3_600_000;

/** Builds a variant of the test application. */
export function builtApp(variant: Variant): Promise<BuiltApp> {
  return buildOnce(variantPlan(variant));
}

/** Builds the example. */
export function builtExample(): Promise<BuiltApp> {
  return buildOnce(examplePlan());
}

/** Builds the application that asks for ioredis on Edge; rejects with what the build printed. */
export function builtWithIoredisOnEdge(variant: Variant): Promise<BuiltApp> {
  return buildOnce(edgePlan(variant));
}

/** Builds into a folder named by the content, which another run that is under way keeps using. */
async function buildOnce(plan: AppPlan): Promise<BuiltApp> {
  const root = installed(packageFolder, plan.next);
  const next = join(root, "dist/bin/next");
  const stamp = hashOf([...plan.watched, join(root, "package.json")]);
  const folder = join(appsFolder, `${plan.name}-${stamp.slice(0, 12)}`);
  const logFile = join(folder, "headgate-build.log");
  mkdirSync(appsFolder, { recursive: true });
  const release = await locked(`${folder}.lock`);
  try {
    if (!existsSync(logFile)) {
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder);
      plan.layOut(folder);
      writeFileSync(logFile, await build(folder, next));
      removeOldBuilds(plan.name);
    }
  } finally {
    release();
  }
  const previewSecret = (): string => previewSecretOf(folder);
  return { folder, next, log: readFileSync(logFile, "utf8"), previewSecret };
}

/** The builds of other contents that no run can be using any more. */
function removeOldBuilds(name: string): void {
  for (const other of readdirSync(appsFolder)) {
    if (!other.startsWith(`${name}-`) || other.endsWith(".lock")) continue;
    const folder = join(appsFolder, other);
    if (Date.now() - statSync(folder).mtimeMs > keptMs) rmSync(folder, { recursive: true });
  }
}

function previewSecretOf(folder: string): string {
  const file = join(folder, ".next/prerender-manifest.json");
  const manifest = JSON.parse(readFileSync(file, "utf8")) as {
    readonly preview: { readonly previewModeId: string };
  };
  return manifest.preview.previewModeId;
}

/** Runs `next build`; rejects with what it printed when it fails. */
function build(folder: string, next: string): Promise<string> {
  const child = spawn(process.execPath, [next, "build"], {
    cwd: folder,
    env: { ...process.env, NEXT_TELEMETRY_DISABLED: "1", NODE_ENV: "production" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let log = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      log += text;
    });
  }
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      if (code === 0) resolve(log);
      else reject(new Error(`next build in ${folder} failed with ${code}\n${log}`));
    });
  });
}

function hashOf(paths: readonly string[]): string {
  const hash = createHash("sha256").update(process.version);
  const add = (path: string): void => {
    if (!statSync(path).isDirectory()) {
      hash.update(`\n${path}\n`).update(readFileSync(path));
      return;
    }
    for (const name of readdirSync(path).sort()) {
      if (name !== "node_modules" && name !== ".next" && !name.endsWith(".map"))
        add(join(path, name));
    }
  };
  for (const path of paths) add(path);
  return hash.digest("hex");
}

/** Waits until no other process builds there. A lock whose process is gone is taken over. */
async function locked(file: string): Promise<() => void> {
  const giveUpAt = Date.now() + longestBuildMs;
  while (!take(file)) {
    if (Date.now() > giveUpAt) throw new Error(`${file} is held for too long`);
    await delay(200);
  }
  return () => rmSync(file, { force: true });
}

function take(file: string): boolean {
  try {
    writeFileSync(file, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  if (!isAlive(file)) rmSync(file, { force: true });
  return false;
}

function isAlive(file: string): boolean {
  try {
    process.kill(Number(readFileSync(file, "utf8")), 0);
    return true;
  } catch {
    return false;
  }
}
