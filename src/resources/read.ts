/** Reads records one by one: through their documented GET, or out of their list where there is none. */
import { callFor, resource as rowOf } from '../api/resources.js';
import type { Call } from '../api/types.js';
import type { RecordState } from '../bulk/operation.js';
import { ValueWithExit } from '../cli/define.js';
import type { FailedItem } from '../cli/failure.js';
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { isNotFound } from '../data/outcome-errors.js';
import { type ResourceName, resourceWords } from '../data/resources.js';
import { shellQuote } from '../data/text.js';
import { ageMs, type Instant, pause } from '../data/time.js';
import { ApiError, Failure, NotFoundError, otherRecord, ProtocolError } from '../errors.js';
import { mostSevere } from '../exit-codes.js';

/** Where the records of a resource are read one by one. */
export interface RecordReader {
  /**
   * `list`: as a list shows it that other rows may share; `now`: as it stands now; `after`: by a
   * request that begins after this call. Throws ApiError or NotFoundError when there is no such
   * record, ProtocolError for an answer that is another record.
   */
  read(id: string, when: 'list' | 'now' | 'after'): Promise<RecordState>;
}

/** Which read a purpose of the engine needs. */
export const readFor = { preview: 'list', turn: 'now', resend: 'after', verify: 'after' } as const;

/** Documents have no call for one record (contract 4.4): one list serves all that ask at the same time. */
export function recordReader(context: Context, resource: ResourceName): RecordReader {
  if (!rowOf(resource).calls.get) return listReader(context, resource);
  return {
    read: (id) => context.api.recordAt(callFor(resource, 'get', id)),
  };
}

/** The same before a write of theirs: a record that may not be read (403) is not written. */
export function readerForWrite(
  context: Context,
  resource: ResourceName,
  write: 'update' | 'delete' | 'convert',
): RecordReader {
  const reader = recordReader(context, resource);
  return {
    async read(id, when) {
      try {
        return await reader.read(id, when);
      } catch (error) {
        const isUnread = error instanceof ApiError && error.status === 403 && when !== 'after';
        throw isUnread ? unreadable(context, error, callFor(resource, write, id)) : error;
      }
    },
  };
}

/** The hint says how to send it all the same. */
function unreadable({ api }: Context, error: ApiError, call: Call): ApiError {
  const { method, path } = api.describe(call);
  return new ApiError(error.status, error.serviceCode, error.call, {
    ...error.details,
    hint: `What cannot be read first is not changed. To send it unread: rosterctl api ${shellQuote(path)} -X ${method}`,
  });
}

/** A list that is older than this is not used for a write any more: it may leave at most 2 s after it. */
const usableMs = 1_000;

function listReader(context: Context, resource: ResourceName): RecordReader {
  let first: Promise<Listed> | undefined;
  let latest: Listed | undefined;
  const next = oneAfterTheOther(async () => {
    latest = await readList(context, resource);
    return latest;
  }, context);
  const listFor = (when: 'list' | 'now' | 'after'): Promise<Listed> | Listed => {
    if (when === 'list') return (first ??= next());
    const isUsable = when === 'now' && latest && ageMs(latest.at, context.instant()) <= usableMs;
    return isUsable && latest ? latest : next();
  };
  return {
    async read(id, when) {
      let list = await listFor(when);
      // Where others are deleted meanwhile, one may slip from page to page unseen.
      if (when !== 'list' && !list.byId.has(id)) list = await next();
      const { byId, at, reason } = list;
      const record = byId.get(id);
      if (record) return { record, at };
      const { noun } = rowOf(resource);
      throw new NotFoundError(
        reason === undefined
          ? `The ${noun} ${id} is not in the list of ${resource}.`
          : `The ${noun} ${id} is not in the list of ${resource}, and that may be incomplete: ${reason}.`,
        { isProven: reason === undefined, hint: `See: rosterctl ${resource} list` },
      );
    },
  };
}

interface Listed {
  readonly byId: ReadonlyMap<string, JsonObject>;
  /** When its last byte arrived. */
  readonly at: Instant;
  /** Why the list may lack some. */
  readonly reason: string | undefined;
}

async function readList(context: Context, resource: ResourceName): Promise<Listed> {
  const byId = new Map<string, JsonObject>();
  const records = context.api.list(resource);
  for await (const record of records) byId.set(String(record['id']), record);
  const verdict = records.completeness();
  const reason = verdict.state === 'doubtful' ? verdict.reason : undefined;
  return { byId, at: records.arrivedAt(), reason };
}

const longestHoldMs = 250;

/**
 * One at a time: whoever asks while one is under way shares the next one, which begins after the
 * question; and after a while, so that more can share it.
 */
function oneAfterTheOther<T>(
  begin: () => Promise<T>,
  { now, signal }: Pick<Context, 'now' | 'signal'>,
): () => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  let waiting: Promise<T> | undefined;
  let took = 0;
  return () => {
    if (waiting) return waiting;
    const mine = last.then(async () => {
      if (took > 0) await pause(Math.min(took / 2, longestHoldMs), signal);
      waiting = undefined;
      const from = now().getTime();
      try {
        return await begin();
      } finally {
        took = now().getTime() - from;
      }
    });
    waiting = mine;
    last = mine.catch(() => {});
    return mine;
  };
}

/**
 * One id: its record; several: those found, in the order asked. An id that is missing, or that the
 * service answered with another record, is named on stderr. Throws every other failure.
 */
export async function getRecords(
  context: Context,
  resource: ResourceName,
  ids: readonly string[],
): Promise<JsonObject | readonly JsonObject[] | ValueWithExit<readonly JsonObject[]>> {
  const reader = recordReader(context, resource);
  const read = async (id: string) => (await reader.read(id, 'list')).record ?? {};
  const [only] = ids;
  if (only !== undefined && ids.length === 1) return read(only);
  const found: JsonObject[] = [];
  const failures: FailedItem[] = [];
  for (const id of ids) {
    // oxlint-disable-next-line no-await-in-loop
    const record = await read(id).catch((error: unknown) => ofOneId(error, resource, id));
    if (!(record instanceof Failure)) found.push(record);
    else {
      failures.push({ id, error: record });
      context.message(
        record.exitName === 'notFound'
          ? `The ${resourceWords[resource].noun} ${id} was not found.`
          : record.message,
      );
    }
  }
  if (failures.length === 0) return found;
  const exitName = mostSevere(failures.map(({ error }) => error.exitName));
  const failed = failures.find(({ error }) => error.exitName === exitName);
  return new ValueWithExit(found, exitName, { failed: () => failed });
}

/** A failure that says nothing of the other ids; throws any other. */
function ofOneId(error: unknown, resource: ResourceName, id: string): Failure {
  const { noun } = resourceWords[resource];
  if (isNotFound(error)) return error;
  if (error instanceof ProtocolError && error.code === otherRecord)
    return new ProtocolError(`The service answered with another record for the ${noun} ${id}.`, {
      ...error.details,
      cause: error,
    });
  throw error;
}
