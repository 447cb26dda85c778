/** The records of a resource by what references name, from one fresh and complete list. */

import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { nearestFew } from '../data/nearest.js';
import { type Candidate, isForbidden } from '../data/outcome-errors.js';
import { comparesExactly, type Reference, referenceValues } from '../data/references.js';
import {
  type LookedUpKind,
  type Overrides,
  type ResourceName,
  referenceKindsOf,
  resourceWords,
} from '../data/resources.js';
import { addTo } from '../data/sorting.js';
import { foldCase, groupedNumber, isSameText, orList, shellQuote, upTo } from '../data/text.js';
import { readWholeList } from './whole-list.js';

interface IndexedValue {
  readonly value: string;
  readonly candidate: Candidate;
}

/**
 * Reads the list of a resource, fresh and whole, and indexes it by the given kinds of references.
 * `see` receives each record. Throws GuardError (11) if the list may be incomplete, ApiError with the way
 * out if it is forbidden.
 */
export async function readReferences(
  context: Pick<Context, 'api' | 'settings'>,
  resource: ResourceName,
  kinds: readonly LookedUpKind[],
  see: (record: JsonObject) => void = () => {},
): Promise<ReferenceIndex> {
  const index = new ReferenceIndex();
  const { overrides } = context.settings;
  const readers = kinds.map((kind) => referenceValues(resource, kind, overrides));
  const add = (record: JsonObject) => {
    see(record);
    const candidate = candidateOf(record);
    index.ids.set(candidate.id, candidate);
    for (const [at, kind] of kinds.entries()) index.add(kind, readers[at]?.(record), candidate);
  };
  const doubt = {
    so: 'so rosterctl cannot be sure that a reference names only one record',
    instead: 'Or use the id.',
  };
  try {
    await readWholeList(context, resource, add, doubt);
  } catch (error) {
    if (!isForbidden(error)) throw error;
    const needing = orList(referenceKindsOf(resource).map((kind) => `${kind}:`));
    const hint = `This key cannot list ${resourceWords[resource].plural}, which ${needing} needs. Use the id.`;
    throw error.with({ hint });
  }
  return index;
}

/** The records of one resource, by what references name. */
export class ReferenceIndex {
  readonly ids = new Map<string, Candidate>();
  /** By the folded values of each kind. */
  private readonly entries = new Map<LookedUpKind, Map<string, IndexedValue[]>>();

  /** True if the list has no record at all. */
  get isEmpty(): boolean {
    return this.ids.size === 0;
  }

  /** True if a record has the field of this kind, empty or not. */
  hasField(kind: LookedUpKind): boolean {
    return this.entries.has(kind);
  }

  /** The records that answer to the reference; those in its own spelling if there are any. */
  find(reference: Reference): readonly Candidate[] {
    const { kind, value } = reference;
    if (kind === 'id') return [this.ids.get(value) ?? []].flat();
    const found = this.entries.get(kind)?.get(foldCase(value)) ?? [];
    const exact = comparesExactly(kind)
      ? found.filter((entry) => isSameText(entry.value, value))
      : found;
    const best = exact.length > 0 ? exact : found;
    return [...new Set(best.map(({ candidate }) => candidate))];
  }

  /** The nearest references that exist, best first, at most three; `isPlain`: their values alone. */
  nearest({
    kind,
    value,
    isPlain,
  }: Reference & { readonly isPlain?: boolean | undefined }): readonly string[] {
    const known = kind === 'id' ? undefined : this.entries.get(kind);
    if (!known) return [];
    return nearestFew(foldCase(value), [...known.keys()], nearestShown).map((folded) => {
      const [first] = known.get(folded) ?? [];
      const name = isPlain ? first?.value : shellQuote(`${kind}:${first?.value}`);
      return `${name} (${first?.candidate.id})`;
    });
  }

  /** Adds a record by its values of one kind; undefined if it lacks the field. */
  add(kind: LookedUpKind, values: readonly string[] | undefined, candidate: Candidate): void {
    if (!values) return;
    const known = this.entries.get(kind) ?? new Map<string, IndexedValue[]>();
    this.entries.set(kind, known);
    for (const value of values) addTo(known, foldCase(value), { value, candidate });
  }
}

const nearestShown = 3;

/** Collects records of any resource, to suggest those that a reference without a match may mean. */
export class NearReferences {
  private readonly index = new ReferenceIndex();

  constructor(
    private readonly reference: Reference,
    private readonly overrides: Overrides,
  ) {}

  see(resource: ResourceName, record: JsonObject): void {
    const { kind } = this.reference;
    if (kind === 'id' || !referenceKindsOf(resource).includes(kind)) return;
    const values = referenceValues(resource, kind, this.overrides)(record);
    this.index.add(kind, values, candidateOf(record));
  }

  /** `Did you mean 'name:Ann Example' (app_0001)?`; undefined if none is near. */
  get meant(): string | undefined {
    const near = this.index.nearest(this.reference);
    return near.length > 0 ? `Did you mean ${near.join(', ')}?` : undefined;
  }
}

/** Returns the parts of a record that errors and notes show. */
export function candidateOf(record: JsonObject): Candidate {
  const textAt = (field: string) => {
    const value = record[field];
    return typeof value === 'string' && value !== '' ? value : null;
  };
  return {
    id: String(record['id']),
    name: textAt('name'),
    email: textAt('email'),
    status: textAt('status'),
  };
}

/** How many failing references, or records that one reference finds, are listed; the rest are counted. */
export const mostListed = 20;

/** Returns a line for each of the records that a reference finds. */
export function describeCandidates(candidates: readonly Candidate[]): readonly string[] {
  const lines = candidates.map(({ id, name, email, status }) =>
    ['', id, name, email, status].filter((part) => part !== null).join('  '),
  );
  return upTo(mostListed, lines, (more) => `  and ${groupedNumber(more)} more`);
}
