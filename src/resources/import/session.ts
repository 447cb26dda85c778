/** The session of an import: a row updates the record that its key finds, or creates one. */

import { callFor } from '../../api/resources.js';
import { keyComparison } from '../../cli/column-aliases.js';
import { type TypedFields, touchedFields, touchedNames } from '../../cli/field-flags.js';
import type { Context } from '../../context.js';
import { cellFieldNames } from '../../data/cell-values.js';
import type { JsonObject } from '../../data/json.js';
import { ConflictError } from '../../data/outcome-errors.js';
import type { ResourceName } from '../../data/resources.js';
import type { RowPlan, Session, Task } from '../../engine/operation.js';
import { sessionByRow } from '../../engine/run.js';
import { InputError } from '../../errors.js';
import { createStep, sendCreateWithId } from '../create.js';
import { readCreated, recordReader } from '../read.js';
import { creating } from '../send.js';
import { changedFields, fieldsOfRow, updateSession } from '../update.js';
import { importedRow } from './cells.js';
import { CreatedRecords } from './created-records.js';
import { holdsKey, keyText } from './row-keys.js';

/** The job of an import, which applies to all its rows; plain JSON. */
export type ImportJob = JsonObject & {
  /** The field that identifies a record. */
  readonly key: string;
  /** The fields that flags set in every record. */
  readonly typed: TypedFields;
};

/** Opens the session of an import; `isListed`: its rows were just compared with the list. */
export function importSession(
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
  const reader = recordReader(context, resource);
  const created = new CreatedRecords(context, resource, key, reader);
  return {
    ...creating(context, resource),
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
      // At its turn the row reads the list again; what it may have created itself is no conflict.
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
    send({ call }, _, isFresh) {
      created.sent += 1;
      return sendCreateWithId(context, call, resource, isFresh);
    },
    checkSuccess: (step, row, sent) => created.checkSuccess(step, row, sent),
    verify: (row) => created.verify(row),
  };
}
