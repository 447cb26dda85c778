/** Warnings about rows that are about to be changed: the first few by name, in the order of the rows. */
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { labelOf } from '../data/path.js';
import { nameFirstFew } from '../data/text.js';
import type { SelectedRow } from '../runs/report.js';

/** Warnings of one run, without repetition. */
export interface RowWarnings {
  /** Prints a message once. */
  once(message: string): void;
  /**
   * Collects a warning until `print`; prints it at once after that. It may apply to hundreds of rows: `what`
   * is the rest of the sentence that begins with the record's name, and `others` the sentence for all
   * further records, printed once.
   */
  forRow(
    row: Pick<SelectedRow, 'row' | 'id'>,
    record: JsonObject,
    what: string,
    others: string,
  ): void;
  /** Prints what was collected while the rows were planned, in any order. */
  print(): void;
}

interface RowWarning {
  readonly row: number;
  readonly sentence: string;
  readonly others: string;
}

export function createRowWarnings(context: Context): RowWarnings {
  const messages = new Set<string>();
  /** By the sentence for further records, then by id. */
  const groups = new Map<string, Map<string, RowWarning>>();
  let isPrinted = false;
  const printOne = ({ sentence, others }: RowWarning, index: number) => {
    if (index <= nameFirstFew) context.note(index < nameFirstFew ? sentence : others);
  };
  return {
    once(message) {
      if (messages.has(message)) return;
      messages.add(message);
      context.note(message);
    },
    forRow({ row, id }, record, what, others) {
      const group = groups.get(others) ?? new Map<string, RowWarning>();
      groups.set(others, group);
      if (group.has(id)) return;
      const name = labelOf(record, id);
      const sentence = `${name === id ? id : `${id} (${name})`} ${what}`;
      group.set(id, { row, sentence, others });
      if (isPrinted) printOne({ row, sentence, others }, group.size - 1);
    },
    print() {
      if (isPrinted) return;
      isPrinted = true;
      const sorted = [...groups.values()].map((group) =>
        [...group.values()].toSorted((a, b) => a.row - b.row),
      );
      for (const group of sorted.toSorted((a, b) => (a[0]?.row ?? 0) - (b[0]?.row ?? 0)))
        for (const [index, warning] of group.entries()) printOne(warning, index);
    },
  };
}
