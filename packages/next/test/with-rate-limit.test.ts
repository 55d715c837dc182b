import { describe, expect, it } from "vitest";
import { withRateLimit } from "../src/index.js";
import { requestTo, shared, testLimiter } from "./limits.js";

const context = { params: Promise.resolve({ id: "7" }) };

function options() {
  return { limiter: testLimiter(), ...shared, policies: ["small"] as const };
}

describe("withRateLimit", () => {
  it("hands on the request, and the context with the decision", async () => {
    const request = requestTo("/a");
    const limited = withRateLimit(async (received, { params, decision }) => {
      expect(received).toBe(request);
      return Response.json({ ...(await params), remaining: decision?.remaining });
    }, options());
    const response = await limited(request, context);
    expect(await response.json()).toEqual({ id: "7", remaining: 1 });
    expect(response.headers.get("x-ratelimit-remaining")).toBe("1");
  });

  it("N-8: does not read the body", async () => {
    const limited = withRateLimit(async (request) => new Response(await request.text()), options());
    const request = requestTo("/a", { method: "POST" });
    expect(request.bodyUsed).toBe(false);
    expect((await limited(request, context)).status).toBe(200);
  });

  it("leaves the fields out where no policy is chosen", async () => {
    const limited = withRateLimit(
      (_request, { decision }) => Response.json(decision === undefined),
      { ...options(), policies: () => false as const },
    );
    const response = await limited(requestTo("/a"), context);
    expect(await response.json()).toBe(true);
    expect(response.headers.has("x-ratelimit-limit")).toBe(false);
  });

  it("refuses with the application's headers and never calls the handler", async () => {
    let calls = 0;
    const limited = withRateLimit(
      () => {
        calls += 1;
        return new Response("ok");
      },
      { ...options(), cost: 2, refusalHeaders: () => ({ "Access-Control-Allow-Origin": "*" }) },
    );
    await limited(requestTo("/a"), context);
    const response = await limited(requestTo("/a"), context);
    expect(response.status).toBe(429);
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(calls).toBe(1);
  });

  it.each([
    ["NEXT_REDIRECT;replace;/a;b;307;", "GET", 307, "/a;b"],
    ["NEXT_REDIRECT;push;https://shop.example/;308;", "GET", 308, "https://shop.example/"],
    ["NEXT_HTTP_ERROR_FALLBACK;404", "GET", 404, null],
    ["NEXT_HTTP_ERROR_FALLBACK;401", "GET", 401, null],
  ])("makes the response that Next makes of %s", async (digest, method, status, location) => {
    const limited = withRateLimit(() => {
      throw Object.assign(new Error(digest), { digest });
    }, options());
    const response = await limited(requestTo("/a", { method }), context);
    expect(response.status).toBe(status);
    expect(response.headers.get("location")).toBe(location);
    expect(response.headers.get("x-ratelimit-limit")).toBe("2");
  });

  it.each([
    ["POST", { "content-type": "application/x-www-form-urlencoded" }, 303],
    ["POST", { "content-type": "application/x-www-form-urlencoded; charset=utf-8" }, 307],
    ["POST", { "content-type": "multipart/form-data; boundary=b" }, 303],
    ["POST", { "next-action": "00" }, 303],
    ["POST", { "content-type": "application/json" }, 307],
    ["PUT", { "next-action": "00" }, 307],
  ])("redirects %s with %j by the status that Next gives", async (method, headers, status) => {
    const limited = withRateLimit(() => {
      throw Object.assign(new Error("redirect"), { digest: "NEXT_REDIRECT;replace;/a;307;" });
    }, options());
    const response = await limited(requestTo("/a", { method, headers }), context);
    expect(response.status).toBe(status);
  });

  it.each([
    undefined,
    null,
    "text",
    new Error("mine"),
    { digest: 7 },
    { digest: "NEXT_REDIRECT" },
    { digest: "OTHER;404" },
  ])("rethrows %j", async (thrown) => {
    const limited = withRateLimit(() => {
      throw thrown;
    }, options());
    await expect(limited(requestTo("/a"), context)).rejects.toBe(thrown);
  });
});
