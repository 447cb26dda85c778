import { Outcome } from '../cli/define.js';
import type { FailedOne } from '../cli/failure.js';
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { pause } from '../data/pause.js';
import { Failure, isNotFound, NotFoundError, otherRecord, ProtocolError } from '../errors.js';
import { gravest } from '../exit-codes.js';
import { callOf, type Readable } from './kinds.js';

/**
 * One id: its record; several: those found, in the order asked. An id that is missing, or that the
 * service answered with another record, is named on stderr. Throws every other failure.
 */
export async function getRecords(
  context: Context,
  kind: Readable,
  ids: readonly string[],
): Promise<JsonObject | readonly JsonObject[] | Outcome<readonly JsonObject[]>> {
  const source = recordSource(context, kind);
  const [only] = ids;
  if (only !== undefined && ids.length === 1) return source.read(only);
  const found: JsonObject[] = [];
  const failures: FailedOne[] = [];
  for (const id of ids) {
    // oxlint-disable-next-line no-await-in-loop
    const record = await source.read(id).catch((error: unknown) => ofOneId(error, kind, id));
    if (!(record instanceof Failure)) found.push(record);
    else {
      failures.push({ id, error: record });
      context.tell(
        record.exitName === 'notFound' ? `The ${kind.noun} ${id} was not found.` : record.message,
      );
    }
  }
  if (failures.length === 0) return found;
  const exitName = gravest(failures.map(({ error }) => error.exitName));
  const failed = failures.find(({ error }) => error.exitName === exitName);
  return new Outcome(found, exitName, { failed: () => failed });
}

/** A failure that says nothing of the other ids; throws any other. */
function ofOneId(error: unknown, { noun }: Readable, id: string): Failure {
  if (isNotFound(error)) return error;
  if (error instanceof ProtocolError && error.code === otherRecord)
    return new ProtocolError(`The service answered with another record for the ${noun} ${id}.`, {
      ...error.details,
      cause: error,
    });
  throw error;
}

/** Where records of a kind are read one by one. */
export interface RecordSource {
  /**
   * `fresh`: as it stands now, by a request that begins after this call; else one list may serve
   * all ids. Throws ApiError or NotFoundError when there is no such record.
   */
  read(id: string, how?: { readonly fresh: boolean }): Promise<JsonObject>;
}

/**
 * Reads through the documented GET of one record; documents have none (contract 4.4), so one list
 * serves all that ask at the same time.
 */
export function recordSource(context: Context, kind: Readable): RecordSource {
  const { get } = kind;
  if (get) return { read: (id) => context.api.record(callOf(kind, get, id)) };
  let first: Promise<Listed> | undefined;
  const next = oneAfterTheOther(() => readList(context, kind), context);
  return {
    async read(id, { fresh } = { fresh: false }) {
      let { byId, reason } = await (fresh ? next() : (first ??= next()));
      // Where others are deleted meanwhile, one may slip from page to page unseen.
      if (fresh && !byId.has(id)) ({ byId, reason } = await next());
      const record = byId.get(id);
      if (record) return record;
      throw new NotFoundError(
        reason === undefined
          ? `The ${kind.noun} ${id} is not in the list of ${kind.resource}.`
          : `The ${kind.noun} ${id} is not in the list of ${kind.resource}, and that may be incomplete: ${reason}.`,
        { isProven: reason === undefined, hint: `See: rosterctl ${kind.resource} list` },
      );
    },
  };
}

interface Listed {
  readonly byId: ReadonlyMap<string, JsonObject>;
  /** Why the list may lack some. */
  readonly reason: string | undefined;
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

async function readList(context: Context, kind: Readable): Promise<Listed> {
  const byId = new Map<string, JsonObject>();
  const records = context.api.list(kind.resource);
  for await (const record of records) byId.set(String(record['id']), record);
  const verdict = records.completeness();
  return { byId, reason: verdict.state === 'doubtful' ? verdict.reason : undefined };
}

const shared = new WeakMap<object, RecordSource>();

/** The source of one command line: its rows share what one list call answered. */
export function sharedSource(context: Context, kind: Readable, values: object): RecordSource {
  const source = shared.get(values) ?? recordSource(context, kind);
  shared.set(values, source);
  return source;
}

/** What a person calls the record: its name, else its id. */
export function labelOf(record: JsonObject | undefined, id: string): string {
  const name = record?.['name'];
  return typeof name === 'string' && name !== '' ? name : id;
}
