import fc from "fast-check";
import { NextRequest } from "next/server.js";
import { describe, expect, it } from "vitest";
import { pathForms, pathMatcher } from "../src/path.js";

describe("the path that rules see", () => {
  it.each([
    ["/", "/"],
    ["", "/"],
    ["//", "/"],
    ["/api/login", "/api/login"],
    ["/api/login/", "/api/login"],
    ["//api///login//", "/api/login"],
    ["/api\\login", "/api/login"],
    ["/api/%6Cogin", "/api/login"],
    ["/api%2Flogin", "/api/login"],
    ["/api/%256Cogin", "/api/%6Cogin"],
    ["/api/LOGIN", "/api/LOGIN"],
    ["/api/%E0%A4%A", "/api/%E0%A4%A"],
    ["/_next/data/build/shop/cart.json", "/shop/cart"],
    ["/_next/data/build/index.json", "/"],
  ])("of %s is %s", (path, expected) => {
    expect(pathForms(path)).toContain(expected);
  });

  it.each([
    ["/users/a%2Fb", ["/users/a/b", "/users/a%2Fb"]],
    ["/users/a%5Cb/", ["/users/a/b", "/users/a%5Cb"]],
    ["/%61pi/%ff", ["/%61pi/%ff", "/api/%ff"]],
    ["/%61pi/a", ["/api/a"]],
  ])("of %s has the forms %j, as routes with and without parameters see it", (path, forms) => {
    expect(pathForms(path)).toEqual(forms);
  });

  it("has neither the base path nor the locale", () => {
    const { nextUrl } = new NextRequest("https://shop.example/shop/nl/cart", {
      nextConfig: { basePath: "/shop", i18n: { locales: ["en", "nl"], defaultLocale: "en" } },
    });
    expect(pathForms(nextUrl.pathname)).toEqual(["/cart"]);
  });

  it("is rooted, without double or trailing slash, and never throws, whatever comes", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        for (const form of pathForms(`/${text}`)) expect(form).toMatch(/^\/$|^\/[^/](.*[^/])?$/s);
      }),
    );
  });
});

describe("a pattern", () => {
  it.each([
    ["/api/login", "/api/login", true],
    ["/api/login", "/api/login/more", false],
    ["/api/login", "/API/login", false],
    ["/api/:path*", "/api", true],
    ["/api/:path*", "/api/a/b", true],
    ["/api/:path*", "/apis", false],
    ["/users/:id(\\d+)", "/users/7", true],
    ["/users/:id(\\d+)", "/users/x", false],
    ["/((?!api/).*)", "/about", true],
    ["/((?!api/).*)", "/api/x", false],
  ])("%s on %s gives %s", (pattern, path, expected) => {
    expect(pathMatcher("path", pattern)(path)).toBe(expected);
  });

  it.each([
    ["/api/:path*", "/api/a%3Fb"],
    ["/api/:path*", "/api/a%23b"],
    ["/api/:path*", "/api/a%0Ab"],
    ["/users/:id", "/users/a%2Fb"],
    ["/users/:id", "/users/a%5Cb"],
    ["/users/:id", "/users/%3F"],
    ["/((?!api/).*)", "/users/a%0Ab"],
    ["/((?!api/).*)", "/users/a%E2%80%A8b"],
    ["/((?!api/).*)", "/_next/data/build/users/a%0Ab.json"],
  ])("%s holds for %s, which reaches a route with a parameter", (pattern, path) => {
    expect(pathForms(path).some(pathMatcher("path", pattern))).toBe(true);
  });

  it.each(["api", "", "/:", "/(", [], [""], 5, undefined])("of %j is an error", (pattern) => {
    expect(() => pathMatcher("rules[0].path", pattern as string)).toThrow(/rules\[0\]\.path/);
  });
});
