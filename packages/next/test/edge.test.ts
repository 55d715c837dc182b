import { join } from "node:path";
import { build as bundle, type Metafile } from "esbuild";
import { describe, expect, it } from "vitest";
import { builtWithIoredisOnEdge } from "./server/app-build.js";
import { packageFolder } from "./server/app-layout.js";
import { next15Edge, next16Edge } from "./server/variants.js";

const entries = [
  ["@headgate/core", "core/dist/bundle/index.js"],
  ["@headgate/core/http", "core/dist/bundle/http.js"],
  ["@headgate/next", "next/dist/bundle/index.js"],
  ["@headgate/redis/http", "redis/dist/bundle/http.js"],
] as const;

describe("on Edge", () => {
  it.each(entries)("N-2: %s needs nothing of Node.js", async (_entry, file) => {
    const { metafile } = await bundle({
      entryPoints: [join(packageFolder, "..", file)],
      bundle: true,
      format: "esm",
      platform: "browser",
      conditions: ["edge-light"],
      external: ["next/*"],
      metafile: true,
      write: false,
    });
    const asked = externalsOf(metafile);
    expect(asked.filter((path) => !path.startsWith("next/"))).toEqual([]);
  });

  it.each([
    ["16", next16Edge],
    ["15", next15Edge],
  ])(
    "N-2: the ioredis store ends the build of Next %s with an error that names the way out",
    async (_version, variant) => {
      const error: unknown = await builtWithIoredisOnEdge(variant).catch(
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(Error);
      const { message } = error as Error;
      expect(message).toMatch(/redisStore/);
      expect(message).toMatch(/@headgate\/redis/);
      if (variant === next16Edge)
        expect(message).toContain("no-tcp-on-edge-import-headgate-redis-http");
    },
    120_000,
  );
});

function externalsOf({ outputs }: Metafile): readonly string[] {
  return Object.values(outputs).flatMap(({ imports }) =>
    imports.filter(({ external }) => external === true).map(({ path }) => path),
  );
}
