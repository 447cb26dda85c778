/** The import operation: its argument and flags, and how each row of a file updates the record that its key finds, or creates one. */
import * as z from 'zod/mini';
import { callFor } from '../../api/resources.js';
import { bulkFlags, csvFlags } from '../../bulk/invocation.js';
import { keyComparison } from '../../cli/column-aliases.js';
import { flag, param } from '../../cli/define.js';
import {
  fieldFlags,
  readFields,
  type TypedFields,
  touchedFields,
  touchedNames,
} from '../../cli/field-flags.js';
import { nonEmptyText } from '../../cli/schemas.js';
import type { Context } from '../../context.js';
import { cellFieldNames } from '../../data/cell-values.js';
import type { JsonObject } from '../../data/json.js';
import { ConflictError } from '../../data/outcome-errors.js';
import type { ResourceName } from '../../data/resources.js';
import type { Operation, RowPlan, Selection, Session, Task } from '../../engine/operation.js';
import { sessionByRow } from '../../engine/run.js';
import { InputError } from '../../errors.js';
import { namedEncodings } from '../../files/text-decoder.js';
import { createStep, withLocation } from '../create.js';
import { readCreated, recordReader } from '../read.js';
import { creating } from '../send.js';
import { changedFields, fieldsOfRow, updateSession } from '../update.js';
import { importedRow } from './cells.js';
import type { ImportValues } from './columns.js';
import { CreatedRecords } from './created-records.js';
import { type ImportFile, openFile } from './file.js';
import { importPreview, type ResolvedImport } from './preview.js';
import { resolveImport } from './resolve.js';
import { holdsKey, idOfNew, keyText } from './row-keys.js';

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

/** The job of an import, which applies to all its rows; plain JSON. */
type ImportJob = JsonObject & {
  /** The field that identifies a record. */
  readonly key: string;
  /** The fields that flags set in every record. */
  readonly typed: TypedFields;
};

/** Opens the session of an import; `isListed`: its rows were just compared with the list. */
function importSession(
  context: Context,
  resource: ResourceName,
  job: ImportJob,
  isListed = false,
): Session {
  const create = createSession(context, resource, job, isListed);
  const update = presentSession(context, resource, job);
  return sessionByRow((row) => {
    const { body, problem, skipped } = importedRow(row);
    return (body ?? problem ?? skipped) ? create : update;
  });
}

/** Updates records that are there, as long as they hold their row's key. */
function presentSession(context: Context, resource: ResourceName, { key, typed }: ImportJob) {
  const comparison = keyComparison(key, resource);
  return updateSession(context, resource, undefined, {
    plan(row, record) {
      const changes = changedFields(record, fieldsOfRow(row, typed, record));
      const text = importedRow(row).key;
      if (key === 'id' || holdsKey(record, key, text, comparison)) return { changes };
      return { changes, conflict: { field: key, from: keyText(record, key), to: text } };
    },
    names: ({ own = {} }) => [...cellFieldNames(own), ...touchedNames(typed)],
  });
}

/** Creates records, of which the key finds out whether they were created. */
function createSession(
  context: Context,
  resource: ResourceName,
  { key, typed }: ImportJob,
  isListed: boolean,
): Session {
  const base = creating(context, resource);
  const created = new CreatedRecords(context, resource, key, recordReader(context, resource));
  return {
    ...base,
    isBlind: true,
    resends: 0,
    isProven: () => created.isProven,
    refusal: (record, row) => created.refusal(record, row),
    async read(task, purpose) {
      const { body } = importedRow(task);
      const made = task.done?.after['id'];
      // If its record was deleted since, as the hint for a lost key says, the row starts over.
      const { record } = typeof made === 'string' ? await readCreated(context, resource, made) : {};
      if (record) return { record, at: context.instant() };
      if (!body) return { record: undefined, at: context.instant() };
      // The row reads the list again at its turn: a record that it created itself is no conflict.
      if (purpose === 'preview' && (isListed || task.open))
        return { record: undefined, at: context.instant(), freshMs: 0 };
      const when = purpose === 'preview' || purpose === 'turn' ? 'now' : 'after';
      const { found, at, freshMs } = await created.idsByKey(task, when);
      const [other] = found;
      if (other !== undefined)
        throw new ConflictError(`${other} has this ${key}: it was created in the meantime.`);
      return { record: undefined, at, freshMs };
    },
    plan(task: Task, { record }): RowPlan {
      const { body = {}, problem, skipped } = importedRow(task);
      if (problem !== undefined) throw new InputError(problem);
      if (skipped !== undefined)
        return { steps: [], skipped: { code: 'skipped', message: skipped } };
      const refused = record && created.refusal(record, task);
      if (refused) throw refused;
      if (record) return { steps: [] };
      const whole = { ...body, ...touchedFields(typed, body) };
      return { steps: [createStep(callFor(resource, 'create', undefined, whole))] };
    },
    async send(step, row, isFresh) {
      created.sent += 1;
      return withLocation(await base.send(step, row, isFresh));
    },
    checkSuccess: (step, row, sent) => created.checkSuccess(step, row, sent),
    verify: (row) => created.verify(row),
  };
}
