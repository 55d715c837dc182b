// What both pictures share. Their colours follow the reader's light or dark theme.
const width = 800;

const style = `
  text { font: 12px system-ui, sans-serif; fill: #24292f }
  .title { font-weight: 600; font-size: 13px }
  .soft { fill: #57606a }
  .ours { fill: #0969da; stroke: #0969da }
  .other { fill: #8c959f; stroke: #8c959f }
  .second { fill: #bf8700; stroke: #bf8700 }
  .third { fill: #1a7f37; stroke: #1a7f37 }
  .floor { fill: #d0d7de; stroke: #d0d7de }
  .bar { stroke: none }
  .line { fill: none; stroke-width: 2 }
  .grid { stroke: #d0d7de; stroke-width: 1 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .soft { fill: #9198a1 }
    .ours { fill: #4493f8; stroke: #4493f8 }
    .other { fill: #9198a1; stroke: #9198a1 }
    .second { fill: #d29922; stroke: #d29922 }
    .third { fill: #3fb950; stroke: #3fb950 }
    .floor { fill: #3d444d; stroke: #3d444d }
    .grid { stroke: #3d444d }
  }`;

/** A whole picture. */
export function picture({ title, height, content }) {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(title)}">`,
    `<title>${escaped(title)}</title>`,
    `<style>${style}\n</style>`,
    ...content,
    "</svg>",
    "",
  ].join("\n");
}

export function text(x, y, words, { kind = "", anchor = "start" } = {}) {
  return `<text x="${round(x)}" y="${round(y)}" class="${kind}" text-anchor="${anchor}">${escaped(words)}</text>`;
}

export function bar({ x, y, length, thickness, kind }) {
  return `<rect x="${x}" y="${y}" width="${round(Math.max(1, length))}" height="${thickness}" rx="2" class="bar ${kind}"/>`;
}

export function line(points, kind) {
  const path = points.map(([x, y]) => `${round(x)},${round(y)}`).join(" ");
  return `<polyline points="${path}" class="line ${kind}"/>`;
}

function round(value) {
  return Number(value.toFixed(1));
}

function escaped(words) {
  return words.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
