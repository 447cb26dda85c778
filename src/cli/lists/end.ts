/** The end of a list: the counts below a table, and the notes on a cut, an empty or a written one. */
import { type ResourceName, resourceWords } from '../../data/resources.js';
import { countOf, groupedNumber } from '../../data/text.js';
import type { CountedList } from '../views.js';
import type { WorkbookContext } from './workbook.js';

/** Returns the parts of a table's footer: `22 pending, of 64 applications`, `oldest waits 56 d`. */
export function footerParts(list: CountedList, now: Date): readonly string[] {
  return [countWords(list), ...(list.summary?.facts?.(now) ?? [])];
}

function countWords({ resource, counts: { read, matched, shown }, summary }: CountedList): string {
  const shared = summary?.sharedWord?.();
  const first = shown < matched ? `first ${groupedNumber(shown)} of ` : '';
  const all = countOf(read, resource);
  if (matched === read) return `${first}${all}`;
  const some = groupedNumber(matched);
  if (shared?.isWhole) return `${first}${some} ${shared.word}, of ${all}`;
  const verb = matched === 1 || first !== '' ? 'matches' : 'match';
  // A filter besides the one by status: others with this status do not match.
  if (shared) return `${first}${some} ${shared.word} ${verb}, of ${all}`;
  return first === '' ? `${some} of ${all}` : `${first}${some} ${verb}, of ${all}`;
}

/** Returns the note that `--limit` cut the list: `Showing the first 30 of 412 matching applications.` */
export function cutNote({ resource, counts }: CountedList): string | undefined {
  const { shown, matched, read } = counts;
  if (shown === matched) return undefined;
  const first = shown === 1 ? '1' : `the first ${groupedNumber(shown)}`;
  const which = matched < read ? 'matching ' : '';
  return `Showing ${first} of ${countOf(matched, resource, which)}.`;
}

/** Returns the note that a filter names a value that no record has, with those that there are. */
export function unknownValueNote({ counts, summary }: CountedList): string | undefined {
  if (counts.read === 0 || counts.matched > 0) return undefined;
  const none = summary?.none?.();
  return none?.isUnknown ? none.text : undefined;
}

/** Returns the sentences for a table without rows. */
export function emptyNote(
  list: CountedList | undefined,
  resource: ResourceName | undefined,
  now: Date,
): string {
  if (resource === undefined) return 'Nothing to show.';
  const { noun, plural: many, ifNone } = resourceWords[resource];
  if (!list || list.counts.read === 0) return `No ${many} yet. ${ifNone}`;
  return (
    list.summary?.none?.(now)?.text ??
    `No ${noun} matches. To list them all: rosterctl ${resource} list`
  );
}

/** Notes what a dry run leaves out: `Would write 15 applications to decisions.xlsx.` */
export function noteUnwritten(
  list: CountedList | undefined,
  out: string,
  { note }: Pick<WorkbookContext, 'note'>,
): void {
  const what = list ? `${countOf(list.counts.shown, list.resource)} to ${out}` : out;
  note(`Would write ${what}. This is a dry run.`);
}

/** Notes that a result is in its file, `Wrote 15 applications to decisions.xlsx.`, and how a workbook is sent back. */
export async function noteWritten(
  list: CountedList | undefined,
  out: string,
  context: WorkbookContext,
): Promise<void> {
  const { settings, note } = context;
  note(`Wrote ${list ? `${countOf(list.counts.shown, list.resource)} to ` : ''}${out}.`);
  if (!list || settings.output !== 'xlsx') return;
  const { wayBack } = await import('./workbook.js');
  const back = wayBack(context, list.resource, settings.fields ?? ['id']);
  if (back !== undefined) note(`To send changes back: ${back}`);
}
