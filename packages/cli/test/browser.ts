import axe from "axe-core";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";

/** The system's Chromium, kept from asking anything of anybody. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env.CHROMIUM_BIN ?? "/usr/bin/chromium",
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

/** A page of a file, and everything that went wrong in it. */
export async function opened(
  browser: Browser,
  file: string,
  options: BrowserContextOptions,
): Promise<{ readonly page: Page; readonly errors: readonly string[] }> {
  // A policy of the page would keep axe out as well.
  const context = await browser.newContext({ bypassCSP: true, ...options });
  const page = await context.newPage();
  const errors: string[] = [];
  page.on("pageerror", ({ message }) => errors.push(message));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) errors.push(message.text());
  });
  page.on("request", (request) => {
    if (!/^(file|data):/.test(request.url())) errors.push(`asked for ${request.url()}`);
  });
  await page.goto(`file://${file}`);
  return { page, errors };
}

/** What axe finds wrong, with the elements. */
export async function accessibilityFaults(page: Page): Promise<readonly string[]> {
  await page.addScriptTag({ content: axe.source });
  return page.evaluate(async () => {
    const { axe: loaded } = globalThis as unknown as { axe: typeof import("axe-core") };
    const { violations } = await loaded.run();
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
  });
}
