// Lays out an application as its users have it: the published form of the packages, copied, so that
// they find the application's own Next.js, and everything else as a link.
import {
  cpSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Variant } from "./variants.js";

export const packageFolder: string = fileURLToPath(new URL("../../", import.meta.url));
export const appSources: string = join(packageFolder, "test/app");
const packagesFolder = join(packageFolder, "..");
const ownPackages = ["core", "next"];

/** What an application's build depends on besides its sources. */
export function bundlesOf(): readonly string[] {
  return ownPackages.map((name) => join(packagesFolder, name, "dist/bundle"));
}

/** Lays out a variant of the test application. */
export function layOut(folder: string, variant: Variant): void {
  copyApp(appSources, folder, variant);
  writeFileSync(join(folder, `${variant.file}.js`), proxyFile(variant));
  layOutModules(folder, variant.next, ownPackages);
}

/** Lays out the application whose middleware asks for what Edge does not have. */
export function layOutEdgeApp(folder: string, variant: Variant): void {
  copyApp(join(packageFolder, "test/edge-app"), folder, variant);
  layOutModules(folder, variant.next, [...ownPackages, "redis"]);
  link(join(folder, "node_modules"), "ioredis", installed(packageFolder, "ioredis"));
}

function copyApp(sources: string, folder: string, variant: Variant): void {
  rmSync(folder, { recursive: true, force: true });
  cpSync(sources, folder, { recursive: true });
  const manifest = { private: true, type: "module", headgate: variant };
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
}

function layOutModules(folder: string, next: Variant["next"], packages: readonly string[]): void {
  const modules = join(folder, "node_modules");
  link(modules, "next", installed(packageFolder, next));
  for (const name of ["react", "react-dom"]) link(modules, name, installed(packageFolder, name));
  for (const name of packages) copyPackage(modules, name);
}

/** The folder of a package that the Next.js adapter's tests depend on. */
export function installed(from: string, name: string): string {
  return realpathSync(join(from, "node_modules", name));
}

function copyPackage(modules: string, name: string): void {
  const from = join(packagesFolder, name);
  const to = join(modules, "@headgate", name);
  cpSync(join(from, "dist"), join(to, "dist"), { recursive: true });
  cpSync(join(from, "package.json"), join(to, "package.json"));
  const manifest = JSON.parse(readFileSync(join(from, "package.json"), "utf8")) as {
    readonly dependencies?: Readonly<Record<string, string>>;
  };
  for (const dependency of Object.keys(manifest.dependencies ?? {})) {
    if (!dependency.startsWith("@headgate/"))
      link(modules, dependency, installed(from, dependency));
  }
}

function link(modules: string, name: string, target: string): void {
  const path = join(modules, name);
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path);
}

function proxyFile({ file, runtime }: Variant): string {
  // With a base path, only "/" itself matches the home page.
  const matcher = "/((?!_next/static|_next/image|asset\\\\.txt|api/limited|api/legacy).*)";
  return `import { limitedProxy } from "./lib/proxy.js";

export const ${file} = limitedProxy;

export const config = { ${runtime === undefined ? "" : `runtime: "${runtime}", `}matcher: ["/", "${matcher}"] };
`;
}
