import type { EndpointName } from '../api/contract.js';
import { findRecord } from '../api/records.js';
import { notDone, settle } from '../api/settle.js';
import type { Answer, Call } from '../api/types.js';
import type { Confirmation, Plan } from '../cli/define.js';
import { wordsFor } from '../cli/row-error.js';
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { pause } from '../data/pause.js';
import { ApiError, Failure, isGoneForSure, ProtocolError, UsageError } from '../errors.js';
import { callOf, type Kind, type Readable } from './kinds.js';
import { labelOf, type RecordSource } from './read-records.js';

/** What a plan about one record read; undefined where the key may not read it. */
export interface Seen {
  readonly record: JsonObject | undefined;
}

/** How an update or delete is sent. */
export interface WriteOptions {
  readonly route: string | undefined;
  /** The only id of the command line: then a record that may not be read is changed all the same. */
  readonly alone: boolean;
  readonly source: RecordSource;
}

// --- create ---

/** A plan to create a record. Throws UsageError when no field is given. */
export function planCreate(kind: Kind, body: JsonObject): Plan<undefined> {
  if (Object.keys(body).length === 0)
    throw new UsageError(`A ${kind.noun} cannot be created without any field.`, {
      hint: `See: rosterctl ${kind.resource} create --help`,
    });
  const changes = Object.entries(body).map(([field, to]) => ({ id: null, field, from: null, to }));
  return { calls: [{ endpoint: kind.create, body }], changes, state: undefined };
}

/** Creates and prints the record as the documented GET shows it; a create that was done never fails. */
export async function applyCreate(
  context: Context,
  kind: Kind,
  plan: Plan<undefined>,
): Promise<JsonObject> {
  const [call] = plan.calls;
  if (!call) return {};
  const answer = await context.api.send(call);
  const record = findRecord(answer.body, kind.resource);
  if (!record) {
    context.note(`The ${kind.noun} was created; the service sent no record.`);
    return {};
  }
  return reread(context, kind, String(record['id']), record);
}

// --- delete ---

/** Reads what would be deleted, to name it. */
export async function planDelete(
  context: Context,
  kind: Kind,
  id: string,
  { route, source }: Pick<WriteOptions, 'route' | 'source'>,
): Promise<Plan<Seen>> {
  // A route that cannot be used is told before anything is read.
  deletePlan(context, kind, id, undefined, route);
  const record = await readBefore(context, source, id, true);
  return deletePlan(context, kind, id, record, route);
}

/** The delete of a record as read. */
export function deletePlan(
  context: Context,
  kind: Kind,
  id: string,
  record: JsonObject | undefined,
  route: string | undefined,
): Plan<Seen> {
  refuseOrganization(context, kind, id);
  const call: Call = { ...callOf(kind, kind.delete, id), ...(route !== undefined && { route }) };
  context.api.describe(call);
  const changes = [{ id, field: kind.noun, from: labelOf(record, id), to: null }];
  return { calls: [call], changes, state: { record } };
}

/** `Delete player "Ann" (player_1)?` */
export function deleteQuestion(kind: Kind, plan: Plan<Seen>, id: string): Confirmation {
  const label = labelOf(plan.state.record, id);
  return { question: `Delete ${kind.noun} ${label === id ? id : `"${label}" (${id})`}?` };
}

/** Sends the planned delete; any 2xx is a success. */
export async function applyDelete(
  context: Context,
  kind: Kind,
  plan: Plan<Seen>,
  id: string,
  source: RecordSource,
): Promise<{ id: string; deleted: true }> {
  const gone = async () => {
    try {
      await source.read(id, { fresh: true });
      return notDone;
    } catch (error) {
      if (isGoneForSure(error)) return true;
      throw error;
    }
  };
  for (const call of plan.calls) {
    const send = () => sendGuessed(context, kind, call, id, source);
    await settle(send, gone, context, { resends: 1 });
  }
  return { id, deleted: true };
}

// --- what they share ---

// GET /teams/{organizationId} and a guessed DELETE /teams/{id} have one shape: with the
// organization's own id such a call could mean everything at once.
export function refuseOrganization(context: Context, kind: Kind, id: string): void {
  if (id !== context.api.organizationId) return;
  throw new UsageError(`${id} is the organization's id, not the id of a ${kind.noun}.`, {
    hint: `See: rosterctl ${kind.resource} list`,
  });
}

export async function readBefore(
  context: Context,
  source: RecordSource,
  id: string,
  mayBeHidden: boolean,
): Promise<JsonObject | undefined> {
  try {
    return await source.read(id);
  } catch (error) {
    const hidden = error instanceof ApiError && error.status === 403;
    if (!hidden || !mayBeHidden || error.serviceCode === 'featureNotAvailable') throw error;
    context.note(`${id} could not be read first (403); its present values are not known.`);
    return undefined;
  }
}

/** What the documented read shows after a write; a read that fails never makes the write fail. */
export async function reread(
  context: Context,
  kind: Kind,
  id: string,
  answered: JsonObject | undefined,
  source?: RecordSource,
): Promise<JsonObject> {
  if (!kind.get && answered) return answered;
  return (await readAgain(context, kind, id, source)) ?? answered ?? { id };
}

/** The record after a write that was done; undefined where it cannot be read, which is told. */
export async function readAgain(
  context: Context,
  kind: Readable,
  id: string,
  source?: RecordSource,
): Promise<JsonObject | undefined> {
  try {
    if (source) return await source.read(id, { fresh: true });
    return await context.api.record(callOf(kind, kind.get as EndpointName, id));
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    context.note(
      `Done, but reading the ${kind.noun} again failed: ${wordsFor(context, id, error)}`,
    );
    return undefined;
  }
}

const lagMs = 1000;

/**
 * The record after a write that was done, read once more after a moment where it does not show what
 * was written: a read may be behind. Undefined where it cannot be read.
 */
export async function readShowing(
  context: Context,
  kind: Readable,
  id: string,
  shows: (record: JsonObject) => boolean,
  source?: RecordSource,
): Promise<JsonObject | undefined> {
  const first = await readAgain(context, kind, id, source);
  if (!first || shows(first)) return first;
  await pause(lagMs, context.signal);
  return (await readAgain(context, kind, id, source)) ?? first;
}

/**
 * Sends a call whose route is a guess. A 404 while the record is there means that the guess is
 * wrong, and 501 says so itself; nothing else is tried. Throws ProtocolError then.
 */
export async function sendGuessed(
  context: Context,
  kind: Kind,
  call: Call,
  id: string,
  source: RecordSource,
): Promise<Answer> {
  try {
    return await context.api.send(call);
  } catch (error) {
    if (!(error instanceof ApiError) || ![404, 501].includes(error.status)) throw error;
    const stillThere = await source.read(id, { fresh: true }).then(
      () => true,
      () => false,
    );
    if (!stillThere) throw error;
    const action = call.endpoint === kind.delete ? 'delete' : 'update';
    throw new ProtocolError(
      `The service does not know ${error.call.method} ${error.call.path}: the ${kind.noun} ${id} is there, so the route, a guess, is wrong.`,
      {
        call: error.call,
        status: error.status,
        code: 'wrongRoute',
        hint: `Try another with --route 'METHOD /path', or for good: rosterctl config set endpoints.${kind.resource}.${action} 'METHOD /path'`,
        cause: error,
      },
    );
  }
}
