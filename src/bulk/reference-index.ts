/** The records of a resource by what references name, from one fresh and complete list. */

import { hasId } from '../api/records.js';
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
import { ApiError, GuardError } from '../errors.js';

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
 * Throws GuardError (11) if the list may be incomplete, ApiError with the way out if it is forbidden.
 */
export async function readReferences(
  context: Context,
  resource: ResourceName,
  kinds: readonly LookedUpKind[] = referenceKindsOf(resource),
): Promise<ReferenceIndex> {
  const { overrides } = context.settings;
  const fields = kinds.map((kind) => ({
    kind,
    field: referenceField(resource, kind, overrides),
    entries: new Map<string, Entry[]>(),
  }));
  const seenKinds = new Set<LookedUpKind>();
  const ids = new Map<string, Candidate>();
  await readWholeList(context, resource, (record) => {
    const candidate = candidateOf(record);
    ids.set(candidate.id, candidate);
    for (const { kind, field, entries } of fields) {
      const values = field.values(record);
      if (values) seenKinds.add(kind);
      for (const value of values ?? []) add(entries, foldCase(value), { value, candidate });
    }
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

/** Reads a list in which every record counts. Throws GuardError if some may be missing. */
export async function readWholeList(
  context: Context,
  resource: ResourceName,
  see: (record: JsonObject) => void,
): Promise<void> {
  const { plural: many } = resourceWords[resource];
  const list = context.api.list(resource, undefined, { checksCompleteness: true });
  const refuse = (why: string, fixes: readonly string[] = []) =>
    new GuardError(`The list of ${many} ${why}, so no reference can be trusted.`, {
      code: 'incomplete',
      hint: [...fixes, 'Or use the id.'].join('\n'),
    });
  try {
    for await (const batch of list.batches())
      for (const { value } of batch) {
        if (!hasId(value)) throw refuse('holds a record without an id');
        see(value);
      }
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 403) throw error;
    if (error.serviceCode === 'featureNotAvailable') throw error;
    const hint = `This key may not list ${many}, which ${orKinds(resource)} needs. Use the id.`;
    throw new ApiError(error.status, error.serviceCode, error.call, { ...error.details, hint });
  }
  const completeness = list.completeness();
  if (completeness.state === 'doubtful')
    throw refuse(`may be incomplete (${completeness.reason})`, completeness.fixes);
  if (completeness.state !== 'complete')
    throw refuse(`was not recognized (${completeness.reason})`);
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
