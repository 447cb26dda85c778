import { type JsonObject, isObject } from '../data/json.js';

/** The columns of a table, and the fields with something in them that are none. */
export interface Columns {
  readonly shown: readonly string[];
  readonly hidden: readonly string[];
}

/** What a person looks for first; the rest follows by how many records have it, then `lastFields`. */
const firstFields = [
  ['id'],
  ['name', 'title', 'displayName'],
  ['status'],
  ['game'],
  ['role', 'position'],
  ['team', 'teamName', 'teams', 'teamId', 'teamIds'],
  ['submittedAt'],
  ['gamerTags'],
  ['email'],
  ['discordUsername'],
  ['contentType'],
  ['sizeBytes'],
  ['tags'],
].flat();
const lastFields = ['updatedAt', 'createdAt'];

/** References to private files: no links and of no use to read (contract 2.5). */
const fileFields: ReadonlySet<string> = new Set(['fileUrl', 'fileKey', 'fileRef']);

const longText = 200;

/** Columns for a person: what is empty, the same everywhere by nature, or too long is left out. */
export function terminalColumns(records: readonly JsonObject[]): Columns {
  const fields = survey(records);
  const worth = [...fields].filter(([name, field]) => field.filled > 0 && !isNoise(name, field));
  const long = new Set(worth.filter(([, field]) => isLong(field)).map(([name]) => name));
  const ordered = inOrder(
    fields,
    worth.map(([name]) => name),
  );
  return {
    shown: ordered.filter((name) => !long.has(name)),
    hidden: ordered.filter((name) => long.has(name)),
  };
}

/** Columns for a pipe: every field but the file references, in the same order. */
export function machineColumns(records: readonly JsonObject[]): readonly string[] {
  const fields = survey(records);
  return inOrder(
    fields,
    [...fields.keys()].filter((name) => !fileFields.has(name)),
  );
}

interface Field {
  /** Records that have something there. */
  filled: number;
  characters: number;
  /** Objects that no name stands for. */
  blobs: number;
  readonly first: unknown;
  constant: boolean;
}

function survey(records: readonly JsonObject[]): Map<string, Field> {
  const fields = new Map<string, Field>();
  for (const record of records)
    for (const name of Object.keys(record)) {
      const value = record[name];
      let field = fields.get(name);
      if (!field) {
        field = { filled: 0, characters: 0, blobs: 0, first: value, constant: true };
        fields.set(name, field);
      } else if (field.first !== value) field.constant = false;
      count(field, value);
    }
  return fields;
}

function count(field: Field, value: unknown): void {
  if (value === null || value === undefined || value === '') return;
  if (Array.isArray(value) && value.length === 0) return;
  field.filled++;
  if (typeof value === 'string') field.characters += value.length;
  else if (
    isObject(value) &&
    !['name', 'title', 'label', 'id'].some((key) => Object.hasOwn(value, key))
  )
    field.blobs++;
}

function isNoise(name: string, field: Field): boolean {
  return fileFields.has(name) || (name === 'organizationId' && field.constant);
}

function isLong(field: Field): boolean {
  return field.blobs > 0 || field.characters / field.filled > longText;
}

function inOrder(fields: ReadonlyMap<string, Field>, names: readonly string[]): string[] {
  const filled = (name: string) => fields.get(name)?.filled ?? 0;
  return names.toSorted((a, b) => rank(a) - rank(b) || filled(b) - filled(a));
}

function rank(name: string): number {
  const first = firstFields.indexOf(name);
  if (first >= 0) return first;
  const last = lastFields.indexOf(name);
  return last >= 0 ? 10_000 + last : 1_000;
}
