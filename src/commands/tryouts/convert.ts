import { cellFields } from '../../bulk/cell-values.js';
import { defineWrite, flag, type Change, type Plan } from '../../cli/define.js';
import { fieldFlags, readFields, touchedFields, type TypedFields } from '../../cli/field-flags.js';
import { manyFlags } from '../../cli/bulk-flags.js';
import type { BulkJob } from '../../cli/bulk-part.js';
import { recordOf } from '../../cli/views.js';
import type { Context } from '../../context.js';
import { isObject, type JsonObject } from '../../data/json.js';
import { callOf } from '../kinds.js';
import { labelOf } from '../read-records.js';
import {
  anyIds,
  applications,
  noteFew,
  noteOnce,
  readApplication,
  refuseOrganization,
} from './application.js';
import { convert, convertOnce, playerOf } from './conversion.js';
import { editCall, sendEdit, sendEditOnce } from './edit.js';
import { applicationColumns, tryoutSelection, tryoutSelectionFlags } from './edit-many.js';
import { isConverted, tryoutExcludes } from './filters.js';

interface Applicant {
  readonly record: JsonObject;
}

export default defineWrite({
  summary: 'Convert applications to players',
  about:
    'The application is read first: one that is a player already is left alone and nothing is sent. ' +
    'Afterwards it is read again and printed with its player. Fields set with -F go along as typed; ' +
    'which ones the service takes is not shown (contract 4.4). A CSV of your own (not an export) may ' +
    'have columns for such fields, each row its own. A conversion does not set the status; ' +
    "--accept does that first, and that emits events which the organization's Flows may act on.",
  examples: [
    ['Make a player of an applicant', 'app_0016'],
    ['Into a team', 'app_0022 -F teamId=team_0001'],
    ['Accept first, then convert; look first', 'app_0006 --accept --dry-run'],
  ],
  calls: ['getTryout', 'convertTryout', 'updateTryout', 'listTryouts'],
  args: { ids: anyIds },
  flags: {
    accept: flag('set the status accepted first', { group: 'change' }),
    ...fieldFlags,
    ...manyFlags(tryoutSelectionFlags),
  },
  excludes: tryoutExcludes,
  view: recordOf('tryouts'),
  ids: ({ ids }) => ids,
  bulk: {
    resource: 'tryouts',
    rules: { ...applicationColumns, open: 'ownFile' },
    filters: tryoutSelection,
    asksForOne: true,
    job: async (context, values: WishValues) => ({ ...(await readWish(context, values)) }),
    open: (context, job: Wish) => conversions(context, job),
  },
  async check(context, values) {
    refuseOrganization(context, values.ids);
    await readFields(context, values);
  },
  async plan(context, values, id): Promise<Plan<Applicant>> {
    const record = await readApplication(context, id);
    return planConversion(context, id, record, await readWish(context, values), values);
  },
  confirm({ state }, { accept }, id) {
    const label = labelOf(state.record, id);
    const name = label === id ? id : `"${label}" (${id})`;
    const accepts = accept && state.record['status'] !== 'accepted';
    return {
      question: accepts
        ? `Accept ${name}, which fires the organization's Flows, and convert to a player?`
        : `Convert ${name} to a player?`,
    };
  },
  async apply(context, { calls, state }, _values, id) {
    const conversion = calls.at(-1);
    if (!conversion) {
      context.note(`${id} is already converted to ${playerOf(state.record)}; nothing was sent.`);
      return state.record;
    }
    for (const call of calls.slice(0, -1)) await sendEdit(context, call, id, state.record);
    return convert(context, conversion, id, state.record);
  },
});

/** What is wanted of a conversion. */
interface Wish {
  readonly typed: TypedFields;
  readonly accept: boolean;
}

type WishValues = Parameters<typeof readFields>[1] & { readonly accept: boolean };

async function readWish(context: Context, values: WishValues): Promise<Wish> {
  return { typed: await readFields(context, values), accept: values.accept };
}

function planConversion(
  context: Context,
  id: string,
  record: JsonObject,
  { typed, accept }: Wish,
  line: object,
  own: JsonObject = {},
): Plan<Applicant> {
  const status = record['status'];
  if (isConverted(record)) {
    if (accept && status !== 'accepted')
      noteFew(context, line, {
        id,
        what: `is a player already; its status stays ${String(status)}.`,
        others: 'Others are players already, too; their statuses stay.',
      });
    return { calls: [], changes: [], state: { record } };
  }
  noteTwins(context, line, id, record);
  const accepts = accept && status !== 'accepted';
  if (accepts)
    noteOnce(
      context,
      line,
      "Accepting emits events that the organization's Flows may act on; they cannot be called back.",
    );
  const body = { ...own, ...touchedFields(typed) };
  const changes: Change[] = [
    ...(accepts ? [{ id, field: 'status', from: status, to: 'accepted' }] : []),
    { id, field: 'convertedPlayerId', from: null, to: '(new player)' },
  ];
  const calls = [
    ...(accepts ? [editCall(id, { status: 'accepted' })] : []),
    { ...callOf(applications, 'convertTryout', id), body },
  ];
  return { calls, changes, state: { record } };
}

/** Conversions in a run: a lost one is settled by the application's player, and sent again at most once. */
function conversions(context: Context, wish: Wish): BulkJob {
  return {
    resends: 1,
    read: (id) => readApplication(context, id),
    plan: ({ id, row, own = {} }, record = { id }) =>
      planConversion(context, id, record, wish, wish, cellFields(own, undefined, row)),
    async send({ calls, state }, id) {
      const conversion = calls.at(-1);
      if (!conversion) return undefined;
      const { record } = state as Applicant;
      for (const call of calls.slice(0, -1)) await sendEditOnce(context, call, id, record);
      return convertOnce(context, conversion, id, record);
    },
    made: (value) => (isObject(value) ? madeOf(value) : undefined),
    madeOf,
  };
}

function madeOf(record: JsonObject): JsonObject {
  return { convertedPlayerId: record['convertedPlayerId'] ?? null };
}

const seen = new WeakMap<object, Map<string, string>>();

/** One person with two applications among the ids would become two players. */
function noteTwins(context: Context, line: object, id: string, record: JsonObject): void {
  const people = seen.get(line) ?? new Map<string, string>();
  seen.set(line, people);
  for (const field of ['email', 'discordUserId']) {
    const value = record[field];
    if (typeof value !== 'string' || value === '') continue;
    const key = `${field} ${value.toLowerCase()}`;
    const other = people.get(key);
    if (other !== undefined && other !== id)
      noteOnce(
        context,
        line,
        `${other} and ${id} have the same ${field}: one person, two players.`,
      );
    else people.set(key, id);
  }
}
