/** The session of an import: a row updates the record that its key finds, or creates one. */

import { callFor, resourceRow } from '../../api/resources.js';
import { readWholeList } from '../../bulk/whole-list.js';
import { keyComparison } from '../../cli/column-aliases.js';
import { type TypedFields, touchedFields, touchedNames } from '../../cli/field-flags.js';
import type { Context } from '../../context.js';
import { cellFieldNames, cellFields } from '../../data/cell-values.js';
import type { JsonObject } from '../../data/json.js';
import { ConflictError, isProvenNotFound } from '../../data/outcome-errors.js';
import { quotedId } from '../../data/references.js';
import type { ResourceName } from '../../data/resources.js';
import { isSameValue } from '../../data/sorting.js';
import { ageMs, usualFreshMs } from '../../data/time.js';
import type { RecordState, RowPlan, Session, Task, Verification } from '../../engine/operation.js';
import { sessionByRow } from '../../engine/row-sessions.js';
import {
  Failure,
  GuardError,
  InputError,
  NotFoundError,
  UnknownOutcomeError,
} from '../../errors.js';
import type { SelectedRow } from '../../runs/report.js';
import { createFailure, createStep, sendCreateWithId } from '../create.js';
import { type RecordReader, recordReader, sharedRead } from '../read.js';
import { creating } from '../send.js';
import { changedFields, updateSession } from '../update.js';
import type { ImportedRow } from './cells.js';
import { foldKey, holdsKey, importDoubt, keyText } from './row-keys.js';

/** The job of an import, which applies to all its rows; plain JSON. */
export type ImportJob = JsonObject & {
  /** The field that identifies a record. */
  readonly key: string;
  /** The fields that flags set in every record. */
  readonly typed: TypedFields;
};

/** Opens the session of an import. */
export function importSession(context: Context, resource: ResourceName, job: ImportJob): Session {
  const create = createSession(context, resource, job);
  const update = presentSession(context, resource, job);
  return sessionByRow((row) => {
    const { body, problem, skipped } = valuesOf(row);
    return (body ?? problem ?? skipped) ? create : update;
  });
}

function valuesOf({ own = {} }: SelectedRow): ImportedRow {
  return own as ImportedRow;
}

/** Updates records that are there, as long as they hold their row's key. */
function presentSession(
  context: Context,
  resource: ResourceName,
  { key, typed }: ImportJob,
): Session {
  const comparison = keyComparison(key, resource);
  return updateSession(context, resource, undefined, {
    plan({ own = {}, row }, record) {
      const changes = changedFields(record, {
        ...cellFields(own, record, row),
        ...touchedFields(typed, record),
      });
      const text = String(own['key']);
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
): Session {
  const { noun } = resourceRow(resource);
  const reader = recordReader(context, resource);
  const created = new CreatedRecords(context, resource, key, reader);
  return {
    ...creating(context, resource),
    isBlind: true,
    resends: 0,
    isProven: () => created.isProven,
    refusal: (record, row) => created.refusal(record, row),
    async read(task, purpose) {
      const { body } = valuesOf(task);
      const made = task.done?.after['id'];
      if (typeof made === 'string') return reader.read(made, 'after');
      if (!body) return { record: undefined, at: context.instant() };
      // Nothing was read: at its turn the row reads the list.
      if (purpose === 'preview') return { record: undefined, at: context.instant(), freshMs: 0 };
      const when = purpose === 'turn' ? 'now' : 'after';
      const { found, at, freshMs } = await created.idsByKey(task, when);
      const [other] = found;
      if (other !== undefined)
        throw new ConflictError(`${other} has this ${key}: it was created meanwhile.`);
      return { record: undefined, at, freshMs };
    },
    plan(task: Task, { record }): RowPlan {
      const { body = {}, problem, skipped } = valuesOf(task);
      if (problem !== undefined) throw new InputError(problem);
      if (skipped !== undefined)
        return { steps: [], skipped: { code: 'skipped', message: skipped } };
      const refused = task.done && record && created.refusal(record, task);
      if (refused) throw refused;
      if (task.done) return { steps: [] };
      const whole = { ...body, ...touchedFields(typed, body) };
      return { steps: [createStep(callFor(resource, 'create', undefined, whole))] };
    },
    send({ call }, _, isFresh) {
      created.sent += 1;
      return sendCreateWithId(context, call, resource, isFresh);
    },
    async confirm({ call, changes }, row, { record: made, sign, answer }) {
      if (sign && !made) throw createFailure(sign);
      if (made) {
        created.done += 1;
        const fields = changes.map(({ field }) => field);
        return created.needsNoReading(made, fields) ? made : created.readAgain(made);
      }
      const found = await created.byKey(row);
      if (found) return found;
      const { method, path } = context.api.describe(call);
      throw new UnknownOutcomeError(
        `${method} ${path} was answered with ${answer.status} and no ${noun}.`,
        undefined,
        { delivery: 'applied' },
      );
    },
    async verify(row): Promise<Verification> {
      try {
        const record = await created.byKey(row);
        if (!record)
          return { outcome: 'unclear', error: notFoundByKey(resource, key, valuesOf(row).key) };
        const others = created.otherValues(record, row);
        if (others.length === 0) return { outcome: 'applied', record };
        const error = new ConflictError(
          `${String(record['id'])} has this ${key}, and not the ${others.join(', ')} that was sent: someone else may have created it.`,
        );
        return { outcome: 'unclear', error };
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        return { outcome: 'unclear', error };
      }
    },
  };
}

/** The records that an import creates: found by their key, and compared with what was sent. */
class CreatedRecords {
  /** True once a created record was seen to hold its key. */
  isProven = false;
  /** True once a created record read again had the same fields as the answer to its create. */
  private isAnswerWhole = false;
  /** Creates that were sent, and those of them that were answered with a record. */
  sent = 0;
  done = 0;
  /** How many records the last list held that was read while no create was under way, and how many creates had been sent. */
  private known: { readonly count: number; readonly sent: number } | undefined;
  private readonly comparison;
  private readonly keys;

  constructor(
    private readonly context: Context,
    private readonly resource: ResourceName,
    private readonly key: string,
    private readonly reader: RecordReader,
  ) {
    this.comparison = keyComparison(key, resource);
    const keyOf = (record: JsonObject) => foldKey(keyText(record, key), this.comparison);
    this.keys = sharedRead(async () => {
      const { sent } = this;
      const isQuiet = sent === this.done;
      const keys = await readKeys(context, resource, keyOf, (count) => this.explains(count));
      if (isQuiet && sent === this.sent) this.known = { count: keys.count, sent };
      return keys;
    }, context);
  }

  /** True if a list grew by as many records as this import created meanwhile, or is creating. */
  private explains(count: number): boolean {
    if (!this.known) return false;
    const more = count - this.known.count;
    return more >= this.done - this.known.sent && more <= this.sent - this.known.sent;
  }

  /** Returns the ids of the records that answer to a row's key. */
  async idsByKey(row: SelectedRow, when: 'now' | 'after') {
    const { ids, at, freshMs } = await this.keys(when);
    return { found: ids.get(foldKey(valuesOf(row).key, this.comparison)) ?? [], at, freshMs };
  }

  /** Returns the only record that answers to a row's key. */
  async byKey(row: SelectedRow): Promise<JsonObject | undefined> {
    const [id, other] = (await this.idsByKey(row, 'after')).found;
    if (id === undefined || other !== undefined) return undefined;
    return (await this.reader.read(id, 'after')).record;
  }

  /** True if the answer to a create is known to be the whole record. */
  needsNoReading(made: JsonObject, fields: readonly string[]): boolean {
    const hasAll = fields.every((field) => Object.hasOwn(made, field));
    return this.isProven && this.isAnswerWhole && hasAll;
  }

  /** Reads a created record; the answer to its create if that is not possible. */
  async readAgain(made: JsonObject): Promise<JsonObject> {
    const id = String(made['id']);
    try {
      const { record = made } = await this.reader.read(id, 'after');
      this.isAnswerWhole = Object.keys(record).every((field) => Object.hasOwn(made, field));
      return record;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (isProvenNotFound(error)) throw notThere(this.context, this.resource, id);
      this.context.note(`${id} was created, and could not be read again: ${error.message}`);
      return made;
    }
  }

  /** Returns the fields with another value than was sent, apart from the key. */
  otherValues(record: JsonObject, row: SelectedRow): readonly string[] {
    const { body = {} } = valuesOf(row);
    return Object.keys(body).filter(
      (field) => field !== this.key && !isSameValue(record[field] ?? null, body[field]),
    );
  }

  /** Returns the error for a created record that does not show its key; notes other values once. */
  refusal(record: JsonObject, row: SelectedRow): Failure | undefined {
    const { context, key, resource } = this;
    const { key: text, body = {} } = valuesOf(row);
    const id = String(record['id']);
    if (holdsKey(record, key, text, this.comparison)) {
      const others = this.otherValues(record, row);
      if (!this.isProven && others.length > 0)
        context.note(
          `${id} was created, but the service stored ${others.length > 1 ? 'different values for' : 'a different'} ${others.join(', ')}.`,
        );
      this.isProven = true;
      return undefined;
    }
    const lost = Object.keys(body).filter((field) => (record[field] ?? null) === null);
    return new GuardError(
      `${id} was created, and does not show the ${key} "${text}", so it would be created again each time. ${lost.length > 0 ? `Not shown: ${lost.join(', ')}. ` : ''}Nothing more was sent.`,
      {
        code: 'keyLost',
        hint: `Look at it: rosterctl ${resource} get ${quotedId(id)}\nDelete it, and choose another --key: rosterctl ${resource} delete ${quotedId(id)}`,
      },
    );
  }
}

/** The outcome of a create whose answer names a record that is not there, or not yet. */
function notThere(context: Context, resource: ResourceName, id: string): UnknownOutcomeError {
  const { method, path } = context.api.describe(callFor(resource, 'create', undefined, {}));
  return new UnknownOutcomeError(
    `${method} ${path} returned the id ${id}, but there is no ${resourceRow(resource).noun} with that id.`,
    { method, path },
    { delivery: 'applied' },
  );
}

/** Why a lost create stays unknown: it is never sent twice by itself. */
function notFoundByKey(resource: ResourceName, key: string, text: string): NotFoundError {
  const { noun } = resourceRow(resource);
  return new NotFoundError(
    `No single ${noun} has the ${key} "${text}". If none appears, run the import again with --restart.`,
    { isProven: true, hint: `See: rosterctl ${resource} list` },
  );
}

/** The ids of all records by their key. */
interface IdsByKey extends Pick<RecordState, 'at' | 'freshMs'> {
  readonly ids: ReadonlyMap<string, readonly string[]>;
  /** How many records the list holds. */
  readonly count: number;
}

/** A list that takes long to read is relied on for this many times as long, or nothing else would be done. */
const listTimes = 10;

/** Reads the ids of all records by their key. */
async function readKeys(
  context: Context,
  resource: ResourceName,
  keyOf: (record: JsonObject) => string,
  isExpected: (count: number) => boolean,
): Promise<IdsByKey> {
  const ids = new Map<string, string[]>();
  const start = context.instant();
  let count = 0;
  const onRecord = (record: JsonObject) => {
    count += 1;
    const id = String(record['id']);
    const same = ids.get(keyOf(record));
    if (same) same.push(id);
    else ids.set(keyOf(record), [id]);
  };
  const at = await readWholeList(context, resource, onRecord, { ...importDoubt, isExpected });
  return { ids, count, at, freshMs: Math.max(usualFreshMs, listTimes * ageMs(start, at)) };
}
