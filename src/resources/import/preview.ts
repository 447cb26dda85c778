/** The preview of an import: where each column goes, and the first rows of each kind. */

import { changePlace } from '../../bulk/preview-lines.js';
import { aboutRow, describeChanges } from '../../bulk/row-lines.js';
import { shortValue } from '../../cli/lines.js';
import type { Context } from '../../context.js';
import { isTextOrNumber, type JsonObject } from '../../data/json.js';
import { plainText } from '../../data/path.js';
import { groupedNumber, nameFirstFew, plural, upperFirst, upTo } from '../../data/text.js';
import { beforeAndAfter } from '../../engine/decide.js';
import type { PreviewedRows, PreviewStyle, Task } from '../../engine/operation.js';
import type { ReportRow, RowChange, SelectedRow } from '../../runs/report.js';
import { singleLine } from '../../terminal/safe-text.js';
import { importedRow } from './cells.js';
import type { MappedColumn, Mapping } from './columns.js';
import type { ImportFile } from './file.js';
import type { Teams } from './teams.js';

/** The rows of an import, and what its preview says of them. */
export interface ResolvedImport {
  readonly rows: readonly SelectedRow[];
  readonly mapping: Mapping;
  readonly teams: Teams | undefined;
  /** True if there was no record to compare the columns with. */
  readonly isUnchecked: boolean;
  /** New rows that may be people who are there. */
  readonly shared: readonly string[];
}

/** Returns the lines of the preview, for stderr. */
export function importPreview(
  context: Context,
  { sheet, options }: ImportFile,
  resolved: ResolvedImport,
  { tasks, decided, names = new Map() }: PreviewedRows,
  { canAsk, lists = 'first' }: PreviewStyle,
): string[] {
  const { mapping, teams, isUnchecked, shared } = resolved;
  const created = tasks.filter(isNew);
  const changed = tasks.filter((task) => !isNew(task));
  const fields = changed.reduce((count, { previewed = [] }) => count + previewed.length, 0);
  const decidedAs = (result: ReportRow['result']) => decided.filter((row) => row.result === result);
  const teamColumn = mapping.columns.find(({ byName }) => byName);
  const groups = [
    kind('new', created, (row) => `+ ${newRecordLine(row, resolved, teamColumn)}`),
    kind(
      `changed (${plural(fields, 'field')})`,
      changed,
      (row) => `${nameBesideId(names.get(row.id), row.id)}  ${describe(row)}`,
    ),
    kind('unchanged', decidedAs('unchanged'), ({ id }) => nameBesideId(names.get(id), id)),
    kind('skipped', decidedAs('skipped'), withId),
    kind('in conflict', decidedAs('conflict'), withId),
    invalid(decidedAs('failed')),
  ].filter(({ count }) => count > 0);
  const listed = groups.filter(({ what }) => lists !== 'changes' || what !== 'unchanged');
  const describe = (row: Task) => {
    const action = { action: `${options.resource}.import`, verb: 'import' } as const;
    const changes = (row.previewed ?? []).map((change) =>
      change.field === teamColumn?.target.field ? withTeamNames(change, teams) : change,
    );
    return describeChanges(beforeAndAfter(changes), action, { isPreview: true });
  };
  return [
    `${plural(resolved.rows.length, 'row')} of ${sheet.name}, by ${options.key}, to ${options.resource} of ${changePlace(context)}:`,
    `  ${mapping.columns.map(mappingOf).join(' · ')}`,
    ...notesOn(resolved),
    `  ${groups.map(({ what, count }) => `${groupedNumber(count)} ${what}`).join(', ')}`,
    ...listed.flatMap(({ what, lines }) => [
      ...(groups.length > 1 ? [`  ${upperFirst(what.replace(/ \(.*/, ''))}:`] : []),
      ...lines({ canAsk, lists }),
    ]),
    ...(isUnchecked
      ? [
          `There are no ${options.resource} yet, so the key and the fields could not be checked${options.isTyped ? '.' : ': every value is text unless typed (rank:int).'}`,
        ]
      : []),
    ...(teams ? respelled(teams.respelled) : []),
    ...shared.map(singleLine),
  ];
}

function kind<T>(what: string, rows: readonly T[], lineOf: (row: T) => string) {
  const lines = ({ canAsk, lists }: PreviewStyle) => {
    const all = rows.map((row) => `    ${lineOf(row)}`);
    if (lists !== 'first') return all;
    const how = canAsk ? ' (l lists all)' : '';
    return upTo(nameFirstFew, all, (more) => `    … ${groupedNumber(more)} more${how}`);
  };
  return { what, count: rows.length, lines };
}

/** The lines of the file that are wrong, which their messages name; a problem of two lines is listed once. */
function invalid(rows: readonly ReportRow[]) {
  const reasons = new Set(rows.map(({ id, error }) => error?.message ?? id));
  return { ...kind('invalid', [...reasons], (reason) => reason), count: rows.length };
}

function withId({ id, error }: ReportRow): string {
  return error ? `${shortValue(id)}  ${singleLine(aboutRow(error.message, id))}` : shortValue(id);
}

function isNew({ own = {} }: Task): boolean {
  return own['body'] !== undefined;
}

/** `Team → teamIds (by name)`, or `name` for a column that is named as its field. */
function mappingOf({ head, target, byName, type, isNew: isNewField }: MappedColumn): string {
  const notes = [...(type === undefined ? [] : [type]), ...(isNewField ? ['new field'] : [])];
  const field = `${shortValue(target.field)}${notes.length > 0 ? ` (${notes.join(', ')})` : ''}`;
  if (head === target.field && !byName) return field;
  return `${shortValue(head)} → ${field}${byName ? ' (by name)' : ''}`;
}

function notesOn({ mapping }: ResolvedImport): readonly string[] {
  const { service, ignored, overruled } = mapping;
  const heads = [...service.values()].map(({ head }) => shortValue(head));
  return [
    ...(heads.length > 0 ? [`  Not sent (set by the service): ${heads.join(', ')}`] : []),
    ...(ignored.length > 0
      ? [`  Ignored: ${ignored.map((head) => shortValue(head)).join(', ')}`]
      : []),
    ...[...overruled].map(
      ([head, word]) => `  Not used: ${shortValue(head)}, because ${word} sets it in every row`,
    ),
  ];
}

/** `Mira Kite <mira@example.com> → Lanternfish` */
function newRecordLine(row: Task, { teams }: ResolvedImport, teamColumn: MappedColumn | undefined) {
  const { body = {}, key } = importedRow(row);
  const name = shortField(body, 'name');
  const email = shortField(body, 'email');
  const who = [
    name,
    email === undefined ? undefined : `<${email}>`,
    ...(key === email || key === name
      ? []
      : [(name ?? email) ? `(${shortValue(key)})` : shortValue(key)]),
  ];
  const held = teamColumn && body[teamColumn.target.field];
  const ids: readonly unknown[] = held === undefined || held === null ? [] : [held].flat();
  const inTeams = ids.map((id) => shortValue(teams?.nameOf(plainText(id)) ?? id)).join(', ');
  const line = who.filter((part) => part !== undefined).join(' ');
  return inTeams === '' ? line : `${line} → ${inTeams}`;
}

function withTeamNames({ field, from, to }: RowChange, teams: Teams | undefined): RowChange {
  const named = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(named);
    return isTextOrNumber(value) ? (teams?.nameOf(plainText(value)) ?? value) : value;
  };
  return { field, from: named(from), to: named(to) };
}

function shortField(body: JsonObject, field: string): string | undefined {
  const value = body[field];
  return typeof value === 'string' && value !== '' ? shortValue(value) : undefined;
}

function nameBesideId(name: string | undefined, id: string): string {
  return name === undefined ? shortValue(id) : `${shortValue(id)}  ${shortValue(name)}`;
}

function respelled(spellings: ReadonlyMap<string, string>): readonly string[] {
  const all = [...spellings].map(
    ([typed, name]) => `"${shortValue(typed)}" is ${shortValue(name)}`,
  );
  const shown = upTo(nameFirstFew, all, (more) => `and ${groupedNumber(more)} more`);
  return shown.length === 0 ? [] : [`${shown.join(', ')}.`];
}
