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
import { appSources, bundlesOf, installed, layOut, packageFolder } from "./app-layout.js";
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

const longestBuildMs = 240_000;

/** Builds a variant of the test application. */
export function builtApp(variant: Variant): Promise<BuiltApp> {
  const folder = join(packageFolder, ".apps", variant.name);
  const ownFiles = ["app-layout.ts", "variants.ts"].map((name) =>
    join(packageFolder, "test/server", name),
  );
  const watched = [appSources, ...bundlesOf(), ...ownFiles];
  return buildOnce({ folder, watched, next: variant.next, prepare: () => layOut(folder, variant) });
}

/**
 * Builds the application in a folder, unless it has been built from the same files.
 *
 * @throws what the build printed, when it fails
 */
export async function buildOnce(app: {
  readonly folder: string;
  /** Files and folders that the build depends on. */
  readonly watched: readonly string[];
  readonly next: Variant["next"];
  readonly prepare?: () => void;
}): Promise<BuiltApp> {
  const { folder, watched, prepare } = app;
  const root = installed(packageFolder, app.next);
  const next = join(root, "dist/bin/next");
  const stamp = hashOf([...watched, join(root, "package.json")]);
  const stampFile = join(folder, ".next/headgate-stamp");
  const logFile = join(folder, ".next/headgate-build.log");
  const release = await locked(`${folder}.lock`);
  try {
    if (!existsSync(stampFile) || readFileSync(stampFile, "utf8") !== stamp) {
      prepare?.();
      const log = await build(folder, next);
      writeFileSync(logFile, log);
      writeFileSync(stampFile, stamp);
    }
  } finally {
    release();
  }
  const previewSecret = (): string => {
    const file = join(folder, ".next/prerender-manifest.json");
    const manifest = JSON.parse(readFileSync(file, "utf8")) as {
      readonly preview: { readonly previewModeId: string };
    };
    return manifest.preview.previewModeId;
  };
  return { folder, next, log: readFileSync(logFile, "utf8"), previewSecret };
}

/** Runs `next build`; rejects with what it printed when it fails. */
export function build(folder: string, next: string): Promise<string> {
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
  mkdirSync(join(file, ".."), { recursive: true });
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
