/** The import operation: its argument and flags, and how it creates or updates records by a key, from the rows of a file. */
import * as z from 'zod/mini';
import { bulkFlags, csvFlags } from '../../bulk/invocation.js';
import { flag, param } from '../../cli/define.js';
import { fieldFlags, readFields } from '../../cli/field-flags.js';
import { nonEmptyText } from '../../cli/schemas.js';
import type { ResourceName } from '../../data/resources.js';
import type { Operation, Selection } from '../../engine/operation.js';
import { namedEncodings } from '../../files/text-decoder.js';
import type { ImportValues } from './columns.js';
import { type ImportFile, openFile } from './file.js';
import { importPreview, type ResolvedImport } from './preview.js';
import { resolveImport } from './resolve.js';
import { idOfNew } from './row-keys.js';
import { type ImportJob, importSession } from './session.js';

/** The file of an import. */
export const importArgs = {
  file: param(nonEmptyText, 'the CSV, .xlsx or .ndjson to import', {
    placeholder: 'FILE|-',
    completes: 'file',
  }),
};

const { if: _, ...sending } = bulkFlags;

/** The flags of an import. */
export const importFlags = {
  key: param(nonEmptyText, 'the field that identifies a record, such as email', {
    placeholder: 'FIELD',
    ifMissing: 'Which field identifies a record? Add --key FIELD.',
    group: 'selection',
    completes: 'field',
  }),
  createOnly: flag('only create: skip rows whose record exists', { group: 'selection' }),
  updateOnly: flag('only update: skip rows without a record', { group: 'selection' }),
  sheet: csvFlags.sheet,
  takeFormulas: csvFlags.takeFormulas,
  map: {
    ...csvFlags.map,
    text: 'fill FIELD from the column THEIRS',
    placeholder: "'THEIRS=FIELD'",
    rare: false,
  },
  ignoreColumns: { ...csvFlags.ignoreColumns, rare: false },
  skipInvalid: flag('import the other rows even if some are invalid', { group: 'safety' }),
  encoding: param(
    z.optional(z.enum(namedEncodings)),
    'the encoding, if it is not UTF-8 or UTF-16',
    { group: 'selection', rare: true },
  ),
  set: fieldFlags.set,
  setString: fieldFlags.setString,
  ...sending,
};

/** The flags for records that belong to teams. */
export const teamColumnFlags = {
  teamColumn: param(z.optional(nonEmptyText), 'the column that holds team names', {
    placeholder: 'COLUMN',
    group: 'selection',
  }),
  teamField: param(z.optional(nonEmptyText), "the field for their ids, such as 'teamIds[]'", {
    placeholder: 'FIELD',
    group: 'selection',
    completes: 'field',
    rare: true,
  }),
};

/** Creates or updates the records of a file, found by a key. */
export function importOperation(resource: ResourceName): Operation {
  return {
    resource,
    verb: 'import',
    confirm: 'always',
    reports: true,
    isMany: () => true,
    async job(context, values: ImportValues): Promise<ImportJob> {
      const typed = await readFields(context, { ...values, input: undefined });
      const { key, map = [], createOnly, updateOnly, teamColumn, teamField } = values;
      return { key, typed, map, createOnly, updateOnly, teamColumn, teamField };
    },
    open: (context, job: ImportJob) => importSession(context, resource, job),
    async bind(context, values: ImportValues, use) {
      let file: ImportFile | undefined;
      let resolved: ResolvedImport | undefined;
      return use({
        open: (opened, job: ImportJob) =>
          importSession(opened, resource, job, resolved !== undefined),
        async rows(): Promise<Selection> {
          file = await openFile(context, resource, values);
          const { sheet, key, options } = file;
          const rows = sheet.rows.map(({ line, cells }) => ({
            row: line,
            id: idOfNew(options, cells[key.index] ?? ''),
            cells,
          }));
          if (rows.length === 0) context.note(`${sheet.name} has no rows.`);
          return { rows, header: sheet.header.cells, digest: sheet.digest };
        },
        async resolve() {
          resolved = file && (await resolveImport(context, file));
          return resolved?.rows ?? [];
        },
        // An interrupted import is continued with the rows of its run, not with those of the file.
        describePreview: (preview, how) =>
          file && resolved && importPreview(context, file, resolved, preview, how),
      });
    },
  };
}
