/** Which columns a table has, and in which order. */
import { isObject, type JsonObject } from '../../data/json.js';
import type { View } from '../views.js';

/** Fields that name a team, the surest first. */
const teamFields = ['team', 'teamName', 'teams', 'teamId', 'teamIds'] as const;

/** True for a field that names teams. */
export function isTeamField(name: string): boolean {
  return teamFields.some((field) => field === name);
}

/** Returns ids as the names that are known of them. */
export function withNames(value: unknown, names: ReadonlyMap<string, string> | undefined): unknown {
  if (!names) return value;
  if (Array.isArray(value)) return value.map((item) => withNames(item, names));
  return (typeof value === 'string' && names.get(value)) || value;
}

/** The first columns; the others follow by how many records have them, then `lastFields`. */
const firstFields = [
  ['id'],
  ['name', 'title', 'displayName'],
  ['status'],
  ['game'],
  ['role', 'position'],
  teamFields,
  ['submittedAt'],
  ['gamerTags'],
  ['email'],
  ['discordUsername'],
  ['contentType'],
  ['sizeBytes'],
  ['tags'],
].flat();
const lastFields = ['updatedAt', 'createdAt'];

/** References to private files, which are neither links nor readable (contract 2.5). */
const fileReferences: ReadonlySet<string> = new Set(['fileUrl', 'fileKey', 'fileRef']);

const longTextLength = 200;

/**
 * Returns the columns for a terminal, without fields that are empty, constant by nature or too long.
 * Web addresses come last: cut to a column they are of no use. `hidden`: the fields left out.
 */
export function terminalColumns(records: readonly JsonObject[]) {
  const fields = countFields(records);
  const useful = [...fields].filter(([name, field]) => field.filled > 0 && !isNoise(name, field));
  const long = new Set(useful.filter(([, field]) => isLong(field)).map(([name]) => name));
  const ordered = inColumnOrder(
    fields,
    useful.map(([name]) => name),
  );
  const isLink = (name: string) => fields.get(name)?.links === fields.get(name)?.filled;
  const shown = ordered.filter((name) => !long.has(name));
  return {
    visible: [...shown.filter((name) => !isLink(name)), ...shown.filter(isLink)],
    hidden: ordered.filter((name) => long.has(name)),
  };
}

/** The fields besides the name by which a person tells namesakes apart, the surest first. */
const personal = ['email', 'role', 'position', 'game', ...teamFields] as const;

/** Returns the fields of these records that tell namesakes apart. */
export function fieldsToTellApart(records: readonly JsonObject[]): readonly string[] {
  const { visible } = terminalColumns(records);
  return personal.filter((name) => visible.includes(name));
}

/** Returns the columns for a pipe: every field except file references, in the order of a terminal. */
export function machineColumns(records: readonly JsonObject[]): readonly string[] {
  const fields = countFields(records);
  return inColumnOrder(
    fields,
    [...fields.keys()].filter((name) => !fileReferences.has(name)),
  );
}

interface FieldStatistics {
  /** The number of records with a value. */
  filled: number;
  characters: number;
  /** The number of web addresses. */
  links: number;
  /** The number of objects without a name to show for them. */
  blobs: number;
  readonly first: unknown;
  constant: boolean;
}

function countFields(records: readonly JsonObject[]): Map<string, FieldStatistics> {
  const fields = new Map<string, FieldStatistics>();
  for (const record of records)
    for (const name of Object.keys(record)) {
      const value = record[name];
      let field = fields.get(name);
      if (!field) {
        field = { filled: 0, characters: 0, links: 0, blobs: 0, first: value, constant: true };
        fields.set(name, field);
      } else if (field.first !== value) field.constant = false;
      count(field, value);
    }
  return fields;
}

function count(field: FieldStatistics, value: unknown): void {
  if (value === null || value === undefined || value === '') return;
  if (Array.isArray(value) && value.length === 0) return;
  field.filled++;
  if (typeof value === 'string') {
    field.characters += value.length;
    if (/^https?:/.test(value)) field.links++;
  } else if (
    isObject(value) &&
    !['name', 'title', 'label', 'id'].some((key) => Object.hasOwn(value, key))
  )
    field.blobs++;
}

function isNoise(name: string, field: FieldStatistics): boolean {
  return fileReferences.has(name) || (name === 'organizationId' && field.constant);
}

function isLong(field: FieldStatistics): boolean {
  return field.blobs > 0 || field.characters / field.filled > longTextLength;
}

function inColumnOrder(
  fields: ReadonlyMap<string, FieldStatistics>,
  names: readonly string[],
): string[] {
  const filled = (name: string) => fields.get(name)?.filled ?? 0;
  return names.toSorted((a, b) => rank(a) - rank(b) || filled(b) - filled(a));
}

function rank(name: string): number {
  const first = firstFields.indexOf(name);
  if (first >= 0) return first;
  const last = lastFields.indexOf(name);
  return last >= 0 ? 10_000 + last : 1_000;
}

/** Returns the columns of a table without rows. */
export async function knownFields({
  columns,
  resource,
}: Pick<View<never>, 'columns' | 'resource'>): Promise<readonly string[]> {
  if (columns || resource === undefined) return columns ?? [];
  const { recordFields } = await import('../record-fields.js');
  return recordFields(resource);
}
