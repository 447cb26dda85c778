/** Output for people: aligned tables, records and lines on a terminal, through the pager if they are long. */

import type { Settings } from '../../config/settings.js';
import { collect } from '../../data/batches.js';
import type { Environment } from '../../data/environment.js';
import type { JsonObject } from '../../data/json.js';
import type { LendKeyboard } from '../../terminal/pager.js';
import { rawLines } from '../../terminal/safe-text.js';
import { canvasOf, type Sink } from '../sink.js';
import type { CountedList, View } from '../views.js';
import { asRecord, type Rows } from '../writers.js';

/** The parts of a context that showing a value to a person requires. */
export interface ShowContext {
  readonly settings: Pick<
    Settings,
    'fields' | 'time' | 'noHeader' | 'quiet' | 'verbose' | 'pager' | 'overrides'
  >;
  readonly lendKeys?: LendKeyboard | undefined;
  /** True for what a command prints that is not a read: no pager shows it. */
  readonly isReport?: boolean | undefined;
  readonly env: Environment;
  readonly now: () => Date;
  readonly note: (line: string) => void;
}

/** A view of rows, and the numbers of the list that they are. */
type TableView = Pick<
  View<never>,
  'kind' | 'resource' | 'columns' | 'interactiveColumns' | 'whenEmpty'
> & {
  readonly list: CountedList | undefined;
};

/** Writes rows as a table that fits the terminal; notes on stderr if there are none. */
export async function showTable(
  rows: Rows,
  view: TableView,
  sink: Sink,
  context: ShowContext,
): Promise<void> {
  const { settings, note } = context;
  const { list, interactiveColumns } = view;
  const records = (await collect(rows)).map(asRecord);
  const { cutNote, emptyNote, footerParts } = await import('./end.js');
  if (records.length === 0) {
    // Records that were named, not listed: each missing one was reported.
    if (view.kind === 'either') return;
    return note(view.whenEmpty ?? emptyNote(list, view.resource));
  }
  const hasFooter = sink.isTerminal && !settings.quiet;
  const canvas = canvasOf(sink, context);
  const { recordTable } = await import('./table.js');
  const lines = await recordTable(records, {
    ...canvas,
    time: settings.time,
    columnNames:
      settings.fields ??
      interactiveColumns?.map(([field]) => field) ??
      configuredColumns(view, settings) ??
      view.columns,
    headers: new Map(interactiveColumns),
    showsNames: settings.verbose,
    footer: hasFooter ? (list ? footerParts(list, canvas.now) : []) : undefined,
  });
  const heads = settings.verbose ? 2 : 1;
  await showLines(settings.noHeader ? lines.slice(heads) : lines, sink, context);
  if (hasFooter || !list) return;
  const cut = cutNote(list);
  if (cut !== undefined) note(cut);
}

/** The columns that the user configured for the resource. */
function configuredColumns(
  { resource }: TableView,
  { overrides }: ShowContext['settings'],
): readonly string[] | undefined {
  return overrides[`columns.${resource}`]?.split(',').map((name) => name.trim());
}

/** Writes the fields of one record, aligned. */
export async function showRecord(
  record: JsonObject,
  sink: Sink,
  context: ShowContext,
): Promise<void> {
  const { detailLines } = await import('../card.js');
  const lines = detailLines(record, {
    ...canvasOf(sink, context),
    time: context.settings.time,
  });
  await showLines(lines, sink, context);
}

/** Writes lines, through the pager if they do not fit on the screen. */
export async function showLines(
  lines: readonly string[],
  sink: Sink,
  context: ShowContext,
): Promise<void> {
  const text = lines.map((line) => `${line}\n`).join('');
  if (sink.isTerminal && lines.length >= sink.rows && (await isPaged(text, context))) return;
  await sink.write(text);
}

/** Collects what `write` prints and shows it as one page. */
export async function writePage(
  sink: Sink,
  context: ShowContext,
  write: (page: Sink) => Promise<void>,
): Promise<void> {
  const { settings, isReport } = context;
  if (settings.pager === undefined || settings.quiet || isReport) return write(sink);
  const parts: string[] = [];
  const { isTerminal, columns, rows, color } = sink;
  await write({
    isTerminal,
    columns,
    rows,
    color,
    async write(text) {
      parts.push(typeof text === 'string' ? text : Buffer.from(text).toString());
    },
  });
  const text = rawLines(parts.join(''));
  const lines = text.split('\n').length;
  if (lines > rows && (await isPaged(text, context))) return;
  await sink.write(text);
}

/** Shows text in the pager; false if there is none, or it failed. */
async function isPaged(text: string, context: ShowContext): Promise<boolean> {
  const { pager, quiet } = context.settings;
  if (pager === undefined || quiet || context.isReport) return false;
  const { showInPager } = await import('../../terminal/pager.js');
  return showInPager(text, pager, context);
}
