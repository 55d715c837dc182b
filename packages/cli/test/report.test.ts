import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accessibilityFaults, launchBrowser, opened } from "./browser.js";
import { Folder, traffic } from "./files.js";
import { headgate } from "./terminal.js";

const folder = new Folder();
const pages = {
  replay: join(folder.path, "replay.html"),
  logins: join(folder.path, "logins.html"),
  suggest: join(folder.path, "suggest.html"),
};
const narrow = { width: 360, height: 780 };
const wide = { width: 1_280, height: 900 };

let browser: Browser;
beforeAll(async () => {
  const policies = folder.policies({
    perClient: { algorithm: "fixed-window", limit: 20, window: "1m" },
    burst: { algorithm: "token-bucket", limit: 20, window: "1m", burst: 10 },
  });
  const login = folder.policies({
    login: {
      algorithm: "sliding-window",
      limit: 5,
      window: "15m",
      by: ["ip", "user"],
      count: "failures",
    },
  });
  const web = traffic("web-access.log.gz");
  await headgate(["replay", web, "--policies", policies, "--html", pages.replay]);
  const failed = ["--failed", "ok=false", "--html", pages.logins];
  await headgate(["replay", traffic("logins.jsonl.gz"), "--policies", login, ...failed]);
  await headgate(["suggest", web, "--refuse", "1%", "--algorithm", "all", "--html", pages.suggest]);
  browser = await launchBrowser();
}, 60_000);
afterAll(() => browser?.close());

async function scrollsSideways(page: Page): Promise<boolean> {
  return page.evaluate(
    () => document.documentElement.scrollWidth > document.documentElement.clientWidth,
  );
}

const looks = (Object.keys(pages) as (keyof typeof pages)[]).flatMap(
  (name) =>
    [
      { name, colorScheme: "light", viewport: narrow },
      { name, colorScheme: "dark", viewport: wide },
    ] as const,
);

describe("a report", () => {
  it.each(looks)(
    "$name is accessible and fits, $colorScheme, $viewport.width px wide",
    async ({ name, colorScheme, viewport }) => {
      const { page, errors } = await opened(browser, pages[name], { colorScheme, viewport });
      await page.waitForSelector("canvas");
      expect(await scrollsSideways(page)).toBe(false);
      await page.evaluate(() => {
        for (const details of document.querySelectorAll("details")) details.open = true;
      });
      expect(await scrollsSideways(page)).toBe(false);
      expect(await accessibilityFaults(page)).toEqual([]);
      expect(errors).toEqual([]);
      await page.context().close();
    },
  );

  it("runs its scripts under its own content policy", async () => {
    const options = { viewport: wide, bypassCSP: false };
    const { page, errors } = await opened(browser, pages.replay, options);
    await page.waitForSelector("canvas");
    expect(await page.locator("canvas").count()).toBe(4);
    expect(errors).toEqual([]);
    await page.context().close();
  });

  it("tells a chart's points to the keyboard, and they are those of its table", async () => {
    const { page } = await opened(browser, pages.replay, { viewport: wide });
    const slider = page.getByRole("slider", { name: /^What other limits would refuse/ });
    await slider.focus();
    await page.keyboard.press("Home");
    const first = await slider.getAttribute("aria-valuetext");
    await page.keyboard.press("ArrowRight");
    const second = await slider.getAttribute("aria-valuetext");
    expect(first).toMatch(/^limit 5: perClient [\d.]+ %, burst [\d.]+ %$/);
    expect(second).not.toBe(first);
    await page.locator("summary", { hasText: "What other limits would refuse" }).focus();
    await page.keyboard.press("Enter");
    const row = page.getByRole("row", { name: /^5 / }).first();
    const [, share] = /perClient ([\d.]+ %)/.exec(first ?? "") ?? [];
    expect(await row.textContent()).toContain(share);
    await page.context().close();
  });

  it("takes a policy off its chart by keyboard", async () => {
    const { page } = await opened(browser, pages.replay, { viewport: wide });
    const button = page.getByRole("button", { name: "burst" }).first();
    await button.focus();
    await page.keyboard.press("Enter");
    expect(await button.getAttribute("aria-pressed")).toBe("false");
    const slider = page.getByRole("slider", { name: /^Refusals over time/ });
    expect(await slider.getAttribute("aria-valuetext")).not.toContain("burst");
    await page.context().close();
  });

  it("follows the colour scheme, also when it changes", async () => {
    const { page, errors } = await opened(browser, pages.replay, { viewport: wide });
    const swatch = page.locator(".tools line").first();
    const light = await swatch.getAttribute("stroke");
    await page.emulateMedia({ colorScheme: "dark" });
    await expect.poll(() => swatch.getAttribute("stroke")).not.toBe(light);
    expect(errors).toEqual([]);
    await page.context().close();
  });

  it("draws its charts anew when the window gets narrow", async () => {
    const { page } = await opened(browser, pages.replay, { viewport: wide });
    await page.setViewportSize(narrow);
    const widest = (): Promise<number> =>
      page.evaluate(() =>
        Math.max(...[...document.querySelectorAll("canvas")].map(({ clientWidth }) => clientWidth)),
      );
    await expect.poll(widest).toBeLessThan(narrow.width);
    expect(await scrollsSideways(page)).toBe(false);
    await page.context().close();
  });

  it("says that scripts are off, and shows all tables then", async () => {
    const { page } = await opened(browser, pages.replay, {
      javaScriptEnabled: false,
      viewport: narrow,
    });
    expect(await page.locator("p.note").isVisible()).toBe(true);
    for (const table of await page.locator(".scroll table").all())
      expect(await table.isVisible()).toBe(true);
    await page.context().close();
  });

  it("shows text of a log as text", async () => {
    const attack = `</script><img/src=x/onerror=alert(1)>`;
    const line = `192.0.2.1 - - [01/Jan/2026:00:00:00 +0000] "GET /${attack} HTTP/1.1" 200 1\n`;
    const policies = folder.policies({
      one: { algorithm: "fixed-window", limit: 1, window: "1m" },
    });
    const file = join(folder.path, "attack.html");
    const log = folder.file(line.repeat(3));
    await headgate(["replay", log, "--policies", policies, "--html", file]);
    const { page, errors } = await opened(browser, file, { viewport: wide });
    await page.waitForSelector("canvas");
    expect(await page.locator("img").count()).toBe(0);
    expect(await page.locator("code").first().textContent()).toContain("<img");
    expect(errors).toEqual([]);
    await page.context().close();
  });

  it("would be found out by the check for accessibility", async () => {
    const file = join(folder.path, "faulty.html");
    const text = readFileSync(pages.replay, "utf8");
    writeFileSync(file, text.replaceAll("--soft: #545c66", "--soft: #c8c8c8"));
    const { page } = await opened(browser, file, { viewport: wide });
    expect((await accessibilityFaults(page)).join()).toContain("color-contrast");
    await page.context().close();
  });
});
