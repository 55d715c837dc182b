/** A number for each of a growing list of rows. */
export class Column {
  #cells: Float64Array = new Float64Array(256);

  get(row: number): number {
    return row < this.#cells.length ? (this.#cells[row] as number) : 0;
  }

  set(row: number, value: number): void {
    if (row >= this.#cells.length) {
      const cells = new Float64Array(Math.max(row + 1, this.#cells.length * 2));
      cells.set(this.#cells);
      this.#cells = cells;
    }
    this.#cells[row] = value;
  }

  increment(row: number): void {
    this.set(row, this.get(row) + 1);
  }

  /** Moves rows to the front: the cell of `rows[0]` first, and so on; the others are dropped. `rows` ascends. */
  keep(rows: readonly number[]): void {
    const kept = Float64Array.from(rows, (row) => this.get(row));
    this.#cells = new Float64Array(Math.max(256, kept.length * 2));
    this.#cells.set(kept);
  }
}
