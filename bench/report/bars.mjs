import { figure } from "./figures.mjs";
import { bar, picture, text } from "./svg.mjs";

/** What the picture shows: cases that stand for their measurements. */
const panels = [
  { name: "memory", x: 10_000, title: "Decisions in memory, 10,000 keys" },
  { name: "middleware", case: "admitted", title: "Express middleware, three fields" },
  { name: "redis", x: 64, title: "Decisions in Redis, 64 in flight" },
  { name: "idle-keys", title: "Memory for each idle key, 1,000,000 keys" },
];

const labelEnd = 300;
const barFrom = 310;
const longest = 380;
const lineHeight = 20;

/** Bars for the headline cases, ours beside the others; longer is more, which is better only where it says so. */
export function barsPicture(results) {
  const content = [];
  let y = 24;
  for (const panel of panels) {
    const measurement = results.measurements.find(({ name }) => name === panel.name);
    const rows = rowsOf(measurement, panel);
    if (rows.length === 0) continue;
    const most = Math.max(...rows.map(({ median }) => median));
    content.push(text(16, y, panel.title, { kind: "title" }));
    content.push(text(784, y, `${measurement.better} is better`, { kind: "soft", anchor: "end" }));
    y += 8;
    for (const row of rows) {
      const length = (row.median / most) * longest;
      content.push(text(labelEnd, y + 14, row.name, { anchor: "end" }));
      content.push(bar({ x: barFrom, y: y + 3, length, thickness: 14, kind: kindOf(row) }));
      const value = figure(row.median, measurement.unit);
      content.push(text(barFrom + length + 6, y + 14, value, { kind: "soft" }));
      y += lineHeight;
    }
    y += 32;
  }
  return picture({ title: "What Headgate costs beside other limiters", height: y - 12, content });
}

function rowsOf(measurement, panel) {
  const found = measurement?.cases.find(
    ({ name, x }, index) =>
      name === panel.case ||
      (panel.x === undefined ? panel.case === undefined && index === 0 : x === panel.x),
  );
  return found?.rows.filter(({ failed }) => failed === undefined) ?? [];
}

function kindOf({ name, ours }) {
  if (ours) return "ours";
  return name.startsWith("floor") ? "floor" : "other";
}
