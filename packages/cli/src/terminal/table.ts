/** A column of a table: its heading, and whether it holds numbers, which end at one edge. */
export interface TableColumn {
  readonly heading: string;
  readonly align: "left" | "right";
}

/** A column of text. */
export function left(heading: string): TableColumn {
  return { heading, align: "left" };
}

/** A column of numbers. */
export function right(heading: string): TableColumn {
  return { heading, align: "right" };
}

/** The lines of a table without borders. The last column is never padded, so that long text wraps alone. */
export function tableLines(
  columns: readonly TableColumn[],
  rows: readonly (readonly string[])[],
): readonly string[] {
  const headings = columns.map(({ heading }) => heading);
  const widths = columns.map((_, index) =>
    Math.max(...[headings, ...rows].map((row) => (row[index] ?? "").length)),
  );
  const line = (cells: readonly string[]): string =>
    columns
      .map(({ align }, index) => {
        const cell = cells[index] ?? "";
        const width = widths[index] as number;
        if (align === "right") return cell.padStart(width);
        return index === columns.length - 1 ? cell : cell.padEnd(width);
      })
      .join("  ")
      .trimEnd();
  const rule = widths.map((width) => "─".repeat(width)).join("  ");
  return [line(headings), rule, ...rows.map(line)];
}
