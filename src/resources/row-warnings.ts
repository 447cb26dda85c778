/** Warnings about rows that are about to be changed: the first few by name, in the order of the rows. */
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { nameWithId } from '../data/path.js';
import { nameFirstFew } from '../data/text.js';
import type { SelectedRow } from '../runs/report.js';

interface RowWarning {
  readonly row: number;
  readonly sentence: string;
  readonly others: string;
}

/** Warnings of one run, without repetition. */
export class RowWarnings {
  private readonly messages = new Set<string>();
  /** By the sentence for further records, then by id. */
  private readonly groups = new Map<string, Map<string, RowWarning>>();
  private readonly checks = new Map<number, (isSingle: boolean) => void>();
  private isPrinted = false;

  constructor(private readonly context: Context) {}

  once(message: string): void {
    if (this.messages.has(message)) return;
    this.messages.add(message);
    this.context.note(message);
  }

  /**
   * Collects a warning until `print`; prints it at once after that. It may apply to hundreds of rows: `what`
   * is the rest of the sentence that begins with the record's name, and `others` the sentence for all
   * further records, printed once.
   */
  forRow(
    { row, id }: Pick<SelectedRow, 'row' | 'id'>,
    record: JsonObject,
    what: string,
    others: string,
  ): void {
    const group = this.groups.get(others) ?? new Map<string, RowWarning>();
    this.groups.set(others, group);
    if (group.has(id)) return;
    const sentence = `${nameWithId(record['name'], id)} ${what}`;
    group.set(id, { row, sentence, others });
    if (this.isPrinted) this.printOne({ row, sentence, others }, group.size - 1);
  }

  /** Does this for a row at `print`, whose rows are in order; at once after that. */
  inOrder(row: number, check: (isSingle: boolean) => void): void {
    if (this.isPrinted) check(false);
    else this.checks.set(row, check);
  }

  /** Prints what was collected while the rows were planned, in any order, except for these rows. */
  print(isSingle: boolean, leftAlone: ReadonlySet<number>): void {
    if (this.isPrinted) return;
    this.isPrinted = true;
    const checks = [...this.checks].filter(([row]) => !leftAlone.has(row));
    for (const [, check] of checks.toSorted(([a], [b]) => a - b)) check(isSingle);
    const sorted = [...this.groups.values()].map((group) =>
      [...group.values()]
        .filter(({ row }) => !leftAlone.has(row))
        .toSorted((a, b) => a.row - b.row),
    );
    for (const group of sorted.toSorted((a, b) => (a[0]?.row ?? 0) - (b[0]?.row ?? 0)))
      for (const [index, warning] of group.entries()) this.printOne(warning, index);
  }

  private printOne({ sentence, others }: RowWarning, index: number): void {
    if (index <= nameFirstFew) this.context.note(index < nameFirstFew ? sentence : others);
  }
}
