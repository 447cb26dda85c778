/** The import operation: creates or updates records by a key, from the rows of a file. */
import { readFields } from '../../cli/field-flags.js';
import type { ResourceName } from '../../data/resources.js';
import type { Operation, Selection } from '../../engine/operation.js';
import { type ImportFile, type ImportValues, openFile } from './file.js';
import { importPreview, type ResolvedImport } from './preview.js';
import { resolveImport } from './resolve.js';
import { idOfNew } from './row-keys.js';
import { type ImportJob, importSession } from './session.js';

/** Creates or updates the records of a file, found by a key. */
export function importOperation(resource: ResourceName): Operation {
  return {
    resource,
    confirm: 'always',
    reports: true,
    requiresRun: true,
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
        async rows(): Promise<Selection> {
          file = await openFile(context, resource, values);
          const { sheet, key, options } = file;
          const rows = sheet.rows.map(({ line, cells }) => ({
            row: line,
            id: idOfNew(options, cells[key.index] ?? ''),
            cells,
          }));
          if (rows.length === 0)
            context.note(`${values.file === '-' ? 'stdin' : values.file} has no rows.`);
          return { rows, header: sheet.header.cells, note: undefined, digest: sheet.digest };
        },
        async resolve() {
          resolved = file && (await resolveImport(context, file));
          return resolved?.rows ?? [];
        },
        describePreview: (preview, how) =>
          file && resolved ? importPreview(context, file, resolved, preview, how) : [],
      });
    },
  };
}
