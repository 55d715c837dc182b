import { figure } from "./figures.mjs";
import { line, picture, text } from "./svg.mjs";

const columns = 2;
const panel = { width: 400, height: 310, left: 62, right: 24, top: 34, bottom: 148 };
const kinds = ["ours", "second", "third", "other", "floor", "ours", "second"];

/** How costs grow: one panel for each measurement that has an axis, both axes logarithmic. */
export function curvesPicture(results) {
  const shown = results.measurements.filter(
    ({ growth, name }) => growth !== undefined && name !== "soak",
  );
  const content = shown.flatMap((measurement, index) =>
    panelOf(measurement, {
      x: (index % columns) * panel.width,
      y: Math.floor(index / columns) * panel.height,
    }),
  );
  const height = Math.max(1, Math.ceil(shown.length / columns)) * panel.height;
  return picture({ title: "How the cost of a decision grows", height, content });
}

function panelOf({ title, unit, growth, cases }, at) {
  const points = cases.filter(({ x }) => x !== undefined);
  const series = seriesOf(points, unit);
  const values = series.flatMap((one) => one.points.map(([, value]) => value));
  const across = scale(
    points.map(({ x }) => x),
    at.x + panel.left,
    at.x + panel.width - panel.right,
  );
  const up = scale(decades(values), at.y + panel.height - panel.bottom, at.y + panel.top);
  const bottom = at.y + panel.height - panel.bottom;
  return [
    text(at.x + 16, at.y + 18, title, { kind: "title" }),
    ...decades(values).flatMap((value) => [
      line(
        [
          [at.x + panel.left, up(value)],
          [at.x + panel.width - panel.right, up(value)],
        ],
        "grid",
      ),
      text(at.x + panel.left - 6, up(value) + 4, figure(value, unit), {
        kind: "soft",
        anchor: "end",
      }),
    ]),
    ...points.map(({ x }) =>
      text(across(x), bottom + 16, compact(x), { kind: "soft", anchor: "middle" }),
    ),
    text(at.x + panel.width - panel.right, bottom + 30, growth, { kind: "soft", anchor: "end" }),
    ...series.flatMap(({ name, kind, points: drawn }, index) => [
      line(
        drawn.map(([x, value]) => [across(x), up(value)]),
        kind,
      ),
      ...legend(at, bottom, { name, kind, index }),
    ]),
  ];
}

/** The rows that share the measurement's unit, each with a point wherever it was measured. */
function seriesOf(points, unit) {
  const names = new Set(
    points.flatMap(({ rows }) =>
      rows.filter((row) => row.unit === undefined).map(({ name }) => name),
    ),
  );
  return [...names].map((name, index) => ({
    name,
    kind: kinds[index % kinds.length],
    points: points.flatMap(({ x, rows }) => {
      const row = rows.find((one) => one.name === name);
      return row?.median > 0 && unit !== undefined ? [[x, row.median]] : [];
    }),
  }));
}

function legend({ x }, bottom, { name, kind, index }) {
  const left = x + 62;
  const y = bottom + 48 + index * 16;
  return [
    line(
      [
        [left, y - 4],
        [left + 14, y - 4],
      ],
      kind,
    ),
    text(left + 20, y, name, { kind: "soft" }),
  ];
}

function scale(values, from, to) {
  const [low, high] = [Math.log10(Math.min(...values)), Math.log10(Math.max(...values))];
  return (value) => from + ((Math.log10(value) - low) / (high - low || 1)) * (to - from);
}

/** The powers of ten around some values. */
function decades(values) {
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.ceil(Math.log10(Math.max(...values)));
  return Array.from({ length: Math.max(high, low + 1) - low + 1 }, (_, step) => 10 ** (low + step));
}

function compact(value) {
  return value >= 1e6 ? `${value / 1e6}M` : value >= 1e3 ? `${value / 1e3}k` : String(value);
}
