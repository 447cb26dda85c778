/** How the rows of an input are named: valid ids and references, each once; and lists of ids alone. */

import { idProblem } from '../api/schemas.js';
import { unguard } from '../data/csv.js';
import { rowWord } from '../data/csv-reader.js';
import { InputErrors } from '../data/input-errors.js';
import { isObject, isTextOrNumber, parseJson } from '../data/json.js';
import {
  identityOf,
  parseReference,
  type Reference,
  referenceProblem,
  rowOf,
} from '../data/references.js';
import type { ResourceName } from '../data/resources.js';
import { groupedNumber } from '../data/text.js';
import { eventLoopTurns } from '../data/workload.js';
import { InputError, stoppedReading } from '../errors.js';
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
  /** Aborts the reading, even of an input that has already arrived. */
  readonly signal: AbortSignal;
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
    if (this.lines.size >= mostInputRows) throw tooManyRows(this.input.name);
  }
}

/** The error for an input of more than `mostInputRows`. */
export function tooManyRows(name: string): InputError {
  return new InputError(`${name} has more than ${groupedNumber(mostInputRows)} rows.`, {
    hint: 'Split it into several files.',
  });
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
  throw new InputError(`${place} holds "${own}", but this profile is for ${organizationId}.`, {
    hint: 'Choose the profile of that organization with -p, or remove the column.',
  });
}

/**
 * Returns a row for each id of a text: lines, which may be references, NDJSON or a JSON array. Throws one
 * InputError for all that are invalid, CancelledError after a signal.
 */
export function rowsOfIds(text: string, input: NamingInput) {
  const start = text.trimStart();
  if (start.startsWith('[')) return rowsFromIds(elementsOf(text, input), input);
  if (start.startsWith('{') || jsonText.test(start))
    return rowsFromIds(recordsOf(text, input), input);
  return rowsFromIds(linesOf(text, /\r?\n|\r/g), input, parseReference);
}

/** A first line that is a text in JSON, as jq writes an id without -r. */
const jsonText = /^"(?:[^"\\\r\n]|\\.)*"[ \t]*(?:[\r\n]|$)/;

interface NamedId {
  readonly id: string;
  readonly line: number;
}

/** Yields the lines that are not blank, one at a time because there may be 200,000. */
function* linesOf(text: string, end: RegExp): Generator<NamedId> {
  let from = 0;
  for (let line = 1; from <= text.length; line += 1) {
    end.lastIndex = from;
    const found = end.exec(text);
    const id = text.slice(from, found?.index);
    if (id.trim() !== '') yield { id, line };
    from = found ? end.lastIndex : text.length + 1;
  }
}

function* elementsOf(text: string, input: NamingInput): Generator<NamedId> {
  const value = jsonIn(text, (why) => `${input.name} is not valid JSON: ${why}.`);
  const items = Array.isArray(value) ? (value as unknown[]) : [];
  for (const [index, item] of items.entries())
    yield { id: idIn(item, `Element ${index + 1}`, input), line: index + 1 };
}

function* recordsOf(text: string, input: NamingInput): Generator<NamedId> {
  for (const { id: json, line } of linesOf(text, /\n/g)) {
    const value = jsonIn(
      json,
      () => `Line ${line} is not valid JSON.`,
      'Each line holds one record, as list -o ndjson and jq -c write it.',
    );
    if (isObject(value) && value['type'] === 'summary') continue;
    yield { id: idIn(value, `Line ${line}`, input), line };
  }
}

function jsonIn(text: string, problem: (why: string) => string, hint?: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw new InputError(problem((error as Error).message), { hint, cause: error });
  }
}

/** The id that an element names: itself, or that of a record of this organization. Throws InputError. */
function idIn(value: unknown, place: string, { organizationId }: NamingInput): string {
  const { id, organizationId: own } = isObject(value) ? value : { id: value };
  if (typeof own === 'string')
    requireOwnRow(own, `${place}: ${organizationColumn}`, { organizationId, raw: true });
  // A service may send numbers; our own output has text.
  if (isTextOrNumber(id)) return String(id);
  throw new InputError(`${place} holds no id.`);
}

export const asId = (id: string): Reference => ({ kind: 'id', value: id, text: id });

async function rowsFromIds(
  found: Iterable<NamedId>,
  input: NamingInput,
  read: (text: string) => Reference = asId,
) {
  const ids = new RowNames(input);
  const errors = new InputErrors();
  const rows: SelectedRow[] = [];
  const turn = eventLoopTurns(input.signal, () => stoppedReading(input.name));
  for (const { id, line } of found) {
    ids.checkRoom();
    errors.collect(() => {
      const reference = read(ownText(id));
      ids.add(reference, line);
      rows.push(rowOf(reference, line));
    });
    const waiting = turn(1);
    if (waiting) await waiting;
  }
  errors.throwIfAny();
  return { rows, rowWord: rowWord({}) };
}

/** Copies a text, because a slice would keep the entire input in memory; a lone surrogate stays as it is. */
export function ownText(slice: string): string {
  return slice.isWellFormed() ? Buffer.from(slice).toString() : slice;
}

export const organizationColumn = 'organizationId';
