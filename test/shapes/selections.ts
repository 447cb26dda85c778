/** Commands that act on what a list holds: bulk writes by filter, downloads of all, uploads without doubles. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StoredRecord } from '../../src/sandbox/records.js';
import type { Outcome } from './cell.js';
import { type Check, changedIn, differing, pagesOf, touched } from './judge.js';
import type { Command } from './reads.js';

/** Exactly the records that the filter means were changed, to what was asked. */
function changedAll(
  resource: 'players' | 'tryouts',
  picks: (record: StoredRecord) => boolean,
  isDone: (record: StoredRecord) => boolean,
): Check {
  return ({ before, after }) => {
    const wanted = [...before[resource].values()].filter(picks).map(({ id }) => id);
    const changed = changedIn(before, after, resource);
    const undone = wanted.filter((id) => !isDone(after[resource].get(id) as StoredRecord));
    return (
      differing(changed, wanted) ?? (undone.length > 0 ? `${undone.length} not changed` : undefined)
    );
  };
}

/** Each row is read before it is written, and once more after an answer that shows nothing. */
function dueFor(outcome: Outcome, resource: 'players' | 'tryouts') {
  const rows = resource === 'players' ? 4 : 9;
  return { reads: pagesOf(outcome, resource) + rows * 2, writes: rows };
}

/** Bulk writes of what a filter finds; a list in doubt refuses them, and nothing was written. */
export const selections: readonly Command[] = [
  {
    name: 'players update --where',
    line: 'players update --where squad=blue -F role=coach --yes --json',
    missing: changedAll(
      'players',
      (record) => record['squad'] === 'blue',
      (record) => record['role'] === 'coach',
    ),
    harm: touched,
    due: (outcome) => dueFor(outcome, 'players'),
  },
  {
    name: 'tryouts set-status --status',
    line: 'tryouts set-status --status shortlisted --to reviewing --yes --json',
    missing: changedAll(
      'tryouts',
      (record) => record['status'] === 'shortlisted',
      (record) => record['status'] === 'reviewing',
    ),
    harm: touched,
    due: (outcome) => dueFor(outcome, 'tryouts'),
  },
  {
    name: 'docs upload --if-exists skip',
    line: `docs upload 'HOME/Packing list.txt' --if-exists skip --json`,
    missing({ before, after }) {
      const had = before.documents.size > 0;
      const added = after.documents.size - before.documents.size;
      if (had) return added === 0 ? undefined : 'uploaded a second time';
      return added === 1 ? undefined : 'not uploaded';
    },
    harm: touched,
    due: (outcome) => ({ reads: pagesOf(outcome, 'documents') + 1, writes: 2 }),
  },
  {
    name: 'docs download --all',
    line: 'docs download --all -D HOME/files -o json',
    missing({ before, home }) {
      const files = readdirSync(join(home, 'files'));
      const wrong = [...before.documents.values()].find((record) => {
        const name = String(record['name']);
        return (
          files.includes(name) &&
          readFileSync(join(home, 'files', name)).length !== record['sizeBytes']
        );
      });
      return wrong
        ? `${String(wrong['name'])} has other bytes`
        : differing(
            files,
            [...before.documents.values()].map((record) => String(record['name'])),
          );
    },
    harm: ({ home }) =>
      readdirSync(join(home, 'files')).length > 0 ? 'some files were written' : undefined,
    due: (outcome) => ({
      reads: pagesOf(outcome, 'documents') + outcome.before.documents.size,
      writes: 0,
    }),
  },
];
