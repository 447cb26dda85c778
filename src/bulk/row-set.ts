/** Some of these rows, by their numbers; of 200,000 it takes a byte each. */
export class RowSet {
  private readonly rows: Uint8Array;

  constructor(all: readonly { readonly row: number }[]) {
    this.rows = new Uint8Array(all.reduce((last, { row }) => Math.max(last, row), 0) + 1);
  }

  add(row: number): void {
    this.rows[row] = 1;
  }

  has(row: number): boolean {
    return this.rows[row] === 1;
  }
}
