/** The folder of one person: person.json and the documents that were named. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { DryRun } from '../cli/define.js';
import type { Context } from '../context.js';
import { printJson } from '../data/json.js';
import { isNotFound, isProvenNotFound } from '../data/outcome-errors.js';
import { GuardError, NotFoundError } from '../errors.js';
import { writeAtomically } from '../files/atomic-write.js';
import type { PersonReport } from '../resources/person/find-person.js';
import type { SelectedRow } from '../runs/report.js';
import { downloadDocuments } from './download-documents.js';
import { createFolder } from './target-file.js';
import { documentsNamed, withRecords } from './target-names.js';

/** The files to write, known before any is written. */
interface PlannedFiles {
  readonly folder: string;
  readonly path: string;
  readonly rows: readonly SelectedRow[];
  readonly dryRun: DryRun;
}

/** Checks the folder and finds the documents. Throws GuardError if person.json is there already. */
export async function planFiles(
  context: Context,
  folder: string,
  documents: readonly string[],
): Promise<PlannedFiles> {
  const path = join(folder, 'person.json');
  if (existsSync(path))
    throw new GuardError(`${path} already exists.`, { hint: 'Choose another folder with --out.' });
  const rows = await documentsNamed(context, documents);
  const changes = [
    { id: null, field: 'file', from: null, to: path },
    ...rows.map(({ id }) => ({ id, field: 'file', from: null, to: folder })),
  ];
  return { folder, path, rows, dryRun: { schema: 1, dryRun: true, requests: [], changes } };
}

/** Writes the documents, then person.json, private to the user. Throws a failed download, OutputError. */
export async function writeFiles(
  context: Context,
  person: PersonReport,
  { folder, path, rows }: PlannedFiles,
): Promise<PersonReport> {
  createFolder(folder, '--out', 0o700);
  const files: string[] = [];
  for (const { id, record } of await withRecords(context, rows)) {
    const result = await downloadDocuments(
      context,
      'downloadDocument',
      [{ row: 1, id, record: record ?? {} }],
      { dir: folder },
      true,
    ).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
      throw new NotFoundError(`Document ${id} was not found, so ${path} was not written.`, {
        isProven: isProvenNotFound(error),
        hint: 'To find it: rosterctl documents list',
      });
    });
    if (result && 'path' in result && typeof result.path === 'string') files.push(result.path);
  }
  const written = { ...person, files: [...files, path] };
  await writeAtomically(path, `${printJson(written)}\n`, { mode: 0o600 });
  return written;
}
