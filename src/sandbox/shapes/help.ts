/** The part of docs/sandbox.md that names the shapes. */
import { type ShapeKey, shapeKeys } from './table.js';

/** Rows of keys and what their values may be; keys with the same values share a row. */
export function shapeRows(): readonly (readonly [keys: string, values: string])[] {
  const byValues = new Map<string, string[]>();
  for (const [key, row] of Object.entries(shapeKeys)) {
    const values = valuesOf(row);
    byValues.set(values, [...(byValues.get(values) ?? []), key]);
  }
  return [...byValues].map(([values, keys]) => [joined(keys), values]);
}

/** The placeholders of each kind of template. */
export function placeholderRows(): readonly (readonly [kind: string, names: string])[] {
  const everywhere = placeholdersOf('list').filter((name) =>
    placeholdersOf('create').includes(name),
  );
  const own = (kind: string, key = kind) =>
    row(
      kind,
      placeholdersOf(key).filter((name) => !everywhere.includes(name)),
    );
  return [
    own('list'),
    own('get, create …', 'create'),
    own('download'),
    own('error'),
    own('record'),
    row('all but error', everywhere),
  ];
}

const placeholdersOf = (key: string) => shapeKeys[key]?.placeholders ?? [];
const row = (kind: string, names: readonly string[]) =>
  [kind, names.map((name) => `$${name}`).join(' ')] as const;

function valuesOf({ names, value, about }: ShapeKey): string {
  const known = Object.keys(names ?? {}).join(', ');
  if (known === '' || about === undefined) return about ?? known;
  return value === 'ids' ? `${known}, ${about}` : `${known}: ${about}`;
}

/** `a, b`; of many with the same ending `*.ending`. */
function joined(keys: readonly string[]): string {
  const endings = new Set(keys.map((key) => key.replace(/^[^.]*/, '*')));
  return keys.length > 2 && endings.size === 1 ? [...endings].join() : keys.join(', ');
}
