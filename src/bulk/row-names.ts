/** How the rows of an input are named: valid ids and references, each once. */
import { idProblem } from '../api/schemas.js';
import { unguard } from '../data/csv.js';
import { digestOf } from '../data/digest.js';
import { parseReference, type Reference, referenceProblem } from '../data/references.js';
import type { ResourceName } from '../data/resources.js';
import { foldCase, groupedNumber } from '../data/text.js';
import type { Selection } from '../engine/operation.js';
import { InputError, UsageError } from '../errors.js';
import type { SelectedRow } from '../runs/report.js';

/** Inputs with more rows are refused; they should be split. */
export const mostInputRows = 200_000;

/** The facts that the names of rows are checked against. */
export interface NamingInput {
  /** The file, for messages. */
  readonly name: string;
  readonly resource: ResourceName;
  /** The organization's own id, which is never a record's id. */
  readonly organizationId: string;
}

/** Returns a row whose id is empty, and so unusable, until its reference is resolved. */
export function rowOf({ kind, value, text }: Reference, row: number): SelectedRow {
  return kind === 'id' ? { row, id: value } : { row, id: '', ref: text };
}

/** Returns a text that is equal for references that must name the same record. */
export function identityOf({ kind, value }: Reference): string {
  return kind === 'id' ? `id:${value}` : `${kind}:${foldCase(value)}`;
}

/** Checks that every id and reference is valid and occurs once. */
export class RowNames {
  private readonly lines = new Map<string, number>();

  constructor(private readonly input: NamingInput) {}

  /** `place`: where the name stands, as messages say it. */
  add(reference: Reference, line: number, place = `Line ${line}`): void {
    const { kind, value, text } = reference;
    if (kind === 'id') this.checkId(value, place);
    const [problem, hint] = referenceProblem(reference, this.input.resource)?.split('\n') ?? [];
    if (problem !== undefined) throw new InputError(`${place}: ${problem}`, { hint });
    const identity = identityOf(reference);
    const before = this.lines.get(identity);
    if (before !== undefined) {
      const what = kind === 'id' ? `The id ${value}` : text;
      const where = place.startsWith('Line') ? 'on lines' : 'in rows';
      throw new InputError(`${what} is given twice, ${where} ${before} and ${line}.`);
    }
    this.lines.set(identity, line);
  }

  private checkId(id: string, place: string): void {
    const problem = idProblem(id);
    if (problem) throw new InputError(`${place}: ${problem}.`);
    if (id === this.input.organizationId)
      throw new InputError(`${place}: ${id} is the organization's id, not a record's.`);
  }

  /** Throws InputError if no more rows are allowed. */
  checkRoom(): void {
    if (this.lines.size < mostInputRows) return;
    throw new InputError(`${this.input.name} has more than ${groupedNumber(mostInputRows)} rows.`, {
      hint: 'Split it into several files.',
    });
  }
}

/**
 * Throws InputError for a row of another organization, whose file was made with another profile; `raw`: its
 * cells have no guards against formulas.
 */
export function requireOwnRow(
  cell: string,
  place: string,
  { organizationId, raw }: Pick<NamingInput, 'organizationId'> & { readonly raw: boolean },
): void {
  const own = (raw ? cell : unguard(cell)).trim();
  if (own === '' || own === organizationId) return;
  throw new InputError(`${place} holds "${own}", and this profile is of ${organizationId}.`, {
    hint: 'Choose the profile of that organization with -p, or remove the column.',
  });
}

/** Rows for ids and references typed on the command line. Throws UsageError for a duplicate. */
export function selectIds(words: readonly string[]): Selection {
  const known = new Set<string>();
  const rows = words.map((word, index) => {
    const reference = parseReference(word);
    if (known.size === known.add(identityOf(reference)).size)
      throw new UsageError(
        reference.kind === 'id'
          ? `The id ${reference.value} is given twice.`
          : `${reference.text} is given twice.`,
      );
    return rowOf(reference, index + 1);
  });
  return { rows, header: ['id'], digest: digestOf(words) };
}
