/** The records that an import creates: found by their key, and compared with what was sent. */

import { callFor, resources } from '../../api/resources.js';
import { readWholeList } from '../../bulk/whole-list.js';
import { keyComparison } from '../../cli/column-aliases.js';
import type { Context } from '../../context.js';
import type { JsonObject } from '../../data/json.js';
import { ConflictError, isProvenNotFound } from '../../data/outcome-errors.js';
import { plainText } from '../../data/path.js';
import { quotedId } from '../../data/references.js';
import type { ResourceName } from '../../data/resources.js';
import { addTo, isSameMeaning, isSameValue } from '../../data/sorting.js';
import { foldCase } from '../../data/text.js';
import { ageMs, usualFreshMs } from '../../data/time.js';
import type { Sent, Step, Verification } from '../../engine/operation.js';
import { justCreated } from '../../engine/other-runs.js';
import { Failure, GuardError, NotFoundError, UnknownOutcomeError } from '../../errors.js';
import type { SelectedRow } from '../../runs/report.js';
import { createFailure } from '../create.js';
import { type RecordReader, recordIfThere, recordReader, sharedRead } from '../read.js';
import { noteOtherValues } from '../update.js';
import { importedRow } from './cells.js';
import { foldKey, holdsKey, importDoubt, keyText } from './row-keys.js';

/** A list that takes long to read is relied on for this many times as long, or nothing else would be done. */
const listTimes = 10;

/** The records that one import creates. */
export class CreatedRecords {
  /** True once a created record was seen to hold its key. */
  isProven = false;
  /** True once a created record read again had the same fields as the answer to its create. */
  private isAnswerWhole = false;
  /** The ids of created records that could not be read again. */
  private readonly unread = new Set<string>();
  /** The fields that the service stored with another value than was sent. */
  private readonly noted = new Set<string>();
  /** The ids that answers gave to records which were not there yet, by row. */
  private readonly named = new Map<number, string>();
  /** How many creates were sent. */
  sent = 0;
  /** How many records the first list held. */
  private firstCount: number | undefined;
  private readonly comparison;
  private readonly keys;

  constructor(
    private readonly context: Context,
    private readonly resource: ResourceName,
    private readonly key: string,
    private readonly reader: RecordReader,
  ) {
    this.comparison = keyComparison(key, resource);
    this.keys = sharedRead(() => this.readKeys(), context);
  }

  private async readKeys() {
    const { context, resource, key, comparison, firstCount = Number.POSITIVE_INFINITY } = this;
    const ids = new Map<string, string[]>();
    const start = context.instant();
    let records = 0;
    const onRecord = (record: JsonObject) => {
      records += 1;
      addTo(ids, foldKey(keyText(record, key), comparison), String(record['id']));
    };
    // It may have grown by the records that this import sent, and lag behind them.
    const isExpected = (count: number) => count >= firstCount && count <= firstCount + this.sent;
    const at = await readWholeList(context, resource, onRecord, { ...importDoubt, isExpected });
    this.firstCount ??= records;
    return { ids, at, freshMs: Math.max(usualFreshMs, listTimes * ageMs(start, at)) };
  }

  /** Returns the ids of the records that answer to a row's key. */
  async idsByKey(row: SelectedRow, when: 'now' | 'after') {
    const { ids, at, freshMs } = await this.keys(when);
    return { found: ids.get(foldKey(importedRow(row).key, this.comparison)) ?? [], at, freshMs };
  }

  /** Returns the record of an answered create, from the answer or by the row's key. Throws Failure. */
  async checkSuccess(
    { call, changes }: Step,
    row: SelectedRow,
    { record: made, sign, answer }: Sent,
  ): Promise<JsonObject> {
    if (sign && !made) throw createFailure(sign);
    if (made) {
      const hasAll = changes.every(({ field }) => Object.hasOwn(made, field));
      // The answer is then known to be the whole record.
      return this.isProven && this.isAnswerWhole && hasAll ? made : this.readAgain(made, row);
    }
    // A read that fails does not undo what the service has done: the row is verified later.
    const found = await this.byKey(row).catch((error: unknown) => {
      if (!(error instanceof Failure)) throw error;
      return undefined;
    });
    if (found) return found;
    const { method, path } = this.context.api.describe(call);
    throw new UnknownOutcomeError(
      `${method} ${path} returned ${answer.status} and no ${resources[this.resource].noun}.`,
      undefined,
      { delivery: 'applied' },
    );
  }

  /** Looks for the record of a create without an answer by the row's key. Throws Failure. */
  async verify(row: SelectedRow): Promise<Verification> {
    const { resource, key } = this;
    const named = this.named.get(row.row);
    // A list may be incomplete, or lag behind the record.
    const own = named === undefined ? undefined : await recordIfThere(this.reader, named);
    if (own) return { outcome: 'applied', record: own };
    const record = await this.byKey(row);
    if (!record) throw notFoundByKey(resource, key, importedRow(row).key);
    const { body = {} } = importedRow(row);
    const others = this.otherValues(record, row).filter(
      (field) => !mayBeStored(body[field], record[field]),
    );
    if (others.length === 0) return { outcome: 'applied', record };
    throw new ConflictError(
      `${String(record['id'])} has this ${key}, but not the ${others.join(', ')} that was sent: someone else may have created it.`,
    );
  }

  /** Returns the only record that answers to a row's key. */
  private async byKey(row: SelectedRow): Promise<JsonObject | undefined> {
    const [id, other] = (await this.idsByKey(row, 'after')).found;
    if (id === undefined || other !== undefined) return undefined;
    return (await this.reader.read(id, 'after')).record;
  }

  /** Reads a created record; the answer to its create if that is not possible. */
  private async readAgain(made: JsonObject, { row }: SelectedRow): Promise<JsonObject> {
    const id = String(made['id']);
    try {
      const { record = made } = await this.reader.read(id, 'after');
      this.isAnswerWhole = Object.keys(record).every((field) => Object.hasOwn(made, field));
      return record;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (isProvenNotFound(error)) {
        this.named.set(row, id);
        throw notThere(this.context, this.resource, id);
      }
      this.context.note(`${id} was created, but could not be read again: ${error.message}`);
      this.unread.add(id);
      return made;
    }
  }

  /** Returns the fields with another value than was sent, apart from the key. */
  private otherValues(record: JsonObject, row: SelectedRow): readonly string[] {
    const { body = {} } = importedRow(row);
    return Object.keys(body).filter(
      (field) => field !== this.key && !isSameValue(record[field] ?? null, body[field]),
    );
  }

  /** Returns the error for a created record that does not show its key; notes once for each field that it holds another value. */
  refusal(record: JsonObject, row: SelectedRow): Failure | undefined {
    const { context, key, resource } = this;
    const { key: text, body = {} } = importedRow(row);
    const id = String(record['id']);
    if (holdsKey(record, key, text, this.comparison)) {
      const others = this.otherValues(record, row).filter(
        (field) => !this.unread.has(id) && !this.noted.has(field),
      );
      for (const field of others) this.noted.add(field);
      const sent = Object.fromEntries(others.map((field) => [field, body[field]]));
      noteOtherValues(context, `${id} was created`, sent, record);
      this.isProven = true;
      return undefined;
    }
    // An answer such as {"id": …} says nothing about the key.
    if (this.unread.has(id) && !Object.hasOwn(record, key)) return undefined;
    const lost = Object.keys(body).filter((field) => (record[field] ?? null) === null);
    return new GuardError(
      `${id} was created, but does not show the ${key} "${text}", so it would be created again each time. ${lost.length > 0 ? `Not shown: ${lost.join(', ')}. ` : ''}Nothing more was sent.`,
      {
        code: 'keyLost',
        hint: `Look at it: rosterctl ${resource} get ${quotedId(id)}\nDelete it, and choose another --key: rosterctl ${resource} delete ${quotedId(id)}`,
      },
    );
  }
}

/** Reads the records that runs of this machine have just created and that a list does not show yet. Throws Failure. */
export async function readUnlisted(
  context: Context,
  resource: ResourceName,
  listed: ReadonlyMap<string, unknown>,
): Promise<readonly JsonObject[]> {
  const ids = [...(await justCreated(context, resource))].filter((id) => !listed.has(id));
  const reader = recordReader(context, resource);
  const records = await Promise.all(ids.map((id) => recordIfThere(reader, id)));
  return records.filter((record) => record !== undefined);
}

/** The outcome of a create whose answer names a record that is not there, or not yet. */
function notThere(context: Context, resource: ResourceName, id: string): UnknownOutcomeError {
  const { method, path } = context.api.describe(callFor(resource, 'create', undefined, {}));
  return new UnknownOutcomeError(
    `${method} ${path} returned the id ${id}, but there is no ${resources[resource].noun} with that id.`,
    { method, path },
    { delivery: 'applied' },
  );
}

/** True if a service may store what was sent like this: a number as text, a text without spaces around it or in another case, a list in another order. */
function mayBeStored(sent: unknown, stored: unknown): boolean {
  if (Array.isArray(sent) && Array.isArray(stored))
    return isSameValue(sent.map(plainText).toSorted(), stored.map(plainText).toSorted());
  const [own, other] = [plainText(sent), plainText(stored)];
  return isSameMeaning(sent, stored) || foldCase(own.trim()) === foldCase(other.trim());
}

/** Why a lost create stays unknown: it is never sent twice by itself. */
function notFoundByKey(resource: ResourceName, key: string, text: string): NotFoundError {
  const { noun } = resources[resource];
  return new NotFoundError(
    `No single ${noun} has the ${key} "${text}". If none appears, run the import again with --restart.`,
    { isProven: true, hint: `See: rosterctl ${resource} list` },
  );
}
