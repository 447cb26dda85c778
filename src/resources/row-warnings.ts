/** Warnings about rows that are about to be changed: the first few by name, in the order of the rows. */
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { labelOf } from '../data/path.js';
import { nameFirstFew } from '../data/text.js';

/** A warning that may apply to hundreds of rows. */
interface RowWarning {
  readonly row: number;
  readonly id: string;
  readonly record: JsonObject;
  /** The rest of the sentence that begins with the record's name. */
  readonly what: string;
  /** The sentence for all further records, printed once. */
  readonly others: string;
}

/** Warnings of one run, without repetition. */
export interface RowWarnings {
  /** Prints a message once. */
  once(message: string): void;
  /** Collects a warning until `print`; prints it at once after that. */
  forRow(warning: RowWarning): void;
  /** Prints what was collected while the rows were planned, in any order. */
  print(): void;
}

export function createRowWarnings(context: Context): RowWarnings {
  const messages = new Set<string>();
  /** By the sentence for further records, then by id. */
  const groups = new Map<string, Map<string, RowWarning>>();
  let isPrinted = false;
  const printOne = ({ id, record, what, others }: RowWarning, index: number) => {
    const name = labelOf(record, id);
    const who = name === id ? id : `${id} (${name})`;
    if (index <= nameFirstFew) context.note(index < nameFirstFew ? `${who} ${what}` : others);
  };
  return {
    once(message) {
      if (messages.has(message)) return;
      messages.add(message);
      context.note(message);
    },
    forRow(warning) {
      const { id, record, others } = warning;
      const group = groups.get(others) ?? new Map<string, RowWarning>();
      groups.set(others, group);
      if (group.has(id)) return;
      group.set(id, { ...warning, record: { name: record['name'] } });
      if (isPrinted) printOne(warning, group.size - 1);
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
