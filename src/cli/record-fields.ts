/** The fields of records: which ones the contract documents, and errors for names that do not exist. */
import type * as z from 'zod/mini';
import { resources } from '../api/resources.js';
import { isNumber, isObject, type JsonObject } from '../data/json.js';
import { nearest, nearestFew } from '../data/nearest.js';
import { valuesAt } from '../data/path.js';
import type { ResourceName } from '../data/resources.js';
import { nameFirstFew, quotedIfSpaced } from '../data/text.js';
import { isEmptyValue, type RecordTest, type TestField } from '../data/where.js';
import { UsageError } from '../errors.js';
import { singleLine } from '../terminal/safe-text.js';
import { fieldByLabel } from './lists/labels.js';

/** Returns the fields that the contract documents for a resource's records (2.1, 2.6: for most only the id). */
export function recordFields(resource: ResourceName): readonly string[] {
  return Object.keys(resources[resource].schema.shape);
}

/** Returns true if the contract names a dotted field of a resource: `status`, `gamerTags.game` (2.1, 2.2). */
export function isDocumented(resource: ResourceName, field: string): boolean {
  return definitionAt(resources[resource].schema, field.split('.')) !== undefined;
}

/** Returns the dotted fields that the contract names. */
export function documentedFields(resource: ResourceName): readonly string[] {
  return fieldNames(resources[resource].schema);
}

/** Returns the values that the contract names for a dotted field; undefined if it names none. */
export function documentedChoices(
  resource: ResourceName,
  field: string,
): readonly string[] | undefined {
  const { entries } = definitionAt(resources[resource].schema, field.split('.')) ?? {};
  return entries && Object.values(entries);
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'text',
  enum: 'text',
  array: 'list',
  object: 'object',
  record: 'object',
};

/** Returns the type of a documented field in words: `text`, `time`, `list`, `text or null`. */
export function fieldType(resource: ResourceName, field: string): string {
  const { shape }: SchemaDefinition = resources[resource].schema._zod.def;
  const isNullable = !field.includes('.') && shape?.[field]?._zod.def.type === 'optional';
  const { type = '' } = definitionAt(resources[resource].schema, field.split('.')) ?? {};
  const word = field.endsWith('At') ? 'time' : (typeNames[type] ?? type);
  return isNullable ? `${word} or null` : word;
}

/** Returns the dotted names of a schema's fields, each behind `prefix`; none if it allows any. */
export function fieldNames(schema: z.core.$ZodType, prefix = ''): readonly string[] {
  const { shape, innerType, element }: SchemaDefinition = schema._zod.def;
  const inner = innerType ?? element;
  if (inner) return fieldNames(inner, prefix);
  return Object.entries(shape ?? {}).flatMap(([name, field]) => [
    `${prefix}${name}`,
    ...fieldNames(field, `${prefix}${name}.`),
  ]);
}

/** The definition of a schema, as zod keeps it: its type, and its fields or elements. */
export interface SchemaDefinition {
  readonly type: string;
  readonly shape?: Readonly<Record<string, z.core.$ZodType>>;
  readonly innerType?: z.core.$ZodType;
  readonly element?: z.core.$ZodType;
  /** The schema of a pipe's result. */
  readonly out?: z.core.$ZodType;
  readonly entries?: Readonly<Record<string, string>>;
}

function definitionAt(
  schema: z.core.$ZodType,
  segments: readonly string[],
): SchemaDefinition | undefined {
  const [segment, ...rest] = segments;
  const definition: SchemaDefinition = schema._zod.def;
  const { type, shape, innerType, element } = definition;
  if (innerType) return definitionAt(innerType, segments);
  if (segment === undefined) return definition;
  if (type === 'array' && element)
    return definitionAt(element, /^\d+$/.test(segment) ? rest : segments);
  const inner = shape && Object.hasOwn(shape, segment) ? shape[segment] : undefined;
  return inner && definitionAt(inner, rest);
}

/** Returns the field of a condition that must occur in some record; none if the contract documents it. */
export function fieldOf(name: string, resource: ResourceName): Pick<RecordTest, 'field'> {
  if (isDocumented(resource, name)) return {};
  return { field: { name, on: (record) => valuesAt(record, name) !== undefined } };
}

/** Tracks whether each named field occurs, in a type that its test can read, in some of the observed records. */
export class ObservedFields {
  private unseen: readonly TestField[];
  /** The type of an unseen field's values; null for nothing yet. */
  private readonly unread = new Map<TestField, { key: string; value: unknown } | null>();
  private readonly names: Set<string>;
  private count = 0;

  constructor(tests: readonly Pick<RecordTest, 'field'>[], resource: ResourceName) {
    this.unseen = tests.flatMap(({ field }) => (field ? [field] : []));
    this.names = new Set(this.unseen.length > 0 ? documentedFields(resource) : []);
  }

  get areAllSeen(): boolean {
    return this.unseen.length === 0;
  }

  observe(record: JsonObject): void {
    if (this.areAllSeen) return;
    this.count += 1;
    this.unseen = this.unseen.filter((field) => !field.on(record));
    for (const field of this.unseen) this.observeUnread(field, record);
    addNames(record, this.names);
  }

  /**
   * Throws UsageError for a field that no observed record has and that is none of the `labels`, or
   * that none has in a type that its flag can read; with no records, or only empty values, nothing is
   * known.
   */
  check(labels: ReadonlyMap<string, string>): void {
    for (const field of this.unseen) {
      if (labels.has(field.name)) continue;
      const unread = this.unread.get(field);
      if (unread && field.flag !== undefined)
        throw unreadableField(field.flag, unread.key, unread.value);
      if (unread === undefined && this.count > 0) throw unknownField(field, [...this.names]);
    }
  }

  /** Returns the fields that were named by their label, by the name typed. */
  labels(): ReadonlyMap<string, string> {
    return new Map(
      this.unseen.flatMap(({ name, flag }) => {
        const field = flag === undefined ? fieldByLabel(name, this.names) : undefined;
        return field === undefined ? [] : [[name, field] as const];
      }),
    );
  }

  private observeUnread(field: TestField, record: JsonObject): void {
    if (this.unread.get(field)) return;
    for (const key of field.keysIn?.(record) ?? []) {
      const value = record[key];
      this.unread.set(field, isEmptyValue(value) ? null : { key, value });
      if (!isEmptyValue(value)) return;
    }
  }
}

function unreadableField(flag: string, key: string, value: unknown): UsageError {
  const name = singleLine(key);
  const inner: unknown = Array.isArray(value) ? value[0] : value;
  const [first] = isObject(inner) ? Object.keys(inner) : [];
  const path = first === undefined ? name : `${name}.${singleLine(first)}`;
  const operator = typeof inner === 'string' ? '~' : '=';
  return new UsageError(`${flag} cannot read "${name}": it holds ${describeType(value)}.`, {
    hint: `Filter by what it holds: --where '${path}${operator}VALUE'`,
  });
}

function describeType(value: unknown): string {
  if (Array.isArray(value))
    return value.length === 0 ? 'empty lists' : `lists of ${describeType(value[0])}`;
  if (isObject(value)) {
    const keys = Object.keys(value).slice(0, 6).map(singleLine);
    return keys.length === 0 ? 'empty objects' : `objects with ${keys.join(', ')}`;
  }
  if (isNumber(value)) return 'numbers';
  if (typeof value === 'boolean') return 'true or false';
  return value === null ? 'nothing' : 'text';
}

const maxNames = 500;

function addNames(record: JsonObject, names: Set<string>): void {
  for (const [name, value] of Object.entries(record)) {
    if (names.size >= maxNames) return;
    names.add(name);
    const inner: unknown = Array.isArray(value) ? value[0] : value;
    if (isObject(inner)) for (const key of Object.keys(inner)) names.add(`${name}.${key}`);
  }
}

function unknownField({ name, flag, asking }: TestField, known: readonly string[]): UsageError {
  const near = nearestName(name, known);
  if (asking) {
    const outer = name.slice(0, name.indexOf('.') + 1);
    const questions = known.filter((entry) => entry.startsWith(outer)).map(questionOf);
    const asked = questionOf(name);
    // A word of a question is enough to find it.
    const meant = near === undefined ? nearestFew(asked, questions, 1)[0] : questionOf(near);
    const listed = questions.slice(0, nameFirstFew).map(quoted);
    return new UsageError(`No form has a question "${singleLine(asked)}".`, {
      hint:
        meant === undefined
          ? `Questions here: ${listed.join(', ')}${questions.length > nameFirstFew ? ', …' : ''}`
          : `Did you mean: ${singleLine(asking(meant))}`,
    });
  }
  const instead = flag === undefined ? '' : "\nFilter by one of them: --where 'FIELD=VALUE'";
  const plain = known.filter((entry) => !entry.includes('.'));
  const inner = known.filter((entry) => entry.includes('.'));
  const meant = near === undefined ? nearestFew(name, inner, 2).map(quoted) : [];
  const written = meant.length > 0 ? `Write it as ${meant.join(' or ')}.\n` : '';
  const meantField = near === undefined ? '' : ` Did you mean ${quotedIfSpaced(near)}?`;
  return new UsageError(
    flag === undefined
      ? `No record has a field "${name}".${meantField}`
      : `${flag} needs the field ${name}, but no record has it.`,
    { hint: `${written}Known fields: ${plain.map(singleLine).join(', ')}${instead}` },
  );
}

function quoted(name: string): string {
  return `"${singleLine(name)}"`;
}

/** The question of a path such as `formResponses.Can you travel?`. */
function questionOf(path: string): string {
  return path.slice(path.indexOf('.') + 1);
}

/** The known name that is spelt most like a name. Below an existing field only the rest is compared. */
function nearestName(name: string, known: readonly string[]): string | undefined {
  const whole = known.find((entry) => /^\w+$/.test(name) && entry.endsWith(`.${name}`));
  if (whole !== undefined) return whole;
  const outer = known.find((entry) => name.startsWith(`${entry}.`));
  if (outer === undefined) return nearest(name, known);
  const from = outer.length + 1;
  const inner = known.filter((entry) => entry.startsWith(`${outer}.`));
  const near = nearest(
    name.slice(from),
    inner.map((entry) => entry.slice(from)),
  );
  return near && `${outer}.${near}`;
}
