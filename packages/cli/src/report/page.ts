import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Chart } from "./charts.js";
import { dataScript, html, Markup } from "./markup.js";
import { chartTable } from "./tables.js";

/** What a page is made of besides its charts. */
export interface PageContent {
  readonly title: string;
  readonly lead: readonly string[];
  /** What stands above the charts and below them. */
  readonly above: Markup;
  readonly below: Markup;
  readonly charts: readonly Chart[];
  readonly footer: string;
}

/** One page with everything in it: it loads nothing, and runs nothing but the scripts that it came with. */
export function page({ title, lead, above, below, charts, footer }: PageContent): string {
  const { style, chartStyle, scripts } = assets();
  const policy = `default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src ${scripts.map(scriptHash).join(" ")}`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>${title}</title>
<style>${new Markup(chartStyle)}${new Markup(style)}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the numbers</a>
<header>
<p class="brand">headgate</p>
<h1>${title}</h1>
${lead.map((line) => html`<p>${line}</p>\n`)}
</header>
<main id="main" tabindex="-1">
<noscript><p class="note">Charts need scripts, which are off. The tables hold all of their numbers.</p></noscript>
${above}
${charts.map(figure)}
${below}
</main>
<footer><p>${footer}</p></footer>
${dataScript("charts", charts)}
${scripts.map((text) => new Markup(`<script>${text}</script>\n`))}
</body>
</html>
`.text;
}

/** The place of a chart and its tables, which are open where no script closes them. */
function figure(chart: Chart): Markup {
  return html`<section aria-labelledby="${chart.id}-title">
<h2 id="${chart.id}-title">${chart.title}</h2>
<p>${chart.description}</p>
<div class="chart" data-chart="${chart.id}"></div>
<details open><summary>${chart.title} as ${chart.views.length === 1 ? "a table" : "tables"}</summary>
${chart.views.map((view) => chartTable(chart, view))}
</details>
</section>
`;
}

interface Assets {
  readonly style: string;
  readonly chartStyle: string;
  readonly scripts: readonly string[];
}

function assets(): Assets {
  const { resolve } = createRequire(import.meta.url);
  const own = join(dirname(resolve("@headgate/cli/package.json")), "page");
  const read = (file: string): string => readFileSync(file, "utf8");
  return {
    style: read(join(own, "report.css")),
    chartStyle: read(resolve("uplot/dist/uPlot.min.css")),
    scripts: [
      read(resolve("uplot/dist/uPlot.iife.min.js")),
      read(join(own, "plot.js")),
      read(join(own, "report.js")),
    ],
  };
}

function scriptHash(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}
