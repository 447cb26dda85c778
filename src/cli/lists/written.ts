/** The note of a list that was written to a file. */
import type { OutputFormat } from '../../config/settings.js';
import { resourceWords } from '../../data/resources.js';
import { plural } from '../../data/text.js';
import type { CountedList } from '../views.js';
import type { WorkbookContext } from './workbook.js';

/** Notes that a list is in its file, `Wrote 15 applications to decisions.xlsx.`, and how a workbook is sent back. */
export async function noteWritten(
  { resource, counts: { shown } }: CountedList,
  format: OutputFormat,
  context: WorkbookContext & {
    readonly settings: { readonly fields: readonly string[] | undefined };
  },
): Promise<void> {
  const { settings, note } = context;
  const { noun, plural: many } = resourceWords[resource];
  note(`Wrote ${plural(shown, noun, many)} to ${settings.out ?? 'stdout'}.`);
  if (format !== 'xlsx') return;
  const { wayBack } = await import('./workbook.js');
  const back = wayBack(context, resource, settings.fields ?? ['id']);
  if (back !== undefined) note(`To send changes back: ${back}`);
}
