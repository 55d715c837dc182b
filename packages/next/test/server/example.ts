import { join } from "node:path";
import { type BuiltApp, buildOnce } from "./app-build.js";
import { packageFolder } from "./app-layout.js";

const folder = join(packageFolder, "../../examples/next");
const sources = ["app", "lib", "pages", "proxy.ts", "package.json", "tsconfig.json"];

/** Builds the example that users copy, where it stands. */
export function builtExample(): Promise<BuiltApp> {
  const bundles = ["core", "next", "redis"].map((name) =>
    join(packageFolder, "..", name, "dist/bundle"),
  );
  const watched = [...sources.map((name) => join(folder, name)), ...bundles];
  return buildOnce({ folder, watched, next: "next" });
}
