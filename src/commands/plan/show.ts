/** `rosterctl plan show`: what a plan file would change, for a reviewer without a key or a configuration. */

import { flowsWarning } from '../../bulk/preview-lines.js';
import { type AlignedRow, alignedRows } from '../../bulk/row-lines.js';
import { ValueWithExit } from '../../cli/command-output.js';
import { defineLocalCommand, param } from '../../cli/define.js';
import { changeText, valueText } from '../../cli/lines.js';
import { fieldLabel } from '../../cli/lists/labels.js';
import { nonEmptyText } from '../../cli/schemas.js';
import type { Canvas, View } from '../../cli/views.js';
import type { LocalContext } from '../../context.js';
import type { JsonObject } from '../../data/json.js';
import { plainText } from '../../data/path.js';
import { withTeamNames } from '../../data/references.js';
import { eventFieldOf } from '../../data/resources.js';
import { binarySize } from '../../data/text.js';
import { longTime, momentOf, relativeTime } from '../../data/time.js';
import { Failure } from '../../errors.js';
import { shownTeams } from '../../runs/find-run.js';
import {
  isExpired,
  type PlanFile,
  type PlanFileRow,
  readPlanFile,
  shortHash,
} from '../../runs/plan-file.js';
import { isDeletion, type ReportRow } from '../../runs/report.js';
import { storeOf } from '../../runs/store.js';
import { runsOfPlan, summaryOf } from '../../runs/stored-run.js';
import { isUploadRun } from '../../runs/unfinished.js';
import { countedNoun, verbOfAction } from '../../runs/verb.js';
import { singleLine } from '../../terminal/safe-text.js';
import { commandLines } from '../../terminal/whole-words.js';
import { widestOf, wrap } from '../../terminal/width.js';
import { inspected, nameAndTags } from '../../uploads/plan.js';

interface ShownPlan extends Omit<PlanFile, 'job' | 'rows'> {
  readonly schema: 1;
  readonly expired: boolean;
  readonly route?: string;
  /** The run on this machine that applies it. */
  readonly applied: {
    readonly run: string;
    readonly startedAt: string;
    readonly state: 'finished' | 'unfinished';
    readonly summary: Readonly<Record<string, number>>;
  } | null;
  readonly rows: readonly ShownRow[];
}

type ShownRow = Pick<ReportRow, 'row' | 'id' | 'ref'> & {
  readonly name?: string;
  /** Without the fields that the record does not have. */
  readonly before: JsonObject;
  readonly after: JsonObject;
  /** The local file of an upload. */
  readonly file?: JsonObject;
};

const view: View<ShownPlan> = {
  lines: planLines,
  rows: ({ rows }) => rows,
  rowFields: ['row', 'id', 'name', 'before', 'after', 'ref', 'file'],
};

/** The plan file to work on. */
export const planArgs = {
  file: param(nonEmptyText, 'a file that --plan wrote', { completes: 'file' }),
};

export default defineLocalCommand({
  summary: 'Show what a plan file would change',
  about:
    'Works on any machine, without a key, a configuration or a connection, so anyone can review the ' +
    'change before it is made. A file that was edited is refused (exit 11). The file holds names and ' +
    'notes of people: handle it like an export. Give the first eight characters of the hash to the ' +
    'person who applies the plan, separately from the file. The file states who made it; nothing ' +
    'proves that.',
  examples: [
    ['The changes, with old and new values', 'changes.json'],
    ['For a spreadsheet', 'changes.json -o csv --out changes.csv'],
  ],
  args: planArgs,
  view,
  async run(context, { file }) {
    const { signal, table, now } = context;
    const plan = await readPlanFile(file, { signal, version: table.version });
    const { hash, leftOut, guards, job, rows, ...head } = plan;
    const { version, madeAt, expiresAt, madeBy, ...said } = head;
    const value: ShownPlan = {
      schema: 1,
      hash,
      version,
      madeAt,
      expiresAt,
      expired: isExpired(plan, now()),
      madeBy,
      ...said,
      guards,
      ...(typeof job['route'] === 'string' && { route: job['route'] }),
      leftOut,
      applied: await newestRunOf(context, plan),
      rows: rows.map((row) => shownRow(plan, row)),
    };
    const teams = await shownTeams(context, plan);
    const named = value.rows.map((row) => ({
      ...row,
      before: withTeamNames(row.before, teams),
      after: withTeamNames(row.after, teams),
    }));
    return new ValueWithExit(value, 'done', {
      view: { ...view, lines: (_, canvas) => planLines({ ...value, rows: named }, canvas) },
    });
  },
});

/** The newest run on this machine that applies the plan; null if there is none, or no state to look in. */
async function newestRunOf(context: LocalContext, plan: PlanFile): Promise<ShownPlan['applied']> {
  try {
    const run = (await runsOfPlan(storeOf(context), plan)).at(-1);
    if (!run) return null;
    const { head, finished } = run;
    return {
      run: head.run,
      startedAt: head.startedAt,
      state: finished ? 'finished' : 'unfinished',
      summary: { ...summaryOf(run) },
    };
  } catch (error) {
    if (error instanceof Failure) return null;
    throw error;
  }
}

/** Returns a row as it is shown: its changes as the plan has them, and for an upload what is sent. */
function shownRow({ action, job }: PlanFile, row: PlanFileRow): ShownRow {
  const { row: number, id, ref, name, own, changes } = row;
  const file = isUploadRun({ verb: verbOfAction(action) })
    ? inspected({ row: number, id, own })
    : undefined;
  return {
    row: number,
    id,
    ...(ref !== undefined && { ref }),
    ...(name !== undefined && { name }),
    before: Object.fromEntries(
      changes.flatMap(({ field, from }) => (from === undefined ? [] : [[field, from]])),
    ),
    after: {
      ...Object.fromEntries(changes.map(({ field, to }) => [field, to])),
      ...(file && nameAndTags(textIn(job), file)),
    },
    ...(file && {
      file: {
        path: file.path,
        contentType: file.contentType,
        sizeBytes: file.sizeBytes,
        sha256: own?.['sha256'],
      },
    }),
  };
}

/** The name and tags that the command line gave to all files; a forged job may hold anything. */
function textIn({ name, tags }: JsonObject): Parameters<typeof nameAndTags>[0] {
  return {
    name: typeof name === 'string' ? name : null,
    tags: Array.isArray(tags) ? tags.map(String) : [],
  };
}

/** Renders a plan for a reviewer: nothing of a change is shortened. */
function planLines(plan: ShownPlan, canvas: Canvas): readonly string[] {
  const { paint, columns } = canvas;
  const facts = factsOf(plan, canvas.now);
  const labelWidth = widestOf(facts.map(([label]) => label)) + 2;
  const rows = plan.rows.map((row): AlignedRow => {
    const cells = [singleLine(row.id), singleLine(row.name ?? ''), ''] as const;
    return { cells, detail: singleLine(rowText(plan, row)) };
  });
  return [
    ...facts.flatMap(([label, text]) =>
      linesOf(label, singleLine(text), columns - labelWidth).map(
        (line, at) =>
          (at === 0 ? paint.dim(label.padEnd(labelWidth)) : ' '.repeat(labelWidth)) + line,
      ),
    ),
    '',
    ...alignedRows(rows, { columns }).flat(),
    ...(plan.rows.length === 0 ? ['Nothing would change.'] : []),
    ...(emitsEvents(plan) ? ['', ...wrap(flowsWarning, columns)] : []),
  ];
}

/** The lines of a fact; a command is broken so that it can be pasted. */
function linesOf(label: string, text: string, columns: number): readonly string[] {
  const lines = label === 'Command' ? commandLines(text, columns, 0) : [text];
  return lines.flatMap((line) => wrap(line, columns));
}

function factsOf(plan: ShownPlan, now: Date): readonly (readonly [label: string, text: string])[] {
  const { action, madeBy, leftOut, guards, applied } = plan;
  const { ifStatus, conditions = [] } = guards;
  const time = (text: string) => {
    const at = momentOf(text);
    return at ? `${longTime(at)} (${relativeTime(at, now)})` : text;
  };
  const left = [
    ...(leftOut.unchanged > 0 ? [`${leftOut.unchanged} unchanged`] : []),
    ...(leftOut.skipped > 0 ? [`${leftOut.skipped} skipped`] : []),
  ];
  const onlyIf = [
    ...(ifStatus ? [`the status is ${ifStatus.join(' or ')}`] : []),
    ...conditions.map(({ field, operator, value }) => `${field}${operator}${value}`),
  ];
  return [
    ['Hash', shortHash(plan.hash)],
    ['Change', `${action.replace('.', ' ')}: ${countedNoun(plan.rows.length, plan)}`],
    ...(plan.command === '' ? [] : [['Command', plan.command] as const]),
    ...(onlyIf.length > 0 ? [['Only if', onlyIf.join(', ')] as const] : []),
    ...(plan.route === undefined ? [] : [['Route', plan.route] as const]),
    ...(left.length > 0 ? [['Left out', left.join(', ')] as const] : []),
    ['For', `${plan.organization} at ${plan.service} (profile ${plan.profile})`],
    ['Made by', `${madeBy.user} on ${madeBy.host}, as stated in the file`],
    ['Made', `${time(plan.madeAt)}, with rosterctl ${plan.version}`],
    [plan.expired ? 'Expired' : 'Valid until', time(plan.expiresAt)],
    [
      'Applied',
      applied
        ? `by run ${applied.run}, ${time(applied.startedAt)}: ${applied.state}`
        : 'not on this machine',
    ],
  ];
}

/** `pending → rejected, note added: …`: the changes of a row, in full. */
function rowText(plan: ShownPlan, { id, ref, before, after, file }: ShownRow): string {
  if (isDeletion(plan, { after })) return 'delete';
  if (file) {
    const { name, tags } = after;
    const words = Array.isArray(tags) && tags.length > 0 ? `, tags ${tags.join(', ')}` : '';
    const size = typeof file['sizeBytes'] === 'number' ? binarySize(file['sizeBytes']) : '?';
    return `upload as ${String(name)}${words} (${String(file['contentType'])}, ${size})`;
  }
  const changes = Object.entries(after).map(([field, to]) => {
    const from = before[field];
    if (field === 'status') return changeText(from ?? null, to);
    if (field === 'convertedPlayerId') return 'convert to a player';
    const kept = plainText(from).trimEnd();
    if (field === 'internalNotes' && typeof to === 'string' && to.startsWith(kept))
      return `note added: ${to.slice(kept.length).trim()}`;
    const label = fieldLabel(field);
    return from === undefined ? `${label} ${valueText(to)}` : `${label} ${changeText(from, to)}`;
  });
  // A record that is yet to be created has no id but its reference.
  return (ref === id ? 'new: ' : '') + changes.join(', ');
}

function emitsEvents({ resource, rows }: ShownPlan): boolean {
  const field = eventFieldOf(resource);
  return field !== undefined && rows.some(({ after }) => Object.hasOwn(after, field));
}
