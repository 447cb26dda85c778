/** The records of a resource by what references name, from one fresh and complete list. */

import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { nearestFew } from '../data/nearest.js';
import { type Candidate } from '../data/outcome-errors.js';
import {
  comparesExactly,
  isExact,
  type LookedUpKind,
  type Reference,
  referenceField,
  referenceKindsOf,
} from '../data/references.js';
import { type ResourceName, resourceWords } from '../data/resources.js';
import { foldCase, orList, shellQuote } from '../data/text.js';
import { ApiError } from '../errors.js';
import { readWholeList } from './whole-list.js';

/** The records of one resource, by what references name. */
export interface ReferenceIndex {
  /** True if the list has no record at all. */
  readonly isEmpty: boolean;
  /** True if a record has the field of this kind, empty or not. */
  hasField(kind: LookedUpKind): boolean;
  /** The records that answer to the reference; those in its own spelling if there are any. */
  find(reference: Reference): readonly Candidate[];
  /** The nearest right references, best first, at most three. */
  nearest(reference: Reference): readonly string[];
}

interface Entry {
  readonly value: string;
  readonly candidate: Candidate;
}

/**
 * Reads the list of a resource, fresh and whole, and indexes it by the given kinds of references.
 * `see` receives each record. Throws GuardError (11) if the list may be incomplete, ApiError with the way
 * out if it is forbidden.
 */
export async function readReferences(
  context: Context,
  resource: ResourceName,
  kinds: readonly LookedUpKind[] = referenceKindsOf(resource),
  see: (record: JsonObject) => void = () => {},
): Promise<ReferenceIndex> {
  const { overrides } = context.settings;
  const fields = kinds.map((kind) => ({
    kind,
    field: referenceField(resource, kind, overrides),
    entries: new Map<string, Entry[]>(),
  }));
  const seenKinds = new Set<LookedUpKind>();
  const ids = new Map<string, Candidate>();
  const index = (record: JsonObject) => {
    see(record);
    const candidate = candidateOf(record);
    ids.set(candidate.id, candidate);
    for (const { kind, field, entries } of fields) {
      const values = field.values(record);
      if (values) seenKinds.add(kind);
      for (const value of values ?? []) add(entries, foldCase(value), { value, candidate });
    }
  };
  const doubt = { so: 'so no reference can be trusted', instead: 'Or use the id.' };
  await readWholeList(context, resource, index, doubt).catch((error: unknown) => {
    throw withWayOut(error, resource);
  });
  const entriesOf = (kind: LookedUpKind) =>
    fields.find((each) => each.kind === kind)?.entries ?? new Map<string, Entry[]>();
  return {
    isEmpty: ids.size === 0,
    hasField: (kind) => seenKinds.has(kind),
    find(reference) {
      const { kind, value } = reference;
      if (kind === 'id') return [ids.get(value) ?? []].flat();
      const found = entriesOf(kind).get(foldCase(value)) ?? [];
      const exact = comparesExactly(kind)
        ? found.filter((entry) => isExact(reference, entry.value))
        : found;
      const best = exact.length > 0 ? exact : found;
      return [...new Set(best.map(({ candidate }) => candidate))];
    },
    nearest({ kind, value }) {
      if (kind === 'id') return [];
      const known = entriesOf(kind);
      return nearestFew(foldCase(value), [...known.keys()], nearestShown).map((folded) => {
        const [first] = known.get(folded) ?? [];
        return `${shellQuote(`${kind}:${first?.value}`)} (${first?.candidate.id})`;
      });
    },
  };
}

const nearestShown = 3;

function add(entries: Map<string, Entry[]>, key: string, entry: Entry): void {
  const known = entries.get(key);
  if (known) known.push(entry);
  else entries.set(key, [entry]);
}

/** A list that is forbidden can be done without: the id names a record, too. */
function withWayOut(error: unknown, resource: ResourceName): unknown {
  if (!(error instanceof ApiError) || error.status !== 403) return error;
  if (error.serviceCode === 'featureNotAvailable') return error;
  const hint = `This key may not list ${resourceWords[resource].plural}, which ${orKinds(resource)} needs. Use the id.`;
  return new ApiError(error.status, error.serviceCode, error.call, { ...error.details, hint });
}

function orKinds(resource: ResourceName): string {
  return orList(referenceKindsOf(resource).map((kind) => `${kind}:`));
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

/** Of references that fail, and of the records that one finds, those beyond this number are only counted. */
export const mostListed = 20;

/** Returns a line for each of the records that a reference finds. */
export function describeCandidates(candidates: readonly Candidate[]): readonly string[] {
  const more = candidates.length - mostListed;
  const lines = candidates
    .slice(0, mostListed)
    .map(({ id, name, email, status }) =>
      ['', id, name, email, status].filter((part) => part !== null).join('  '),
    );
  return [...lines, ...(more > 0 ? [`  and ${more} more`] : [])];
}
