/** Checks of a success answer: it is the record that was asked for, and where it differs from the contract (drift). */
import * as z from 'zod/mini';
import { isObject, type JsonObject, printJson, RawNumber } from '../data/json.js';
import { plainText } from '../data/path.js';
import { type CallSite, otherRecord, ProtocolError, UnknownOutcomeError } from '../errors.js';
import type { Endpoint } from './contract.js';
import { readFirst } from './response.js';
import { idParameter } from './routes.js';
import type { ApiNotes, Call } from './types.js';

/** The hint of an error that is only a note without `--strict`. */
export const strictHint = 'To accept it with a note, leave out --strict.';

/**
 * Reports where responses differ from the contract: once per run and field, as an error if strict.
 */
export interface Drift {
  /** The first mismatch in the answer to a change, if strict. The change was made, so it is reported afterwards instead of thrown. */
  readonly ofChange: ProtocolError | undefined;
  /** Checks a value against its documented schema. Does not change the value. */
  check(where: string, schema: z.core.$ZodType | undefined, value: unknown): void;
  report(where: string, what: string): void;
}

export function createDrift(notes: ApiNotes, strict: boolean): Drift {
  const reported = new Set<string>();
  let ofChange: ProtocolError | undefined;
  const checks = new Map<z.core.$ZodType, ValueCheck>();
  const isDocumented = (schema: z.core.$ZodType, value: unknown) => {
    let check = checks.get(schema);
    if (!check) checks.set(schema, (check = compileCheck(schema)));
    return check(value);
  };
  const isFirst = (text: string) => !reported.has(text) && reported.add(text);
  const report = (where: string, what: string) => {
    const message = `${where}: ${what}`;
    if (!strict) {
      if (isFirst(message)) notes.note(message);
      return;
    }
    const error = new ProtocolError(`The answer does not match the contract. ${message}`, {
      code: 'drift',
      hint: strictHint,
    });
    if (where.startsWith('GET ')) throw error;
    ofChange ??= error;
  };
  return {
    get ofChange() {
      return ofChange;
    },
    report,
    check(where, schema, value) {
      if (!schema || isDocumented(schema, value)) return;
      const result = z.safeParse(schema, value, { reportInput: true });
      if (result.success) return;
      // Report each field once, however many rows differ in it; an error is one each time.
      const issues = result.error.issues.filter(
        (issue) => strict || isFirst(`${where} ${issueKey(issue)}`),
      );
      // On one line, because a response of a different shape would otherwise fill the screen.
      const missing = issues.filter(isMissing).map(({ path }) => fieldPath(path));
      if (missing.length > 0) report(where, `${missing.join(', ')}: missing`);
      for (const issue of issues)
        if (!isMissing(issue)) report(where, `${fieldPath(issue.path)}: ${describeIssue(issue)}`);
    },
  };
}

type Issue = z.core.$ZodIssue;

function isMissing({ input }: Issue): boolean {
  return input === undefined;
}

function issueKey(issue: Issue): string {
  return `${fieldPath(issue.path)} ${isMissing(issue) ? 'missing' : issue.code}`;
}

/** The contract's words for the types of its schemas. */
const typeWords: { readonly [type: string]: string } = {
  string: 'text',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  record: 'an object',
  object: 'an object',
  null: 'null',
};

function describeIssue(issue: Issue): string {
  const { input } = issue;
  if (issue.code === 'invalid_type')
    return `${typeName(input)} where the contract has ${typeWords[issue.expected] ?? issue.expected}`;
  if (issue.code === 'invalid_value') return `${preview(input)} is not among the contract's values`;
  return issue.message;
}

function typeName(value: unknown): string {
  if (value instanceof RawNumber) return 'a number';
  const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  return typeWords[type] ?? type;
}

const maxPreviewLength = 60;

function preview(value: unknown): string {
  const text = printJson(value);
  return text.length > maxPreviewLength ? `${text.slice(0, maxPreviewLength)}…` : text;
}

/** `gamerTags[].game`: the path without indexes, so that a hundred rows are reported once. */
function fieldPath(path: readonly PropertyKey[]): string {
  const dotted = path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[]` : `${text}.${String(part)}`),
    '',
  );
  return dotted.replace(/^\./, '') || 'the whole';
}

type ValueCheck = (value: unknown) => boolean;

/**
 * Compiles a schema to a fast predicate, because most records of a long list are as documented.
 * True means that the schema accepts the value; false means that only the schema can tell.
 */
export function compileCheck(schema: z.core.$ZodType): ValueCheck {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.checks && def.checks.length > 0) return neverDecides;
  switch (def.type) {
    case 'string':
      return (value) => typeof value === 'string';
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
      return recordCheck(def);
    case 'object':
      return objectCheck(def);
    default:
      return neverDecides;
  }
}

const neverDecides: ValueCheck = () => false;

function recordCheck({ keyType, valueType }: z.core.$ZodRecordDef): ValueCheck {
  const anyKey = (keyType as z.core.$ZodTypes)._zod.def;
  const anyValue = (valueType as z.core.$ZodTypes)._zod.def;
  if (anyKey.type !== 'string' || anyKey.checks?.length || anyValue.type !== 'unknown')
    return neverDecides;
  return (value) => isPlain(value) && !Object.hasOwn(value, 'constructor');
}

/** Handles only objects that keep unknown fields; others would have to be searched for them. */
function objectCheck({ shape, catchall }: z.core.$ZodObjectDef): ValueCheck {
  if ((catchall as z.core.$ZodTypes | undefined)?._zod.def.type !== 'unknown') return neverDecides;
  const fields = Object.keys(shape).map((name) => ({
    name,
    check: compileCheck(shape[name] as never),
  }));
  return (value) => {
    if (!isPlain(value)) return false;
    for (const { name, check } of fields) if (!check(value[name])) return false;
    return true;
  };
}

function isPlain(value: unknown): value is { readonly [name: string]: unknown } {
  return (
    typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
  );
}

/** True for a record of another organization; null and an object without an id do not say which it is. */
export function isOfOtherOrganization({ organizationId }: JsonObject, own: string): boolean {
  const named = isObject(organizationId)
    ? (organizationId['id'] ?? organizationId['_id'])
    : organizationId;
  return (named ?? '') !== '' && plainText(named) !== own;
}

interface CheckedCall {
  readonly call: Call;
  readonly row: Endpoint;
  readonly site: CallSite;
  readonly organizationId: string;
}

/**
 * Checks that an answer is the requested record, and reports where it differs from its documented
 * schema. Throws ProtocolError, or UnknownOutcomeError after a write.
 */
export function checkAnswer(
  drift: Drift,
  { call, row, site, organizationId: own }: CheckedCall,
  body: unknown,
  record: JsonObject | undefined,
): void {
  const { route, verb, result } = row;
  if (row.answers === 'grant') {
    if (result && z.safeParse(result, body).success) return;
    throw new ProtocolError(`The answer to ${route} lacks key, fileRef or uploadUrl.`, {
      hint: 'Nothing was uploaded.',
    });
  }
  if (!record) return;
  if (row.answers === 'record') drift.check(route, result, record);
  if (verb !== 'get' && verb !== 'update' && verb !== 'create') return;
  const wrongId = verb !== 'create' && idParameter(call.params) !== record['id'];
  const wrongOrg = isOfOtherOrganization(record, own);
  if (!wrongId && !wrongOrg) return;
  const message = `The service answered ${route} with another record${wrongId ? '' : ', one of another organization'}.`;
  // Something was written, but it is impossible to tell what.
  if (verb !== 'get')
    throw new UnknownOutcomeError(message, site, { hint: readFirst, delivery: 'applied' });
  throw new ProtocolError(message, {
    call: site,
    code: otherRecord,
    hint: 'Run the same command again. If it happens again, ask the operator of the service.',
  });
}
