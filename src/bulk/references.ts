/** Resolves references (`email:…`, `name:…`) to records, over one fresh and complete list of a resource. */
import { hasId } from '../api/records.js';
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { nearestFew } from '../data/nearest.js';
import {
  comparesExactly,
  isExact,
  kindWords,
  type LookedUpKind,
  parseReference,
  type Reference,
  referenceField,
  referenceKindsOf,
  referenceProblem,
  referenceSetting,
} from '../data/references.js';
import { type ResourceName, resourceWords } from '../data/resources.js';
import { foldCase, nameFirstFew, orList, plural } from '../data/text.js';
import { ApiError, type Candidate, GuardError, ReferencesError, UsageError } from '../errors.js';
import { mostSevere } from '../exit-codes.js';
import type { SelectedRow } from '../runs/report.js';

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
  for await (const record of wholeList(context, resource)) {
    const candidate = candidateOf(record);
    ids.set(candidate.id, candidate);
    for (const { kind, field, entries } of fields) {
      const values = field.values(record);
      if (values) seenKinds.add(kind);
      for (const value of values ?? []) add(entries, foldCase(value), { value, candidate });
    }
  }
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
        return `${kind}:${first?.value} (${first?.candidate.id})`;
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

/** Yields a list in which every record counts. Throws GuardError if some may be missing. */
async function* wholeList(context: Context, resource: ResourceName): AsyncGenerator<JsonObject> {
  const { plural: many } = resourceWords[resource];
  const list = context.api.list(resource, undefined, { checksCompleteness: true });
  const refuse = (why: string, fixes: readonly string[] = []) =>
    new GuardError(`The list of ${many} ${why}, so no reference can be trusted.`, {
      code: 'incomplete',
      hint: [...fixes, 'Or use the id.'].join('\n'),
    });
  try {
    for await (const record of list) {
      if (!hasId(record)) throw refuse('holds a record without an id');
      yield record;
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

/** What an error and a note say of a record. */
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

/**
 * Resolves references to one record each, in their order; ids are taken as they are. Notes on stderr
 * what was found. Throws one ReferencesError for all references without a single match, and what
 * `readReferences` throws; nothing is read for ids alone.
 */
export async function resolveReferences(
  context: Context,
  resource: ResourceName,
  references: readonly Reference[],
): Promise<readonly Candidate[]> {
  const kinds = new Set(references.flatMap(({ kind }) => (kind === 'id' ? [] : [kind])));
  if (kinds.size === 0) return references.map(({ value }) => bare(value));
  for (const reference of references) checkReference(reference, resource);
  const index = await readReferences(context, resource, [...kinds]);
  const failures = new Failures(resource, index);
  const found = references.map((reference) => {
    if (reference.kind === 'id') return bare(reference.value);
    const matches = index.find(reference);
    const [only] = matches;
    if (only && matches.length === 1) return only;
    failures.add(reference, matches);
    return bare('');
  });
  failures.throwIfAny();
  noteFound(context, resource, references, found);
  return found;
}

function bare(id: string): Candidate {
  return { id, name: null, email: null, status: null };
}

/** Refuses a reference that the resource does not know. Throws UsageError. */
export function checkReference(reference: Reference, resource: ResourceName): void {
  const [problem, ...hint] = referenceProblem(reference, resource)?.split('\n') ?? [];
  if (problem !== undefined) throw new UsageError(problem, { hint: hint[0] });
}

/** Fills in the ids of rows that are named by references. Throws what `resolveReferences` throws. */
export async function resolveRows(
  context: Context,
  resource: ResourceName,
  rows: readonly SelectedRow[],
): Promise<readonly SelectedRow[]> {
  const open = rows.filter(({ ref, id }) => ref !== undefined && id === '');
  if (open.length === 0) return rows;
  const references = open.map(({ ref = '' }) => parseReference(ref));
  const found = await resolveReferences(context, resource, references);
  const idByRow = new Map(open.map(({ row }, index) => [row, found[index]?.id ?? '']));
  const resolved = rows.map((row) => {
    const id = idByRow.get(row.row);
    return id === undefined ? row : { ...row, id };
  });
  checkDistinct(resolved, resource);
  return resolved;
}

/** Two references, or a reference and an id, must not name the same record twice. Throws UsageError. */
function checkDistinct(rows: readonly SelectedRow[], resource: ResourceName): void {
  const first = new Map<string, SelectedRow>();
  for (const row of rows) {
    const other = first.get(row.id);
    if (other)
      throw new UsageError(
        `${other.ref ?? other.id} and ${row.ref ?? row.id} are the same ${resourceWords[resource].noun}: ${row.id}.`,
        { hint: 'Name it once.' },
      );
    first.set(row.id, row);
  }
}

/** Failures beyond this number, and candidates of one, are only counted. */
const mostListed = 20;

/** Collects the references of a command line that do not name exactly one record. */
class Failures {
  private readonly lines: string[] = [];
  private readonly hints = new Set<string>();
  private readonly exits = new Set<ReferencesError['exitName']>();
  private readonly candidates: Candidate[] = [];
  private count = 0;

  constructor(
    private readonly resource: ResourceName,
    private readonly index: ReferenceIndex,
  ) {}

  add(reference: Reference, matches: readonly Candidate[]): void {
    this.count += 1;
    if (matches.length > 0) {
      this.exits.add('guarded');
      this.hints.add('Use the id of the one you mean.');
    }
    const lines = matches.length > 0 ? this.several(reference, matches) : this.none(reference);
    if (this.count <= mostListed) this.lines.push(...lines);
  }

  throwIfAny(): void {
    if (this.count === 0) return;
    const more = this.count - mostListed;
    const { plural: many } = resourceWords[this.resource];
    throw new ReferencesError(
      [
        ...(this.count > 1 ? [`${this.count} references name no single one of the ${many}.`] : []),
        ...this.lines,
        ...(more > 0 ? [`And ${plural(more, 'more reference')}.`] : []),
      ].join('\n'),
      {
        exitName: mostSevere([...this.exits]) as ReferencesError['exitName'],
        candidates: this.candidates,
        hint: this.hints.size > 0 ? [...this.hints].join('\n') : undefined,
      },
    );
  }

  private several({ text }: Reference, matches: readonly Candidate[]): readonly string[] {
    const { plural: many } = resourceWords[this.resource];
    const more = matches.length - mostListed;
    if (this.count <= mostListed) this.candidates.push(...matches.slice(0, mostListed));
    return [
      `${text} is ${matches.length} ${many}:`,
      ...matches.slice(0, mostListed).map((each) => `  ${lineOf(each)}`),
      ...(more > 0 ? [`  and ${more} more`] : []),
    ];
  }

  private none(reference: Reference): readonly string[] {
    const { index, resource, hints } = this;
    const { noun, plural: many } = resourceWords[resource];
    const { kind, text } = reference;
    if (index.isEmpty) {
      this.exits.add('notFound');
      return [`${text} finds nothing: there are no ${many}.`];
    }
    if (kind !== 'id' && !index.hasField(kind)) {
      this.exits.add('usage');
      hints.add(
        `If another field holds it: rosterctl config set ${referenceSetting(resource, kind)} FIELD`,
      );
      return [`${text} finds nothing: no ${noun} has a field for the ${kindWords[kind]}.`];
    }
    this.exits.add('notFound');
    const near = this.count <= nameFirstFew ? index.nearest(reference) : [];
    const meant = near.length > 0 ? ` Did you mean ${near.join(', ')}?` : '';
    hints.add(`See: rosterctl ${resource} list`);
    return [`${text} finds no ${noun}.${meant}`];
  }
}

function lineOf({ id, name, email, status }: Candidate): string {
  return [id, name, email, status].filter((part) => part !== null).join('  ');
}

/** Says what references were found to be: the first few one by one. */
function noteFound(
  context: Context,
  resource: ResourceName,
  references: readonly Reference[],
  found: readonly Candidate[],
): void {
  const named = references.flatMap((reference, index) => {
    const candidate = found[index];
    return reference.kind === 'id' || !candidate ? [] : [{ text: reference.text, candidate }];
  });
  const { plural: many } = resourceWords[resource];
  if (named.length > nameFirstFew) {
    context.note(`Found ${named.length} ${many} by ${kindsIn(references)}.`);
    return;
  }
  for (const { text, candidate } of named) context.note(`${text} is ${describe(candidate)}`);
}

function kindsIn(references: readonly Reference[]): string {
  const kinds = new Set(references.flatMap(({ kind }) => (kind === 'id' ? [] : [kindWords[kind]])));
  return [...kinds].join(' and ');
}

/** `app_0002 (Nilo Tsukiyo, rejected)` */
function describe({ id, name, status }: Candidate): string {
  const about = [name, status].filter((part) => part !== null).join(', ');
  return about === '' ? id : `${id} (${about})`;
}
