import { readFileSync } from "node:fs";
import { join } from "node:path";
import { unstable_doesMiddlewareMatch } from "next/experimental/testing/server.js";
import { describe, expect, it } from "vitest";
import { packageFolder } from "./server/app-layout.js";

const text = readFileSync(join(packageFolder, "../../docs/nextjs.md"), "utf8");

/** The `config` of each file in the documentation, in its order. */
const [proxy, middleware, withoutPrefetches] = [
  ...text.matchAll(/export const config = (\{(?!.*…)[\s\S]*?\});\n/g),
].map(([, literal]) => new Function(`return ${literal}`)() as { matcher: string | string[] });

function matches(
  config: unknown,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): boolean {
  return unstable_doesMiddlewareMatch({ config: config as never, url: path, headers });
}

describe("N-20: the documented matcher", () => {
  it.each([
    ["/", true],
    ["/about", true],
    ["/api/login", true],
    ["/_next/static/chunks/main.js", false],
    ["/_next/image", false],
    ["/favicon.ico", false],
    ["/assets/logo.svg", false],
    ["/api/report", false],
    ["/api/reports", true],
    ["/api/report/7", true],
    ["/favicon.ico-of-mine", true],
    ["/_next/static-page", true],
  ])("of the proxy on %s gives %s", (path, expected) => {
    expect(matches(proxy, path)).toBe(expected);
  });

  it.each([
    ["/api/login", true],
    ["/about", false],
  ])("of the middleware on %s gives %s", (path, expected) => {
    expect(matches(middleware, path)).toBe(expected);
  });

  it("that skips prefetches believes whoever says to prefetch", () => {
    expect(matches(withoutPrefetches, "/about")).toBe(true);
    expect(matches(withoutPrefetches, "/about", { "next-router-prefetch": "1" })).toBe(false);
    expect(matches(withoutPrefetches, "/about", { purpose: "prefetch" })).toBe(false);
  });
});
