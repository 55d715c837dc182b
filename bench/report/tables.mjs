import { figure, ratio } from "./figures.mjs";
import { judged } from "./targets.mjs";

/** The targets and what was reached: lines of Markdown. */
export function targetLines(results) {
  const lines = judged(results).map(
    ({ title, what, target, reached, holds }) =>
      `| ${title} | ${what} | ${target} | ${reached} | ${holds ? "yes" : "**no**"} |`,
  );
  return ["| what | which | target | reached | holds |", "|---|---|---|---|---|", ...lines];
}

/** One measurement: a heading, a table of contestants by cases, and what there is to note. */
export function measurementLines({ title, about, unit, cases }) {
  const names = [...new Set(cases.flatMap(({ rows }) => rows.map(({ name }) => name)))];
  const rows = names.map((name) => {
    const cells = cases.map((one) =>
      cellOf(
        one.rows.find((row) => row.name === name),
        unit,
      ),
    );
    return `| ${name} | ${cells.join(" | ")} |`;
  });
  const notes = new Map(cases.flatMap((one) => one.rows.map(({ name, note }) => [name, note])));
  return [
    `### ${title}`,
    "",
    about,
    "",
    `| | ${cases.map(({ name }) => name).join(" | ")} |`,
    `|---|${cases.map(() => "---:|").join("")}`,
    ...rows,
    "",
    ...noteLines(notes),
  ];
}

function cellOf(row, unit) {
  if (row === undefined) return "";
  if (row.failed !== undefined) return `failed: ${row.failed}`;
  const value = figure(row.median, row.unit ?? unit);
  return row.ratio === undefined ? value : `${value}<br>${ratio(row.ratio)}`;
}

function noteLines(notes) {
  const lines = [...notes]
    .filter(([, note]) => note !== undefined)
    .map(([name, note]) => `- ${name}: ${note}`);
  return lines.length === 0 ? [] : [...lines, ""];
}

/** Where and with what it was measured. */
export function conditionLines({ machine, versions, preset }) {
  const { cores, processor, memoryGb, platform, node, redis } = machine;
  const packages = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return [
    `${cores} cores (${processor}), ${memoryGb} GB, ${platform}, Node.js ${node}, Redis ${redis}. ${packages.join(", ")}.`,
    ...(preset === "full" ? [] : ["", `A ${preset} run: its numbers are a first look.`]),
  ];
}
