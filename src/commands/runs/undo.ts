import * as z from 'zod/mini';
import { type BeforeImage, readBeforeImages } from '../../bulk/before-images.js';
import { verifiedResults } from '../../bulk/earlier-runs.js';
import { bulkFlags, type BulkValues } from '../../bulk/invocation.js';
import type { Operation } from '../../bulk/operation.js';
import { reportView } from '../../bulk/report-view.js';
import { isDelete, type ReportRow } from '../../bulk/report.js';
import { defineOperation } from '../../bulk/run-operation.js';
import { runFolder, storeOf } from '../../bulk/run-store.js';
import type { StoredRun } from '../../bulk/runs.js';
import { params } from '../../cli/define.js';
import type { Context } from '../../context.js';
import { digestOf } from '../../data/digest.js';
import type { JsonObject } from '../../data/json.js';
import { plural } from '../../data/text.js';
import { GuardError, UsageError } from '../../errors.js';
import { type UndoJob, undoOperation } from '../../resources/undo.js';
import { invocationOf, earlierRunCommand, findRunHere, undoAction } from './shared.js';

interface Values extends Pick<BulkValues, 'waitLock'> {
  readonly run: string;
  readonly only: readonly string[] | undefined;
}

export default defineOperation({
  summary: 'Undo a run: put fields back and remove what it created',
  about:
    'A field goes back to its value before the run only where it still holds what the run wrote; a record ' +
    'that somebody changed since is a conflict and is left as it is. Records that the run created are ' +
    'deleted if they still read as they did then. Deleted records, conversions and the events of status ' +
    'changes cannot be undone; runs show RUN --undoable prints the records that a run deleted. An undo ' +
    'is a run itself and can be undone.',
  examples: [
    ['Look first', 'last --dry-run'],
    ['From a script', 'last --yes'],
    ['One record of a run', 'last --only app_0013 --dry-run'],
  ],
  calls: earlierRunCommand.calls,
  args: earlierRunCommand.args,
  flags: {
    only: params(z.optional(z.array(z.string())), 'undo only these records', {
      placeholder: 'ID',
      commaList: true,
      group: 'selection',
    }),
    ...earlierRunCommand.flags,
    restart: bulkFlags.restart,
    results: bulkFlags.results,
  },
  view: reportView,
  operation: {
    // The run says which resource it is; until then nothing is read or sent.
    resource: 'tryouts',
    confirm: 'several',
    reports: true,
    job: async () => ({}),
    open() {
      throw new UsageError('This run cannot be undone.');
    },
    async bind(context, values: Values, use) {
      return use(await undoOf(context, values));
    },
  },
});

/** The operation that takes a run back. Throws GuardError where nothing of it can be undone. */
async function undoOf(context: Context, values: Values): Promise<Partial<Operation>> {
  const { only } = values;
  const stored = await runMeant(context, values);
  const { head } = stored;
  const found = await undoable(context, stored, values);
  const missing = only?.find((id) => ![...found.can, ...found.cannot].some((row) => row.id === id));
  if (missing !== undefined)
    throw new UsageError(`The run ${head.run} changed nothing of ${missing}.`, {
      hint: `See: rosterctl runs show ${head.run}`,
    });
  const isWanted = ({ id }: { readonly id: string }) => only === undefined || only.includes(id);
  const can = found.can.filter(isWanted);
  const why = reasonsOf(found.cannot.filter(isWanted));
  const [first] = can;
  if (!first) throw nothingToUndo(stored, why);
  const undo: UndoJob = {
    of: head.run,
    kind: first.kind,
    ...(head.route !== undefined && { route: head.route }),
  };
  return {
    ...undoOperation(head.resource, undo),
    job: async () => undo,
    rows: async () => ({
      rows: can.map(({ row, id, before = {}, after = {}, absent, withheld, shortened }) => ({
        row,
        id,
        own: { before, after, absent, inexact: [...withheld, ...shortened] },
      })),
      header: ['id'],
      note: undefined,
      digest: digestOf([head.run, only ?? null]),
    }),
    previewNotes: (counts) => [
      `Of run ${head.run}: ${counts.can} can be undone, ${counts.changedSince} changed since, ${found.cannot.filter(isWanted).length} cannot be undone${why}.`,
      ...partialNotes(can),
      ...nullNote(can),
    ],
  };
}

/** `last` is the newest that changed something; where that is an undo cut short, the same line continues it. */
async function runMeant(context: Context, { run }: Values): Promise<StoredRun> {
  const stored = await findRunHere(context, run, mayHaveChanged);
  const { head, finished } = stored;
  const isCutShort = head.action === undoAction && !finished && head.of !== undefined;
  return run === 'last' && isCutShort ? findRunHere(context, head.of, () => true) : stored;
}

function mayHaveChanged({ state }: StoredRun): boolean {
  const { results, open, done } = state;
  if (open.size > 0 || done.size > 0) return true;
  return [...results.values()].some(({ result }) => result === 'changed');
}

/** A row that was changed and stays so. */
interface NotUndoable {
  readonly id: string;
  /** In words that follow a count. */
  readonly why: string;
}

/** Rows of a run that can be put back, and those that cannot. */
interface Undoable {
  readonly can: readonly BeforeImage[];
  readonly cannot: readonly NotUndoable[];
}

async function undoable(context: Context, stored: StoredRun, values: Values): Promise<Undoable> {
  const invocation = await invocationOf(stored, { waitLock: values.waitLock });
  const results = await verifiedResults(context, invocation, stored);
  const images = await readBeforeImages(runFolder(storeOf(context), stored.head.run));
  const byRow = new Map(images.map((image) => [image.row, image]));
  const can: BeforeImage[] = [];
  const cannot: NotUndoable[] = [];
  const hasNoUndo = invocation.operation.undoes === false;
  for (const row of results) {
    if (row.result !== 'changed' && row.result !== 'unknown' && row.step === undefined) continue;
    const made = row.after?.['id'];
    const id = typeof made === 'string' ? made : row.id;
    const image = byRow.get(row.row);
    const why = hasNoUndo ? wordOf(stored) : whyNot(row, image, images.length > 0);
    if (why === undefined && image) can.push({ ...withoutLost(image), id });
    else cannot.push({ id, why: why ?? '' });
  }
  return { can, cannot };
}

function wordOf({ head }: StoredRun): string {
  return isDelete(head.action) ? 'deleted' : 'converted';
}

function whyNot(
  { result }: ReportRow,
  image: BeforeImage | undefined,
  keepsImages: boolean,
): string | undefined {
  if (result === 'unknown') return 'unknown whether it was changed';
  if (image?.kind === 'record') return 'deleted';
  if (!image && keepsImages) return 'made without an answer that shows it';
  if (!image) return 'changed by a run whose former values are not kept';
  const isLost =
    image.kind === 'fields' && Object.keys(withoutLost(image).after ?? {}).length === 0;
  return isLost
    ? `with a former value that is not kept (${lostFields(image).join(', ')})`
    : undefined;
}

/** Fields that held the API key, or a URL that was kept without its query. */
function lostFields({ withheld, shortened }: BeforeImage): readonly string[] {
  return [...new Set([...withheld, ...shortened])];
}

/** Fields whose former value is not kept whole stay as they are. */
function withoutLost(image: BeforeImage): BeforeImage {
  const lost = lostFields(image);
  if (lost.length === 0 || image.kind !== 'fields') return image;
  const keep = (fields: JsonObject = {}) =>
    Object.fromEntries(Object.entries(fields).filter(([field]) => !lost.includes(field)));
  return { ...image, before: keep(image.before), after: keep(image.after) };
}

/** ` (2 deleted or converted, 1 unknown whether it was changed)` */
function reasonsOf(rows: readonly NotUndoable[]): string {
  const counts = new Map<string, number>();
  for (const { why } of rows) counts.set(why, (counts.get(why) ?? 0) + 1);
  const parts = [...counts].map(([why, count]) => `${count} ${why}`);
  return parts.length > 0 ? ` (${parts.join(', ')})` : '';
}

function partialNotes(rows: readonly BeforeImage[]): readonly string[] {
  const partial = rows.filter((image) => image.kind === 'fields' && lostFields(image).length > 0);
  const fields = [...new Set(partial.flatMap(lostFields))];
  if (fields.length === 0) return [];
  return [
    `${fields.join(', ')} of ${plural(partial.length, 'record')} cannot be undone: the former value is not kept (an API key, or a URL with a query).`,
  ];
}

function nullNote(rows: readonly BeforeImage[]): readonly string[] {
  const fields = [...new Set(rows.flatMap(({ absent }) => absent))];
  if (fields.length === 0) return [];
  return [`${fields.join(', ')}: set to null, since a field cannot be removed.`];
}

function nothingToUndo({ head }: StoredRun, why: string): GuardError {
  return new GuardError(
    `Nothing of run ${head.run} (${head.action.replace('.', ' ')}) can be undone${why}.`,
    {
      code: 'notUndoable',
      hint: why.includes('deleted')
        ? `Print the deleted records, for create --input: rosterctl runs show ${head.run} --undoable`
        : `See what it changed: rosterctl runs show ${head.run}`,
    },
  );
}
