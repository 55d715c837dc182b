import type { TableColumn } from "../terminal/table.js";
import { wholeNumber } from "../words/durations.js";
import type { Chart, View } from "./charts.js";
import { html, type Markup } from "./markup.js";

/** A table; on a narrow screen each row becomes a list of its cells with their headings. */
export function table(
  caption: string,
  columns: readonly TableColumn[],
  rows: readonly (readonly (string | Markup)[])[],
): Markup {
  const headings = columns.map(
    ({ heading, align }) =>
      html`<th scope="col" role="columnheader" class="${align}">${heading}</th>`,
  );
  const cell = (content: string | Markup, index: number): Markup => {
    const { heading, align } = columns[index] as TableColumn;
    return index === 0
      ? html`<th scope="row" role="rowheader" class="${align}">${content}</th>`
      : html`<td role="cell" class="${align}" data-heading="${heading}">${content}</td>`;
  };
  return html`<table role="table" class="stacked">
<caption>${caption}</caption>
<thead role="rowgroup"><tr role="row">${headings}</tr></thead>
<tbody role="rowgroup">${rows.map((row) => html`<tr role="row">${row.map(cell)}</tr>\n`)}</tbody>
</table>`;
}

/** The table that says what a view of a chart shows. */
export function chartTable(chart: Chart, view: View): Markup {
  const headings = [chart.pointName, ...view.series.map(({ label }) => label)];
  const rows = view.points.map((point, index) => [
    pointText(chart, point),
    ...view.series.map(({ values }) => valueText(view, values[index] ?? null)),
  ]);
  const caption = chart.views.length === 1 ? chart.title : `${chart.title}: ${view.label}`;
  return html`<div class="scroll" role="region" tabindex="0" aria-label="${caption}, as a table"><table>
<caption>${caption}</caption>
<thead><tr>${headings.map((heading) => html`<th scope="col">${heading}</th>`)}</tr></thead>
<tbody>${rows.map(([first = "", ...rest]) => html`<tr><th scope="row">${first}</th>${rest.map((text) => html`<td>${text}</td>`)}</tr>\n`)}</tbody>
</table></div>`;
}

function pointText({ kind }: Chart, point: number | string): string {
  if (typeof point === "string") return point;
  if (kind !== "time") return wholeNumber(point);
  return new Date(point * 1_000).toISOString().slice(0, 19).replace("T", " ");
}

function valueText({ unit }: View, value: number | null): string {
  if (value === null) return "–";
  return unit === "percent" ? `${value} %` : wholeNumber(value);
}
