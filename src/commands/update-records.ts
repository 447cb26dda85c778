import { isDeepStrictEqual } from 'node:util';
import { findRecord, wholeRecord } from '../api/records.js';
import { isUntouched, notDone, settle } from '../api/settle.js';
import type { Answer, Call } from '../api/types.js';
import type { Change, Plan } from '../cli/define.js';
import { type TypedFields, touchedFields } from '../cli/field-flags.js';
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { shellQuote } from '../data/words.js';
import { ProtocolError } from '../errors.js';
import { callOf, type Kind } from './kinds.js';
import type { RecordSource } from './read-records.js';
import {
  readBefore,
  readShowing,
  refuseOrganization,
  reread,
  type Seen,
  sendGuessed,
  type WriteOptions,
} from './write-records.js';

/** Reads, compares and plans to send only what differs. */
export async function planUpdate(
  context: Context,
  kind: Kind,
  id: string,
  wantedOf: (record: JsonObject | undefined) => JsonObject,
  { route, alone, source }: WriteOptions,
): Promise<Plan<Seen>> {
  refuseOrganization(context, kind, id);
  const bare = updateCall(kind, id, route);
  const replaces = context.api.semantics(bare) === 'replace';
  const record = await readBefore(context, source, id, alone && !replaces);
  return updatePlan(context, kind, id, record, route, wantedOf);
}

/** What a record as read needs to become what is wanted. */
export function updatePlan(
  context: Context,
  kind: Kind,
  id: string,
  record: JsonObject | undefined,
  route: string | undefined,
  wantedOf: (record: JsonObject | undefined) => JsonObject,
): Plan<Seen> {
  refuseOrganization(context, kind, id);
  const bare = updateCall(kind, id, route);
  const replaces = context.api.semantics(bare) === 'replace';
  const changes = changesOf(id, record, wantedOf(record));
  const changed = Object.fromEntries(changes.map(({ field, to }) => [field, to]));
  const readOnly = context.settings.guesses[`readOnly.${kind.resource}`]?.split(/\s*,\s*/);
  const body = replaces && record ? wholeRecord(record, changed, readOnly) : changed;
  return { calls: changes.length > 0 ? [{ ...bare, body }] : [], changes, state: { record } };
}

function updateCall(kind: Kind, id: string, route: string | undefined): Call {
  return { ...callOf(kind, kind.update, id), ...(route !== undefined && { route }) };
}

/** The fields that `-F` and its sisters touch, in a record. */
export function wantedBy(typed: TypedFields): (record: JsonObject | undefined) => JsonObject {
  return (record) => touchedFields(typed, record);
}

/** Sends the planned update; prints the record as it then stands. */
export async function applyUpdate(
  context: Context,
  kind: Kind,
  plan: Plan<Seen>,
  id: string,
  source: RecordSource,
): Promise<JsonObject> {
  const [call] = plan.calls;
  if (!call) {
    context.note(`The ${kind.noun} ${id} is already so; nothing was sent.`);
    return plan.state.record ?? { id };
  }
  const outcome = await settle(
    () => sendGuessed(context, kind, call, id, source),
    async () => {
      const now = await source.read(id, { fresh: true });
      if (changesOf(id, now, call.body ?? {}).length === 0) return now;
      // All that would be sent again is as it was: a whole record holds what others may have changed.
      return isUntouched(call.body ?? {}, plan.state.record, now) ? notDone : undefined;
    },
    context,
    { resends: 1 },
  );
  if ('seen' in outcome) return outcome.seen;
  const record = recordOf(outcome.answer, kind, id);
  const now = await reread(context, kind, id, record, source);
  const left = shows(record, plan.changes) ? undefined : leftAsItWas(plan.changes, now);
  // The record is printed beside it, and what is read may be behind.
  if (left) context.note(unapplied(kind, id, left));
  return now;
}

/**
 * Sends an update of a run and makes sure that it holds: by the record in the answer, else by
 * reading. Throws ProtocolError where the service said yes and still shows what was there.
 */
export async function sendUpdate(
  context: Context,
  kind: Kind,
  { calls: [call], changes }: Plan<unknown>,
  id: string,
  source: RecordSource,
): Promise<void> {
  if (!call) return;
  const record = recordOf(await sendGuessed(context, kind, call, id, source), kind, id);
  if (shows(record, changes)) return;
  const isMade = (read: JsonObject) => !leftAsItWas(changes, read);
  const now = await readShowing(context, kind, id, isMade, source);
  const left = now && leftAsItWas(changes, now);
  if (left)
    throw new ProtocolError(unapplied(kind, id, left), {
      code: 'notApplied',
      hint: `See: rosterctl ${kind.resource} get ${shellQuote(id)}`,
    });
}

function shows(record: JsonObject | undefined, changes: readonly Change[]): boolean {
  return changes.every(({ field, to }) => record && isDeepStrictEqual(record[field], to));
}

function recordOf({ body }: Answer, { resource }: Kind, id: string): JsonObject | undefined {
  const record = findRecord(body, resource);
  return record?.['id'] === id ? record : undefined;
}

/** A field that the service does not show at all tells nothing; one that it changed its own way is changed. */
function leftAsItWas(changes: readonly Change[], now: JsonObject): Change | undefined {
  return changes.find((change) => Object.hasOwn(now, change.field) && isAsBefore(now, change));
}

function unapplied({ noun }: Kind, id: string, { field }: Change): string {
  return `The service accepted the change of the ${noun} ${id}, and still shows the ${field} as it was.`;
}

/** Undefined `from`: the record could not be read then. */
function isAsBefore(now: JsonObject, { field, from, to }: Change): boolean {
  if (from === undefined || isDeepStrictEqual(from, to)) return false;
  return isDeepStrictEqual(now[field] ?? null, from ?? null);
}

function changesOf(id: string, record: JsonObject | undefined, wanted: JsonObject): Change[] {
  return Object.entries(wanted).flatMap(([field, to]) => {
    const from = record && (Object.hasOwn(record, field) ? record[field] : null);
    const same = record && Object.hasOwn(record, field) && isDeepStrictEqual(from, to);
    return same ? [] : [{ id, field, from, to }];
  });
}
