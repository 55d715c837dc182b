// Lays out an application as its users have it: the published form of the packages, copied, so that
// they find the application's own Next.js, and everything else as a link.
import { cpSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { next16Proxy, type Variant } from "./variants.js";

export const packageFolder: string = fileURLToPath(new URL("../../", import.meta.url));
const packagesFolder = join(packageFolder, "..");
const ownPackages = ["core", "next", "redis"];
const exampleFolder = join(packageFolder, "../../examples/next");
const exampleSources = ["app", "lib", "pages", "proxy.ts", "tsconfig.json"];

/** An application before its build: what it depends on, and how its files come into a folder. */
export interface AppPlan {
  readonly name: string;
  readonly next: Variant["next"];
  readonly watched: readonly string[];
  layOut(folder: string): void;
}

/** A variant of the test application. */
export function variantPlan(variant: Variant): AppPlan {
  return planOf(variant.name, variant, (folder) => {
    copySources(join(packageFolder, "test/app"), folder, variant);
    writeFileSync(join(folder, `${variant.file}.js`), proxyFile(variant));
  });
}

/** The application whose middleware asks for what Edge does not have. */
export function edgePlan(variant: Variant): AppPlan {
  return planOf(`ioredis-on-${variant.name}`, variant, (folder) =>
    copySources(join(packageFolder, "test/edge-app"), folder, variant),
  );
}

/** The example, as somebody has it who copied its files and installed the packages. */
export function examplePlan(): AppPlan {
  return planOf("example", next16Proxy, (folder) => {
    for (const name of exampleSources)
      cpSync(join(exampleFolder, name), join(folder, name), { recursive: true });
    writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
    const modules = join(folder, "node_modules");
    for (const name of ["typescript", "@types/node", "@types/react"])
      link(modules, name, installed(exampleFolder, name));
  });
}

function planOf(name: string, { next }: Variant, copy: (folder: string) => void): AppPlan {
  const bundles = ownPackages.map((own) => join(packagesFolder, own, "dist/bundle"));
  const example = exampleSources.map((source) => join(exampleFolder, source));
  const sources = ["app", "edge-app", "server"].map((folder) =>
    join(packageFolder, "test", folder),
  );
  return {
    name,
    next,
    watched: [...bundles, ...(name === "example" ? example : sources)],
    layOut: (folder) => {
      copy(folder);
      layOutModules(folder, next);
    },
  };
}

function copySources(sources: string, folder: string, variant: Variant): void {
  cpSync(sources, folder, { recursive: true });
  const manifest = { private: true, type: "module", headgate: variant };
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
}

function layOutModules(folder: string, next: Variant["next"]): void {
  const modules = join(folder, "node_modules");
  link(modules, "next", installed(packageFolder, next));
  for (const name of ["react", "react-dom", "ioredis"])
    link(modules, name, installed(packageFolder, name));
  for (const name of ownPackages) copyPackage(modules, name);
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
  const matcher =
    "/((?!_next/static|_next/image|asset\\\\.txt|api/limited|api/legacy|api/shared).*)";
  return `import { limitedProxy } from "./lib/proxy.js";

export const ${file} = limitedProxy;

export const config = { ${runtime === undefined ? "" : `runtime: "${runtime}", `}matcher: ["/", "${matcher}"] };
`;
}
