import * as z from 'zod/mini';
import { printJson, RawNumber } from '../data/json.js';
import { ProtocolError } from '../errors.js';
import { fitsOf } from './shape-test.js';
import type { ApiNotes } from './types.js';

/** The next step after what is an error only with `--strict`. */
export const notStrict = 'To take it with a note, leave out --strict.';

/** Tells where answers deviate from the contract: once per run and place, an error when strict. */
export interface Drift {
  /** Checks a value against the documented shape; the value itself stays as it came. */
  check(where: string, schema: z.core.$ZodType | undefined, value: unknown): void;
  /** One deviation in words. */
  report(where: string, what: string): void;
}

export function createDrift(notes: ApiNotes, strict: boolean): Drift {
  const told = new Set<string>();
  const isNew = (text: string) => !told.has(text) && told.add(text);
  const report = (where: string, what: string) => {
    const message = `${where}: ${what}`;
    if (strict)
      throw new ProtocolError(`The answer is not as the contract says. ${message}`, {
        code: 'drift',
        hint: notStrict,
      });
    if (isNew(message)) notes.drift(message);
  };
  return {
    report,
    check(where, schema, value) {
      if (!schema || fitsOf(schema)(value)) return;
      const result = z.safeParse(schema, value, { reportInput: true });
      if (result.success) return;
      // A place is told once, whatever stands there in thousands of rows.
      const issues = result.error.issues.filter((issue) => isNew(`${where} ${kindOf(issue)}`));
      // In one line: an answer of another shape would fill the screen.
      const missing = issues.filter(isMissing).map(({ path }) => placeOf(path));
      if (missing.length > 0) report(where, `${missing.join(', ')}: missing`);
      for (const issue of issues)
        if (!isMissing(issue)) report(where, `${placeOf(issue.path)}: ${wordsOf(issue)}`);
    },
  };
}

type Issue = z.core.$ZodIssue;

function isMissing({ code, input }: Issue): boolean {
  return code === 'invalid_type' && input === undefined;
}

function kindOf(issue: Issue): string {
  return `${placeOf(issue.path)} ${isMissing(issue) ? 'missing' : issue.code}`;
}

/** What the contract calls the types that its schemas have. */
const typeWords: { readonly [type: string]: string } = {
  string: 'text',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  record: 'an object',
  object: 'an object',
  null: 'null',
};

function wordsOf(issue: Issue): string {
  const { input } = issue;
  if (issue.code === 'invalid_type')
    return `${typeOf(input)} where the contract has ${typeWords[issue.expected] ?? issue.expected}`;
  if (issue.code === 'invalid_value') return `${shown(input)} is not among the contract's values`;
  return issue.message;
}

function typeOf(value: unknown): string {
  if (value instanceof RawNumber) return 'a number';
  const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  return typeWords[type] ?? type;
}

const mostShown = 60;

function shown(value: unknown): string {
  const text = printJson(value);
  return text.length > mostShown ? `${text.slice(0, mostShown)}…` : text;
}

/** `gamerTags[].game`: the place without the row, so that a hundred rows are told once. */
function placeOf(path: readonly PropertyKey[]): string {
  const place = path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[]` : `${text}.${String(part)}`),
    '',
  );
  return place.replace(/^\./, '') || 'the whole';
}
