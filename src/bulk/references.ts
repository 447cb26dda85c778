/** Resolves references (`email:…`, `name:…`) to records, and checks before a write that they still answer to them. */
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { type Candidate, ReferencesError } from '../data/outcome-errors.js';
import { kindWords, parseReference, type Reference, referenceSetting } from '../data/references.js';
import { type LookedUpKind, type ResourceName, resourceWords } from '../data/resources.js';
import { groupedNumber, nameFirstFew, plural, quotedIfSpaced } from '../data/text.js';
import type { Selection } from '../engine/operation.js';
import { UsageError } from '../errors.js';
import { mostSevere } from '../exit-codes.js';
import type { SelectedRow } from '../runs/report.js';
import {
  describeCandidates,
  mostListed,
  type ReferenceIndex,
  readReferences,
} from './reference-index.js';

/** A reference, and where a file has it, as messages say it: `Line 4`. */
interface PlacedReference extends Reference {
  readonly place?: string | undefined;
  /** True if its kind is that of a column, and the cell holds the value alone. */
  readonly isPlain?: boolean | undefined;
}

/**
 * Resolves references to one record each, in their order; ids are taken as they are. Notes on stderr
 * what was found; `see` receives each record of the list. Throws one ReferencesError for all references
 * without a single match, and what `readReferences` throws.
 */
export async function resolveReferences(
  context: Context,
  resource: ResourceName,
  references: readonly PlacedReference[],
  see?: (record: JsonObject) => void,
): Promise<readonly Candidate[]> {
  const kinds = new Set(references.flatMap(({ kind }) => (kind === 'id' ? [] : [kind])));
  const index = await readReferences(context, resource, [...kinds], see);
  const misses: Miss[] = [];
  const found = references.map((reference) => {
    const { kind } = reference;
    if (kind === 'id') return bare(reference.value);
    const matches = index.find(reference);
    const [only] = matches;
    if (only && matches.length === 1) return only;
    misses.push({ reference: { ...reference, kind }, matches });
    return bare('');
  });
  if (misses.length > 0) throw referencesError(resource, index, misses);
  noteFound(context, resource, references, found);
  return found;
}

function bare(id: string): Candidate {
  return { id, name: null, email: null, status: null };
}

interface RowSource extends Partial<Pick<Selection, 'rowWord' | 'isPlainKey'>> {
  readonly see?: (record: JsonObject) => void;
}

/**
 * Fills in the ids of rows that are named by references; `see` receives each record that is read;
 * `rowWord` and `isPlainKey` as in `Selection`. Throws what `resolveReferences` throws.
 */
export async function resolveRows(
  context: Context,
  resource: ResourceName,
  rows: readonly SelectedRow[],
  { see, rowWord: word, isPlainKey: isPlain }: RowSource,
): Promise<readonly SelectedRow[]> {
  const open = rows.filter(({ ref, id }) => ref !== undefined && id === '');
  if (open.length === 0) return rows;
  const references = open.map(({ ref = '', row }) => ({
    ...parseReference(ref),
    place: word && `${word} ${row}`,
    isPlain,
  }));
  const found = await resolveReferences(context, resource, references, see);
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

interface LookedUp extends Reference {
  readonly kind: LookedUpKind;
}

/** A reference that does not name exactly one record. */
interface Miss {
  readonly reference: PlacedReference & LookedUp;
  readonly matches: readonly Candidate[];
}

function referencesError(resource: ResourceName, index: ReferenceIndex, misses: readonly Miss[]) {
  const problems = misses.map((miss, at) =>
    atPlace(miss.reference, problemOf(resource, index, miss, at < nameFirstFew)),
  );
  const more = problems.length - mostListed;
  const hints = new Set(problems.flatMap(({ hint }) => hint ?? []));
  const { noun } = resourceWords[resource];
  return new ReferencesError(
    [
      ...(misses.length > 1
        ? [`${groupedNumber(misses.length)} references do not match exactly one ${noun} each.`]
        : []),
      ...problems.slice(0, mostListed).flatMap(({ lines }) => lines),
      ...(more > 0 ? [`And ${plural(more, 'more reference')}.`] : []),
    ].join('\n'),
    {
      exitName: mostSevere(problems.map(({ exitName }) => exitName)) as Problem['exitName'],
      candidates: misses.slice(0, mostListed).flatMap(({ matches }) => matches),
      hint: hints.size > 0 ? [...hints].join('\n') : undefined,
    },
  );
}

interface Problem {
  readonly exitName: ReferencesError['exitName'];
  readonly lines: readonly string[];
  readonly hint?: string;
}

function atPlace({ place }: PlacedReference, problem: Problem): Problem {
  const [first = '', ...more] = problem.lines;
  return place === undefined ? problem : { ...problem, lines: [`${place}: ${first}`, ...more] };
}

function problemOf(
  resource: ResourceName,
  index: ReferenceIndex,
  { reference, matches }: Miss,
  suggests: boolean,
): Problem {
  const { noun, plural: many } = resourceWords[resource];
  const { kind, text } = reference;
  if (matches.length > 0)
    return {
      exitName: 'guarded',
      lines: [`${text} matches ${matches.length} ${many}:`, ...describeCandidates(matches)],
      hint: 'Use the id of the one you mean.',
    };
  if (index.isEmpty)
    return { exitName: 'notFound', lines: [`${noMatch(reference, noun)}. There are no ${many}.`] };
  if (!index.hasField(kind))
    return {
      exitName: 'usage',
      lines: [`${text} cannot be looked up: no ${noun} has a field for the ${kindWords[kind]}.`],
      hint: `If another field holds it: rosterctl config set ${referenceSetting(resource, kind)} FIELD`,
    };
  const near = suggests ? index.nearest(reference) : [];
  const meant = near.length > 0 ? ` Did you mean ${near.join(', ')}?` : '';
  return {
    exitName: 'notFound',
    lines: [`${noMatch(reference, noun)}.${meant}`],
    hint: `See: rosterctl ${resource} list`,
  };
}

/** `No team is named Foxes`, or `No application has the e-mail ann@example.org`. */
function noMatch({ kind, value }: LookedUp, noun: string): string {
  const quoted = quotedIfSpaced(value);
  return kind === 'name'
    ? `No ${noun} is named ${quoted}`
    : `No ${noun} has the ${kindWords[kind]} ${quoted}`;
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
  if (named.length > nameFirstFew) {
    const kinds = references.flatMap(({ kind }) => (kind === 'id' ? [] : [kindWords[kind]]));
    const words = [...new Set(kinds)].join(' and ');
    context.note(
      `Found ${groupedNumber(named.length)} ${resourceWords[resource].plural} by ${words}.`,
    );
    return;
  }
  for (const { text, candidate } of named)
    context.note(`${text} is ${describeFound(candidate, text)}`);
}

/** `app_0002 (Nilo Tsukiyo, rejected)`; the name only if the reference does not say it. */
function describeFound({ id, name, status }: Candidate, text: string): string {
  const isSaid = text === `name:${name}`;
  const about = [isSaid ? null : name, status].filter((part) => part !== null).join(', ');
  return about === '' ? id : `${id} (${about})`;
}
