/** Uploads in plan files: each file with the hash of its content, found again where the plan is applied. */
import { access } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Context } from '../context.js';
import { mapConcurrently } from '../data/concurrency.js';
import { UsageError } from '../errors.js';
import type { PlanFileRows } from '../runs/file-rows.js';
import type { SelectedRow } from '../runs/report.js';
import { badFile, inspected } from './plan.js';
import { fileHash, filesAtOnce, inspectAgain } from './rows.js';

/** Rows of files in a plan file; see PlanFileRows. */
export const plannedFiles: PlanFileRows = {
  async seal({ signal }, rows) {
    const seal = async (row: SelectedRow): Promise<SelectedRow> => {
      const { identity: _, ...file } = inspected(row);
      if (file.path === '-')
        throw new UsageError(
          'A file from stdin cannot be planned: it would be gone. Nothing was sent.',
          {
            hint: 'Save it to a file first.',
          },
        );
      return { ...row, own: { ...file, sha256: await fileHash(file.path, signal) } };
    };
    return Promise.all(mapConcurrently(rows, filesAtOnce, seal));
  },
  async unseal(context, rows) {
    const found = await Promise.all(mapConcurrently(rows, filesAtOnce, findFile));
    const again = await inspectAgain(context, found);
    const hashes = new Map(rows.map(({ row, own }) => [row, own?.['sha256']]));
    return Promise.all(
      mapConcurrently(again, filesAtOnce, (row) => compareHash(context, row, hashes.get(row.row))),
    );
  },
};

/** The row with the path where its file is: as it was, or as typed, from the current folder. */
async function findFile(row: SelectedRow): Promise<SelectedRow> {
  const { path } = inspected(row);
  const isThere = await access(path).then(
    () => true,
    () => false,
  );
  return isThere ? row : { ...row, own: { ...row.own, path: resolve(row.id) } };
}

/** Marks a file as bad if its content is not what was planned. */
async function compareHash(
  { signal }: Context,
  row: SelectedRow,
  planned: unknown,
): Promise<SelectedRow> {
  if (badFile(row)) return row;
  const { path, contentType } = inspected(row);
  if ((await fileHash(path, signal)) === planned) return row;
  const problem = `${path} has another content than was planned.`;
  return { ...row, own: { path, contentType, problem, hint: null } };
}
