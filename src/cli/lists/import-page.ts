/** The help topic on imports. */
import { aliasRows } from '../column-aliases.js';

/** Returns the text of `rosterctl help import`; `aligned` renders names and texts in two columns. */
export function importPage(
  aligned: (rows: readonly (readonly [name: string, text: string])[]) => string,
): string {
  return `Importing players and teams from a CSV, a workbook or NDJSON

  rosterctl players template -o csv --out roster.csv
  rosterctl players import roster.csv --key email --dry-run
  rosterctl players import roster.csv --key email

The key is a field that identifies a record, such as email. Each row changes the record
that has its key, or creates one; nothing is deleted. Importing the same file again sends
nothing. E-mail addresses and Discord names match in any case, names as typed or else in
any case, other keys exactly. A key may occur once in the file and in one record only. To change the
e-mail addresses themselves, export the list and import it with --key id.

A column sets the field of the same name, ignoring case, spaces, -, _ and dots, or the
field of an alias:

${aligned(aliasRows())}

The preview shows which field each column sets. Map other columns with --map
'Position=role', or skip them with --ignore-columns. The fields that the service sets itself are never sent; with an
updatedAt column, a record that changed since the export is a conflict. -F kind=player
sets a field in every row.

A Team column names teams, in any case, separated by ; and takes ids as id:team_0001.
--team-column COLUMN names another column. If no player shows a field with team ids, name
it with --team-field FIELD ('teamIds[]' for a list).

A cell takes the type of the field in the records: a number stays a number, and text
that looks like a number stays text. name:text, :int, :bool and :json in the head set
another type; a;b is a list. A blank cell changes nothing, <clear> empties the field.

An .ndjson file, as list -o ndjson or a backup writes it, holds one record a line. Its
fields are set by their own names and with their own types, also over later changes; null empties a field.

All problems of a file are listed at once, with line and column, and nothing is sent
until they are fixed. --skip-invalid imports the other rows. Files are UTF-8 or UTF-16,
with comma, semicolon or tab, or .xlsx (--sheet NAME), with up to 200,000 rows. --encoding
windows-1252 reads files of older spreadsheet programs.

After the first create, the record is read again; if it does not show the key, the
import stops (exit 11). If the answer to a create is lost, the record is looked up by its key;
if it is not found, the row is unknown (exit 10) and is never sent again
automatically. Check, then run the same command with --restart. rosterctl runs undo last restores what was
changed and deletes what was created. See also: rosterctl help bulk`;
}
