import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { builtApp, builtExample } from "./server/app-build.js";
import { launchBrowser, visitorFrom } from "./server/browser.js";
import { type NextServer, startServer } from "./server/next-server.js";
import { next16Proxy } from "./server/variants.js";

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
}, 60_000);
afterAll(() => browser?.close());

describe("a visitor of the example", () => {
  let server: NextServer;
  beforeAll(async () => {
    server = await startServer(await builtExample());
  }, 300_000);
  afterAll(() => server?.stop());

  it("presses the button until refused, reads the wait, and succeeds after it", async () => {
    const page = await visitorFrom(browser, "203.0.113.10");
    await page.goto(server.url);
    const status = page.getByRole("status");
    const press = async (): Promise<string> => {
      const before = await status.textContent();
      await page.getByRole("button", { name: "Order" }).click();
      // Two orders never have the same time, and a refusal has another text than an order.
      await expect.poll(() => status.textContent()).not.toBe(before);
      return (await status.textContent()) ?? "";
    };
    const pressedAt = performance.now();
    let [orders, refusal] = [0, await press()];
    // Where presses take long, an order counts no more before the window has room for three.
    for (; refusal.startsWith("Ordered at") && orders < 30; orders += 1) refusal = await press();
    expect(orders).toBeGreaterThanOrEqual(3);
    expect(refusal).toMatch(/^Too many requests\. Retry after (1 second|2 seconds)\.$/);
    const waitMs = Number(/\d/.exec(refusal)?.[0]) * 1000;
    await page.waitForTimeout(waitMs);
    expect(await press()).toMatch(/^Ordered at/);
    expect(performance.now() - pressedAt).toBeLessThan(20_000);
    await page.context().close();
  });
});

describe("a visitor whom the proxy refuses", () => {
  let server: NextServer;
  beforeAll(async () => {
    server = await startServer(await builtApp(next16Proxy));
  }, 300_000);
  afterAll(() => server?.stop());

  async function exhaust(path: string, from: string, times: number): Promise<void> {
    for (let count = 0; count < times; count += 1) await server.send(path, { from });
  }

  it("N-11: gets the message of a refused Server Action as the error that the page catches", async () => {
    const from = "203.0.113.20";
    const page = await visitorFrom(browser, from);
    await page.goto(`${server.url}/order`);
    await page.waitForLoadState("networkidle");
    await exhaust("/order", from, 5);
    await page.getByRole("button", { name: "order" }).click();
    const status = page.getByRole("status");
    const message = "failed: Too many requests. Retry after 40 seconds.";
    await expect.poll(() => status.textContent()).toBe(message);
    await page.context().close();
  });

  it("is charged once by an action that asks twice, and gets its refusal as data", async () => {
    const page = await visitorFrom(browser, "203.0.113.21");
    await page.goto(`${server.url}/order`);
    const status = page.getByRole("status");
    const button = page.getByRole("button", { name: "order" });
    await button.click();
    await expect.poll(() => status.textContent()).toBe("placed, 1 left, then 1");
    await button.click();
    await expect.poll(() => status.textContent()).toBe("placed, 0 left, then 0");
    await button.click();
    await expect
      .poll(() => status.textContent())
      .toBe("refused: Too many requests. Retry after 40 seconds.");
    await page.context().close();
  });

  it("N-12: sees the refusal's text after a navigation, which asks for the page a second time", async () => {
    const from = "203.0.113.22";
    const page = await visitorFrom(browser, from);
    await page.goto(`${server.url}/one-link`);
    await page.waitForLoadState("networkidle");
    await exhaust("/static", from, 5);
    const refused: (string | undefined)[] = [];
    page.on("response", (response) => {
      if (response.status() === 429) refused.push(response.headers()["content-type"]);
    });
    await page.getByRole("link", { name: "onwards" }).click();
    await page.waitForURL("**/static");
    expect(await page.textContent("body")).toBe("Too many requests. Retry after 40 seconds.");
    expect(refused).toEqual(["application/json; charset=utf-8", "text/plain; charset=utf-8"]);
    await page.context().close();
  });

  it("N-13: is not refused by a page of 30 links, whose prefetches count", async () => {
    const page = await visitorFrom(browser, "203.0.113.23");
    const remaining: number[] = [];
    page.on("response", (response) => {
      const { "x-ratelimit-limit": limit, "x-ratelimit-remaining": left } = response.headers();
      if (limit === "300") remaining.push(Number(left));
    });
    await page.goto(`${server.url}/links`);
    await page.waitForLoadState("networkidle");
    const used = 300 - Math.min(...remaining);
    expect(used).toBeGreaterThan(30);
    expect(used).toBeLessThan(150);
    await page.getByRole("link", { name: "item 29" }).click();
    await page.getByRole("heading", { name: "item 29" }).waitFor();
    await page.context().close();
  });
});
