import { readFirst } from '../../api/conclusion.js';
import { findRecord } from '../../api/records.js';
import type { TryoutStatus } from '../../api/schemas.js';
import { isUntouched, notDone, settle } from '../../api/settle.js';
import type { Call } from '../../api/types.js';
import type { Change, Plan } from '../../cli/define.js';
import type { Context } from '../../context.js';
import type { JsonObject } from '../../data/json.js';
import { shellQuote } from '../../data/words.js';
import { ApiError, ProtocolError, UnknownOutcomeError } from '../../errors.js';
import { callOf } from '../kinds.js';
import { readShowing, type Seen } from '../write-records.js';
import { applications, noteFew, noteOnce, readApplication } from './application.js';
import { editedNotes, type NoteEdit } from './notes.js';

/** What an application is to become; undefined = leave it. */
export interface Wanted {
  readonly status: TryoutStatus | undefined;
  readonly note: NoteEdit | undefined;
}

/** The fields of an application that this concerns. */
export function editedFields({ status, note }: Wanted): readonly string[] {
  return [...(status === undefined ? [] : ['status']), ...(note ? ['internalNotes'] : [])];
}

/** The command line that an edit belongs to. */
export interface EditOptions {
  /** Its values: what is noted is noted once for all its rows. */
  readonly line: object;
  /** The only id: then an application that may not be read is changed all the same. */
  readonly alone: boolean;
}

/** Reads an application and plans to send only what differs (contract 4.1). */
export async function planEdit(
  context: Context,
  id: string,
  wanted: Wanted,
  { line, alone }: EditOptions,
): Promise<Plan<Seen>> {
  const mayBeHidden = alone && wanted.note?.kind !== 'append';
  const record = await readBefore(context, id, line, mayBeHidden);
  return editPlan(context, id, record, wanted, line);
}

/** What an application as read needs to become what is wanted. */
export function editPlan(
  context: Context,
  id: string,
  record: JsonObject | undefined,
  wanted: Wanted,
  line: object,
): Plan<Seen> {
  const changes = changesOf(id, record, wanted);
  if (changes.length > 0) warnOfMove(context, id, record, wanted.status, line);
  const body = Object.fromEntries(changes.map(({ field, to }) => [field, to]));
  const calls = changes.length > 0 ? [editCall(id, body)] : [];
  return { calls, changes, state: { record } };
}

/** The call that changes an application's documented fields. */
export function editCall(id: string, body: JsonObject): Call {
  const { endpoint, params = {} } = callOf(applications, 'updateTryout', id);
  return { endpoint, params, body };
}

/** Sends the planned edit and gives the service's own answer; with nothing to change, the record as read. */
export async function applyEdit(
  context: Context,
  plan: Plan<Seen>,
  id: string,
): Promise<JsonObject> {
  const [call] = plan.calls;
  if (call) return sendEdit(context, call, id, plan.state.record);
  context.note(`The application ${id} is already so; nothing was sent.`);
  return plan.state.record ?? { id };
}

/**
 * Sends one edit and makes sure that it holds: an answer that is lost is settled by reading, against
 * the record `before` it. Throws UnknownOutcomeError where reading cannot settle it, ProtocolError
 * where the service said yes and shows something else.
 */
export async function sendEdit(
  context: Context,
  call: Call,
  id: string,
  before: JsonObject | undefined,
): Promise<JsonObject> {
  const wanted = call.body ?? {};
  const outcome = await settle(
    () => sendEditOnce(context, call, id, before),
    async () => {
      const record = await readApplication(context, id);
      if (holds(record, wanted)) return record;
      return isUntouched(wanted, before, record) ? notDone : undefined;
    },
    context,
    { resends: 1 },
  );
  return 'seen' in outcome ? outcome.seen : outcome.answer;
}

/** The same without settling a lost answer: a bulk run waits for all of these together. */
export async function sendEditOnce(
  context: Context,
  call: Call,
  id: string,
  before: JsonObject | undefined,
): Promise<JsonObject> {
  const wanted = call.body ?? {};
  const answer = await context.api.send(call);
  const found = findRecord(answer.body, 'tryouts');
  const record = found?.['id'] === id ? found : undefined;
  if (record && leftOf(record, wanted, before) === undefined) return record;
  const now = await readShowing(
    context,
    applications,
    id,
    (read) => leftOf(read, wanted, before) === undefined,
  );
  if (!now) return record ?? { id };
  const left = leftOf(now, wanted, before);
  if (left === undefined) return now;
  const message = `The service accepted the change of ${id}, and still shows ${shownIn(now, left)}.`;
  // Without a record in the answer it may take effect later.
  if (!record)
    throw new UnknownOutcomeError(message, context.api.describe(call), {
      hint: readFirst,
      delivery: 'applied',
    });
  const set =
    left === 'internalNotes' && wanted['status'] !== undefined ? ' The status was set.' : '';
  throw new ProtocolError(`${message}${set}`, {
    code: 'notApplied',
    hint: `See: rosterctl tryouts get ${shellQuote(id)}`,
  });
}

function shownIn(record: JsonObject, field: 'status' | 'internalNotes'): string {
  return field === 'status' ? `the status ${String(record['status'])}` : 'the former notes';
}

function changesOf(id: string, record: JsonObject | undefined, { status, note }: Wanted): Change[] {
  const changes: Change[] = [];
  if (status !== undefined && record?.['status'] !== status)
    changes.push({ id, field: 'status', from: record?.['status'], to: status });
  if (!note) return changes;
  const present = notesOf(record);
  const to = editedNotes(note, present ?? null);
  if (to !== present)
    changes.push({ id, field: 'internalNotes', from: record ? present : undefined, to });
  return changes;
}

/** Undefined where the record is not known; absent notes are none. */
function notesOf(record: JsonObject | undefined): string | null | undefined {
  if (!record) return undefined;
  const notes = record['internalNotes'];
  return typeof notes === 'string' ? notes : null;
}

function holds(record: JsonObject, wanted: JsonObject): boolean {
  return Object.entries(wanted).every(([field, value]) => (record[field] ?? null) === value);
}

/**
 * The field that was to be changed and is not. A service may keep notes in its own way (without the
 * space at their end), or not show them: they are left only where they stand as they did before.
 */
function leftOf(
  record: JsonObject,
  { status, internalNotes }: JsonObject,
  before: JsonObject | undefined,
): 'status' | 'internalNotes' | undefined {
  if (status !== undefined && record['status'] !== status) return 'status';
  const notes = record['internalNotes'];
  if (internalNotes === undefined || notes === undefined || !before) return undefined;
  const isOther = plainNotes(notes) !== plainNotes(internalNotes);
  return isOther && notesOf(before) === notesOf(record) ? 'internalNotes' : undefined;
}

/** Notes as any service might keep them: its own line ends, no control characters or a sign for each, nothing around them. */
function plainNotes(notes: unknown): string {
  if (typeof notes !== 'string') return '';
  return notes.replaceAll('\r\n', '\n').replace(controls, '').trim();
}

const controls = /[^\P{Cc}\n\t]|[\ufffd\u2400-\u2421]/gu;

async function readBefore(
  context: Context,
  id: string,
  line: object,
  mayBeHidden: boolean,
): Promise<JsonObject | undefined> {
  try {
    return await readApplication(context, id);
  } catch (error) {
    const hidden = error instanceof ApiError && error.status === 403;
    if (!hidden || !mayBeHidden || error.serviceCode === 'featureNotAvailable') throw error;
    noteOnce(
      context,
      line,
      `${id} could not be read first (403); its present values are not known.`,
    );
    return undefined;
  }
}

/** Moves that look like a slip; the contract names no forbidden ones (section 3), so they are only noted. */
function warnOfMove(
  context: Context,
  id: string,
  record: JsonObject | undefined,
  to: TryoutStatus | undefined,
  line: object,
): void {
  const from = record?.['status'];
  if (to === undefined || from === to) return;
  if (from === 'withdrawn')
    noteFew(context, line, {
      id,
      what: 'was withdrawn by the applicant.',
      others: 'Others were withdrawn by the applicant, too: see --not-status withdrawn.',
    });
  if (from === 'accepted' && typeof record?.['convertedPlayerId'] === 'string')
    noteFew(context, line, {
      id,
      what: `is already a player: ${record['convertedPlayerId']}.`,
      others: 'Others are players already, too.',
    });
}
