/** Reads single records: through their documented GET, or from the list if there is none. */
import { hasId } from '../api/records.js';
import { callFor, isReadByList, resources } from '../api/resources.js';
import type { Call } from '../api/types.js';
import { siteOf } from '../api/wire.js';
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import {
  isEmptyAnswer,
  isNotFound,
  isProvenNotFound,
  perhapsMissing,
} from '../data/outcome-errors.js';
import { missingHint, parseReference } from '../data/references.js';
import { type ResourceName, resourceWords } from '../data/resources.js';
import { quotedIfSpaced } from '../data/text.js';
import { ageMs, type Instant, lagPauses, pause, usualFreshMs } from '../data/time.js';
import type { RecordState } from '../engine/operation.js';
import { Failure, NotFoundError, otherRecord, ProtocolError } from '../errors.js';

/** Reads single records of a resource. */
export interface RecordReader {
  /**
   * `list`: from a list that other rows may share; `now`: the current record; `after`: by a request
   * that starts after this call. Throws ApiError or NotFoundError if there is no such record,
   * ProtocolError if the answer is another record or, except for `list`, one that a cache kept.
   */
  read(id: string, when: 'list' | 'now' | 'after'): Promise<RecordState>;
}

/** Documents have no endpoint for one record (contract 4.4): concurrent reads share one list. */
export function recordReader(context: Context, resource: ResourceName): RecordReader {
  if (isReadByList(resource)) return listReader(context, resource);
  return {
    async read(id, when) {
      const call = callFor(resource, 'get', id);
      const { record, at, cachedFor } = await context.api.record(call).catch((error: unknown) => {
        throw isEmptyAnswer(error) ? perhapsMissing(error, resource, id) : error;
      });
      if (cachedFor === 0) return { record, at };
      if (when !== 'list') throw cachedAnswer(context, call, cachedFor);
      return { record, at, freshMs: 0 };
    },
  };
}

/** The error for an intermediate cache that answered a read on which a write depends. */
function cachedAnswer({ api }: Context, request: Call, seconds: number): ProtocolError {
  const call = siteOf(api.route(request));
  return new ProtocolError(
    `${call.method} ${call.path} was answered by an intermediate cache, with data that is ${seconds} s old.`,
    {
      call,
      code: 'cached',
      isTemporary: true,
      hint: 'Exempt the service from that cache, then run the same command again.',
    },
  );
}

/** The record of an id; undefined if there is none. Throws Failure if the service or its list cannot tell. */
export async function recordIfThere(
  reader: RecordReader,
  id: string,
): Promise<JsonObject | undefined> {
  try {
    return (await reader.read(id, 'list')).record;
  } catch (error) {
    if (isProvenNotFound(error)) return undefined;
    throw error;
  }
}

/**
 * Reads a record that was created a moment ago, behind which a list may lag for a second. Returns it,
 * undefined if it stays away, with the reader that read last.
 */
export async function readCreated(
  context: Context,
  resource: ResourceName,
  id: string,
): Promise<{ readonly record: JsonObject | undefined; readonly reader: RecordReader }> {
  let reader = recordReader(context, resource);
  for (const pauseMs of lagPauses) {
    // A list that lags behind its own total is in doubt as long as it lags.
    const found = await reader
      .read(id, 'list')
      .catch((error: unknown) => failureOfId(error, resource, id));
    if (!(found instanceof Failure)) return { record: found.record, reader };
    await pause(pauseMs, context.signal);
    reader = recordReader(context, resource);
  }
  return { record: await recordIfThere(reader, id), reader };
}

function listReader(context: Context, resource: ResourceName): RecordReader {
  let first: Promise<RecordsById> | undefined;
  const listFor = sharedRead(() => readList(context, resource), context);
  return {
    async read(id, when) {
      let list = await (when === 'list' ? (first ??= listFor('after')) : listFor(when));
      // While others are deleted, a record may move between pages and be missed.
      if (when !== 'list' && !list.byId.has(id)) list = await listFor('after');
      const { byId, at, reason, cachedFor } = list;
      if (when !== 'list' && cachedFor > 0)
        throw cachedAnswer(context, callFor(resource, 'list', undefined), cachedFor);
      const record = byId.get(id);
      if (record) return { record, at, ...(cachedFor > 0 && { freshMs: 0 }) };
      const { noun } = resources[resource];
      throw new NotFoundError(
        reason === undefined
          ? `The ${noun} ${quotedIfSpaced(id)} is not in the list of ${resource}.`
          : `The ${noun} ${quotedIfSpaced(id)} is not in the list of ${resource}, which may be incomplete: ${reason}.`,
        { isProven: reason === undefined, hint: missingHint(id, resource) },
      );
    },
  };
}

interface RecordsById {
  readonly byId: ReadonlyMap<string, JsonObject>;
  /** When the list's last byte arrived. */
  readonly at: Instant;
  /** Why the list may be incomplete. */
  readonly reason: string | undefined;
  readonly cachedFor: number;
}

async function readList(context: Context, resource: ResourceName): Promise<RecordsById> {
  const byId = new Map<string, JsonObject>();
  const records = context.api.list(resource);
  let isWithoutId = false;
  for await (const record of records) {
    if (hasId(record)) byId.set(String(record['id']), record);
    else isWithoutId = true;
  }
  const completeness = records.completeness();
  const unknownIds = isWithoutId ? 'some of its records show no id' : undefined;
  const reason = completeness.state === 'complete' ? unknownIds : completeness.reason;
  return { byId, at: records.arrivedAt(), reason, cachedFor: records.cachedFor() };
}

/**
 * Returns a read that rows share. `now`: the latest one, while half of its time is left for the write;
 * `after`: one that starts after the call.
 */
export function sharedRead<T extends Pick<RecordState, 'at' | 'freshMs'>>(
  begin: () => Promise<T>,
  context: Pick<Context, 'now' | 'signal' | 'instant'>,
): (when: 'now' | 'after') => Promise<T> {
  let latest: T | undefined;
  const next = coalesced(async () => {
    latest = await begin();
    return latest;
  }, context);
  return async (when) => {
    const { at, freshMs = usualFreshMs } = latest ?? {};
    const isUsable = when === 'now' && at && ageMs(at, context.instant()) <= freshMs / 2;
    return isUsable && latest ? latest : next();
  };
}

const maxDelayMs = 250;

/**
 * Runs `begin` once at a time. Callers during a run share the next one, which starts after their call,
 * and after a delay so that more can share it.
 */
function coalesced<T>(begin: () => Promise<T>, { now, signal }: Pick<Context, 'now' | 'signal'>) {
  let last: Promise<unknown> = Promise.resolve();
  let waiting: Promise<T> | undefined;
  let lastMs = 0;
  return () => {
    if (waiting) return waiting;
    const result = last.then(async () => {
      if (lastMs > 0) await pause(Math.min(lastMs / 2, maxDelayMs), signal);
      waiting = undefined;
      const from = now().getTime();
      try {
        return await begin();
      } finally {
        lastMs = now().getTime() - from;
      }
    });
    waiting = result;
    last = result.catch(() => {});
    return result;
  };
}

/**
 * Returns the ids that words of the command line name; a list is read only for references. Throws
 * what `resolveReferences` throws.
 */
export async function idsOfWords(
  context: Context,
  resource: ResourceName,
  words: readonly string[],
  see?: (record: JsonObject) => void,
): Promise<readonly string[]> {
  const references = words.map(parseReference);
  if (references.every(({ kind }) => kind === 'id')) return references.map(({ value }) => value);
  const { resolveReferences } = await import('../bulk/references.js');
  return (await resolveReferences(context, resource, references, see)).map(({ id }) => id);
}

/** Returns a failure that concerns this id only; throws any other. */
export function failureOfId(error: unknown, resource: ResourceName, id: string): Failure {
  const { noun } = resourceWords[resource];
  if (isNotFound(error) || isEmptyAnswer(error)) return error;
  if (error instanceof ProtocolError && error.code === otherRecord)
    return new ProtocolError(`The service answered with another record for the ${noun} ${id}.`, {
      ...error.details,
      cause: error,
    });
  throw error;
}
