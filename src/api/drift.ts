import * as z from 'zod/mini';
import { printJson, RawNumber } from '../data/json.js';
import { ProtocolError } from '../errors.js';
import type { ApiNotes } from './types.js';

/** The next step after what is an error only with `--strict`. */
export const strictHint = 'To take it with a note, leave out --strict.';

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
        hint: strictHint,
      });
    if (isNew(message)) notes.drift(message);
  };
  return {
    report,
    check(where, schema, value) {
      if (!schema || compileCheck(schema)(value)) return;
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

type Fits = (value: unknown) => boolean;

/**
 * A quick test made from a schema, since most records of a long list are as documented: true only
 * for what the schema accepts; a false one says that the schema has to be asked.
 */
export function compileCheck(schema: z.core.$ZodType): Fits {
  const known = made.get(schema);
  if (known) return known;
  const fits = make(schema as z.core.$ZodTypes);
  made.set(schema, fits);
  return fits;
}

const made = new WeakMap<z.core.$ZodType, Fits>();

const never: Fits = () => false;

function make(schema: z.core.$ZodTypes): Fits {
  const { def } = schema._zod;
  if (def.checks && def.checks.length > 0) return never;
  switch (def.type) {
    case 'string':
      return (value) => typeof value === 'string';
    case 'unknown':
      return () => true;
    case 'enum': {
      const words = new Set<unknown>(Object.values(def.entries));
      return (value) => words.has(value);
    }
    case 'optional': {
      const inner = compileCheck(def.innerType);
      return (value) => value === undefined || inner(value);
    }
    case 'nullable': {
      const inner = compileCheck(def.innerType);
      return (value) => value === null || inner(value);
    }
    case 'array': {
      const element = compileCheck(def.element);
      return (value) => Array.isArray(value) && value.every(element);
    }
    case 'record':
      return recordFits(def);
    case 'object':
      return objectFits(def);
    default:
      return never;
  }
}

function recordFits({ keyType, valueType }: z.core.$ZodRecordDef): Fits {
  const anyKey = (keyType as z.core.$ZodTypes)._zod.def;
  const anyValue = (valueType as z.core.$ZodTypes)._zod.def;
  if (anyKey.type !== 'string' || anyKey.checks?.length || anyValue.type !== 'unknown')
    return never;
  return (value) => isPlain(value) && !Object.hasOwn(value, 'constructor');
}

/** Only objects that keep unknown fields: others would have to be searched for them. */
function objectFits({ shape, catchall }: z.core.$ZodObjectDef): Fits {
  if ((catchall as z.core.$ZodTypes | undefined)?._zod.def.type !== 'unknown') return never;
  const fields = Object.keys(shape).map((name) => ({
    name,
    fits: compileCheck(shape[name] as never),
  }));
  return (value) => {
    if (!isPlain(value)) return false;
    for (const { name, fits } of fields) if (!fits(value[name])) return false;
    return true;
  };
}

function isPlain(value: unknown): value is { readonly [name: string]: unknown } {
  return (
    typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
  );
}
