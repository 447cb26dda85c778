/** The folder of one person: person.json and the documents that were named. */
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { DryRun } from '../cli/define.js';
import type { Context } from '../context.js';
import { printJson } from '../data/json.js';
import { isNotFound, isProvenNotFound } from '../data/outcome-errors.js';
import { NotFoundError } from '../errors.js';
import { writeAtomically } from '../files/atomic-write.js';
import type { PersonReport } from '../resources/person/find-person.js';
import type { SelectedRow } from '../runs/report.js';
import { createDownloader } from './download-one.js';
import { alreadyThere, createFolder, type SaveOptions, statIfThere } from './target-file.js';
import { documentsNamed, nameTargets, withRecords } from './target-names.js';

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
  requireAbsent(path);
  const found = await documentsNamed(context, documents);
  const rows = [...new Map(found.map((row) => [row.id, row])).values()];
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
  const save: SaveOptions = { file: undefined, folder, onExisting: 'refuse', ifThere };
  const naming = nameTargets(await withRecords(context, rows), save);
  const { targets } = naming;
  for (const target of targets) if (target.path !== undefined) requireAbsent(target.path);
  const options = { isOne: true, mirror: undefined };
  const worker = await createDownloader(context, 'download', naming, save, options);
  const files: string[] = [];
  try {
    for (const target of targets) {
      const { id } = target;
      const saved = await worker.work(target).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
        throw new NotFoundError(`Document ${id} was not found, so ${path} was not written.`, {
          isProven: isProvenNotFound(error),
          hint: 'To find it: rosterctl documents list',
        });
      });
      if (saved) files.push(saved.path);
    }
  } finally {
    await worker.close();
  }
  const written = { ...person, files: [...files, path] };
  await writeAtomically(path, `${printJson(written)}\n`, { mode: 0o600, isNew: true });
  return written;
}

const ifThere = 'Choose another folder with --out.';

function requireAbsent(path: string): void {
  // A link that leads nowhere is in the way, too.
  if (statIfThere(path, lstatSync)) throw alreadyThere(path, ifThere);
}
