/** Converts tryout applications to players (contract 4.4); with --accept, sets the status first. */

import { callFor } from '../api/resources.js';
import { type FieldValues, readFields, type TypedFields } from '../cli/field-flags.js';
import { shortValue, valueText } from '../cli/lines.js';
import type { Context } from '../context.js';
import { isObject, isTextOrNumber, type JsonObject } from '../data/json.js';
import { nameWithId, plainText, quotedName } from '../data/path.js';
import { withTeamNames } from '../data/references.js';
import { foldCase } from '../data/text.js';
import { lagPauses, pause } from '../data/time.js';
import type { Operation, Sent, Session, Step } from '../engine/operation.js';
import type { SelectedRow } from '../runs/report.js';
import { futureIds } from '../runs/verb.js';
import { isConverted, playerIdOf } from './converted.js';
import { createStep } from './create.js';
import { explained } from './list-command.js';
import { aboutPeople, Holders } from './person/holders.js';
import { RowWarnings } from './row-warnings.js';
import { changing, withConflictAsSign } from './send.js';
import { applicationColumns, compareEdit, editCall } from './tryout-edit.js';
import { tryoutSelection } from './tryout-filters.js';
import { fieldsOfRow, presentAgain } from './update.js';

/** The job of a conversion, as plain JSON. */
type ConvertJob = JsonObject & {
  readonly typed: TypedFields;
  readonly accept: boolean;
};

/** Converts one or many applications. */
export const convertOperation: Operation = {
  resource: 'tryouts',
  verb: 'convert',
  confirm: 'always',
  locksRows: true,
  csv: { ...applicationColumns, open: 'ownFile' },
  filters: explained('tryouts', tryoutSelection),
  job: async (context, values: FieldValues & Pick<ConvertJob, 'accept'>): Promise<ConvertJob> => ({
    typed: await readFields(context, values),
    accept: values.accept,
  }),
  open: (context, job: ConvertJob) => convertSession(context, job),
};

/** The status that a conversion expects, and the name of the step that sets it. */
const accepted = 'accepted';

function convertSession(context: Context, { typed, accept }: ConvertJob): Session {
  const warnings = new RowWarnings(context);
  const warnOf = conversionWarnings(warnings, accept);
  const holders = new Holders(context, aboutPeople);
  const base = holders.beside(changing(context, 'tryouts', 'convert'));
  const bodyOf = (row: Pick<SelectedRow, 'own' | 'row'>) => fieldsOfRow(row, typed);
  return {
    ...base,
    // Only one resend, and only if provably not applied: a second player would be worse.
    resends: 1,
    plan(row, { record = { id: row.id } }) {
      warnOf(row, record);
      if (isConverted(record)) return { steps: [], made: madeOf(record) };
      holders.watch(record);
      const status = record['status'];
      const conversion = conversionStep(row.id, record['convertedPlayerId'], bodyOf(row));
      if (accept && status !== accepted) return { steps: [acceptStep(row.id, status), conversion] };
      // Whoever confirmed the conversion of an accepted applicant did not mean one rejected since.
      return { steps: [conversion], expects: status === accepted ? { status } : undefined };
    },
    planned: (isSingle, leftAlone) => warnings.print(isSingle, leftAlone),
    async send(step, row, isFresh): Promise<Sent> {
      if (step.name === accepted) return base.send(step, row, isFresh);
      // A read of the application shows whether it is already converted.
      return withConflictAsSign(async () => {
        const sent = await base.send(step, row, isFresh);
        return { ...sent, record: conversionIn(context, sent, row.id) };
      });
    },
    compare(step, record) {
      if (step.name === accepted) return compareEdit(step, record);
      return isConverted(record) ? 'applied' : 'notApplied';
    },
    image: () => undefined,
    made: madeOf,
    async present(record, { id }) {
      const player = record && playerIdOf(record);
      for (const pauseMs of lagPauses) {
        const latest = await presentAgain(context, 'tryouts', id, record);
        if (player === undefined || isConverted(latest)) return latest;
        await pause(pauseMs, context.signal);
      }
      context.note(`The service answered with ${player}; ${id} does not show it yet.`);
      return presentAgain(context, 'tryouts', id, record);
    },
    unchangedNote: (record, { id }) =>
      `${nameWithId(record?.['name'], id)} is already converted to ${record ? playerOf(record) : 'a player'}. Nothing to do.`,
    question(row, record, teams) {
      const name = quotedName(record, row.id);
      const sent = Object.entries(withTeamNames(bodyOf(row), teams)).map(
        ([field, value]) => `${field}=${shortValue(value)}`,
      );
      const player = sent.length > 0 ? `a player with ${sent.join(', ')}` : 'a player';
      return accept && record?.['status'] !== accepted
        ? `Accept ${name} and convert the application to ${player}?`
        : `Convert ${name} to ${player}?`;
    },
  };
}

/** The player that a conversion made. */
function madeOf(record: JsonObject = {}) {
  return { convertedPlayerId: playerIdOf(record) ?? null };
}

function acceptStep(id: string, status: unknown): Step {
  const changes = [{ field: 'status', from: status, to: accepted }];
  return { name: accepted, call: editCall(id, changes), changes };
}

function conversionStep(id: string, from: unknown, body: JsonObject): Step {
  const { call, changes } = createStep(callFor('tryouts', 'convert', id, body));
  return {
    call,
    changes: [{ field: 'convertedPlayerId', from, to: futureIds.player }, ...changes],
  };
}

/**
 * The application with the player that an answer names; undefined if it names none, so that the
 * application is read again. The answer may also hold the application, but not another one.
 */
function conversionIn({ api }: Context, { answer: { body }, sign }: Sent, id: string) {
  if (sign) return undefined;
  const { playerId, convertedPlayerId } = isObject(body) ? body : {};
  const record = api.recordIn(body, 'players');
  const isOther = record !== undefined && isApplication(record) && record['id'] !== id;
  const player = playerId ?? (isOther ? undefined : (convertedPlayerId ?? record?.['id']));
  return typeof player === 'string' && player !== id
    ? { id, convertedPlayerId: player }
    : undefined;
}

/** True for a record with a field that only applications have (contract 2.1). */
function isApplication(record: JsonObject): boolean {
  return ['formResponses', 'submittedAt', 'convertedPlayerId'].some((field) =>
    Object.hasOwn(record, field),
  );
}

/** `Ann (player_1)`: the player of a converted application. */
function playerOf(record: JsonObject): string {
  const { convertedPlayer } = record;
  const name = isObject(convertedPlayer) ? convertedPlayer['name'] : undefined;
  return nameWithId(name, String(playerIdOf(record)));
}

/** The facts about an application by which it is compared with others. */
interface Applicant {
  readonly id: string;
  readonly label: string;
  /** Its e-mail address and Discord user; `words` names the kind. */
  readonly identities: readonly { readonly key: string; readonly words: string }[];
}

/** Returns what warns of a row to convert: who is not accepted, who is a player already, who applied twice. */
function conversionWarnings(warnings: RowWarnings, accept: boolean) {
  /** The first application of each e-mail address and Discord user. */
  const applicants = new Map<string, Applicant>();
  /** Warns if two of the applications are by one person, who would become two players. */
  const warnOfDuplicates = (own: Applicant) => {
    for (const { key, words } of own.identities) {
      const other = applicants.get(key) ?? own;
      applicants.set(key, other);
      if (other.id !== own.id)
        warnings.once(
          `${other.label} and ${own.label} have the same ${words}: one person would become two players.`,
        );
    }
  };
  return (row: Pick<SelectedRow, 'row' | 'id'>, record: JsonObject): void => {
    const status = record['status'];
    const isAccepted = status === accepted;
    if (isConverted(record)) {
      if (accept && !isAccepted)
        warnings.forRow(
          row,
          record,
          `is already a player; its status stays ${valueText(status)}.`,
          'Others are already players, too; their statuses stay.',
        );
      return;
    }
    const own = applicantOf(row.id, record);
    warnings.inOrder(row.row, (isSingle) => {
      warnOfDuplicates(own);
      // A preview warns of every status change.
      if (isSingle && accept && !isAccepted)
        warnings.once(
          "Accepting triggers your organization's Flows (automations). That cannot be undone.",
        );
    });
    if (!isAccepted && !accept)
      warnings.forRow(
        row,
        record,
        `is not accepted: the status is ${valueText(status)}. --accept sets it first.`,
        'Others are not accepted, either.',
      );
  };
}

function applicantOf(id: string, record: JsonObject): Applicant {
  return {
    id,
    label: nameWithId(record['name'], id),
    identities: identities.flatMap(([field, words]) => {
      const value = record[field];
      const text = isTextOrNumber(value) ? foldCase(plainText(value).trim()) : '';
      return text === '' ? [] : [{ key: `${field} ${text}`, words }];
    }),
  };
}

const identities = [
  ['email', 'e-mail'],
  ['discordUserId', 'Discord user'],
] as const;
