/** Field flags: `-F`, `-f` and `--input`, which set fields that the contract does not name. */
import * as z from 'zod/mini';
import { serviceFields } from '../api/records.js';
import type { Context } from '../context.js';
import {
  type Field,
  readFieldWord,
  refuseDoubleFields,
  setFields,
  typedValue,
} from '../data/assign.js';
import { type JsonObject, printJson, repeatedKey } from '../data/json.js';
import { plainText } from '../data/path.js';
import { shellQuote } from '../data/text.js';
import { UsageError } from '../errors.js';
import { param, params } from './define.js';
import { type InputWorld, readBody, readInputText } from './input.js';
import { nonEmptyText } from './schemas.js';

/** The flags that set fields. */
export const fieldFlags = {
  set: params(
    z.optional(z.array(z.string())),
    'set a field: true, false, null, numbers and JSON are typed, a.b=1 nests, tags[]=x lists, k=@FILE reads',
    { short: 'F', placeholder: 'k=v', group: 'change', completes: 'field' },
  ),
  setString: params(z.optional(z.array(z.string())), 'set a field, always as text', {
    short: 'f',
    placeholder: 'k=v',
    group: 'change',
    completes: 'field',
  }),
  input: param(z.optional(nonEmptyText), 'a whole record in JSON or YAML; flags override it', {
    placeholder: 'FILE|-',
    group: 'change',
    completes: 'file',
  }),
};

export interface FieldValues {
  /** `--name`, which sets one field. */
  readonly name?: string | undefined;
  readonly set: readonly string[] | undefined;
  readonly setString: readonly string[] | undefined;
  readonly input: string | undefined;
}

/** The parsed field flags of one command line. */
export interface TypedFields {
  /** The body of `--input`. */
  readonly body: JsonObject;
  readonly fields: readonly Field[];
}

/**
 * Reads `--name`, `-F`, `-f` and `--input`, of which the `readOnly` fields are dropped. Throws UsageError
 * for a repeated key or another organization, InputError for unreadable input.
 */
export async function readFields(
  context: Pick<Context, 'streams' | 'signal' | 'note' | 'api'>,
  values: FieldValues,
  readOnly: readonly string[] = [],
): Promise<TypedFields> {
  const { organizationId } = context.api;
  const fields = await readFieldWords(values, context);
  const body = values.input === undefined ? {} : await readBody(values.input, context);
  return {
    body: withoutServiceFields(withoutOrganization(body, organizationId), readOnly, context.note),
    fields: fields.filter((field) => !isSameOrganization(field, organizationId)),
  };
}

/**
 * Returns the touched fields as they are after the change. A nested field or list element keeps its
 * siblings from the record, so that the request means the same to a service that merges deeply and to
 * one that does not. Throws UsageError for an element that the record does not have.
 */
export function touchedFields(typed: TypedFields, record: JsonObject = {}): JsonObject {
  const merged = setFields({ ...record, ...typed.body }, typed.fields);
  const touched = touchedNames(typed);
  return Object.fromEntries(Object.entries(merged).filter(([key]) => touched.has(key)));
}

/** Returns the names of the fields that `touchedFields` returns, whatever the record. */
export function touchedNames({ body, fields }: TypedFields): ReadonlySet<string> {
  return new Set([...Object.keys(body), ...fields.map(({ path }) => path[0] ?? '')]);
}

/** Reads the fields of `--name`, `-F` and `-f`. Throws UsageError for a repeated key. */
export async function readFieldWords(
  { name, set = [], setString = [] }: FieldValues,
  world: InputWorld,
): Promise<readonly Field[]> {
  const words = [...set.map(readFieldWord), ...setString.map(readFieldWord)];
  const fields: Field[] =
    name === undefined ? [] : [{ key: 'name', path: ['name'], list: false, value: name }];
  for (const [index, { key, path, list, text }] of words.entries()) {
    const isTyped = text !== undefined && index < set.length;
    if (isTyped && text === '@')
      throw new UsageError(`-F ${key}=@ names no file.`, {
        hint: `For the text @: -f ${shellQuote(`${key}=@`)}`,
      });
    const value = isTyped ? await typedText(text, world) : text;
    fields.push({ key, path, list, value });
  }
  refuseDoubleFields(fields);
  return fields;
}

async function typedText(text: string, world: InputWorld): Promise<unknown> {
  if (/^@./.test(text)) return readInputText(text.slice(1), world);
  const value = typedValue(text);
  const key = typeof value === 'object' && value !== null ? repeatedKey(text) : undefined;
  if (key === undefined) return value;
  throw new UsageError(`You set the field ${key} twice. Keep one of them.`);
}

/** Drops and notes fields that the service sets itself, which an edited export contains. */
function withoutServiceFields(
  body: JsonObject,
  readOnly: readonly string[],
  note: (message: string) => void,
): JsonObject {
  const names = new Set([...serviceFields, ...readOnly]);
  const own = [...names].filter((key) => Object.hasOwn(body, key));
  if (own.length > 0) note(`Not sent (set by the service): ${own.join(', ')}.`);
  return Object.fromEntries(Object.entries(body).filter(([key]) => !own.includes(key)));
}

/** Drops the organization, which the client puts where the contract requires it (contract 4.6). */
function withoutOrganization(body: JsonObject, own: string): JsonObject {
  if (!Object.hasOwn(body, 'organizationId')) return body;
  refuseOtherOrganization(body['organizationId'], own);
  return Object.fromEntries(Object.entries(body).filter(([key]) => key !== 'organizationId'));
}

function isSameOrganization({ path, value }: Field, own: string): boolean {
  if (path[0] !== 'organizationId') return false;
  refuseOtherOrganization(value, own);
  return true;
}

/** Throws UsageError for another organization than that of the profile. */
export function refuseOtherOrganization(given: unknown, own: string): void {
  if (plainText(given) === own) return;
  throw new UsageError(
    `The organizationId ${printJson(given)} is not the organization of this profile (${own}).`,
    { hint: 'Leave organizationId out, or choose another profile with -p.' },
  );
}
