/** New rows of an import with the e-mail address or the Discord user of a record that is there: one person twice? */
import type { Context } from '../../context.js';
import type { JsonObject } from '../../data/json.js';
import { labelOf } from '../../data/path.js';
import { nameFirstFew, plural } from '../../data/text.js';
import type { SelectedRow } from '../../runs/report.js';
import { identityReader, sameIdentity } from '../person/holders.js';
import type { ImportedRow } from './cells.js';
import type { ImportOptions } from './file.js';

/** Returns a line for each of the first such rows, and one that counts the others. */
export function sharedIdentities(
  { settings }: Context,
  { resource }: Pick<ImportOptions, 'resource'>,
  rows: readonly SelectedRow[],
  records: Iterable<JsonObject>,
): readonly string[] {
  const identitiesOf = identityReader(settings.overrides);
  const created = new Map<string, SelectedRow>();
  for (const row of rows)
    for (const { key } of identitiesOf(resource, bodyOf(row))) created.set(key, row);
  if (created.size === 0) return [];
  const found = new Map<number, string>();
  for (const record of records)
    for (const { kind, key } of identitiesOf(resource, record)) {
      const row = created.get(key);
      if (row && !found.has(row.row))
        found.set(
          row.row,
          `${labelOf(bodyOf(row), row.id)} (line ${row.row}) and ${sameIdentity({ resource, record, kind })}: the service may refuse it, or keep one person twice.`,
        );
    }
  const lines = [...found].toSorted(([a], [b]) => a - b).map(([, line]) => line);
  const more = lines.length - nameFirstFew;
  return [
    ...lines.slice(0, nameFirstFew),
    ...(more > 0 ? [`The same holds for ${plural(more, 'more row')}.`] : []),
  ];
}

function bodyOf({ own }: SelectedRow): JsonObject {
  return (own as ImportedRow | undefined)?.body ?? {};
}
