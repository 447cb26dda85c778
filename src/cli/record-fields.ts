/** The fields of records: which ones the contract documents, and errors for names that do not exist. */
import type * as z from 'zod/mini';
import { resources } from '../api/resources.js';
import type { RecordTest } from '../data/dates.js';
import { isObject, type JsonObject } from '../data/json.js';
import { didYouMean, nearest } from '../data/nearest.js';
import { valuesAt } from '../data/path.js';
import type { ResourceName } from '../data/resources.js';
import { UsageError } from '../errors.js';
import { singleLine } from '../terminal/safe-text.js';

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

/** Returns the dotted names of a schema's fields; none if it allows any. */
export function fieldNames(schema: z.core.$ZodType): readonly string[] {
  return fieldsOf(schema, '');
}

interface Definition {
  readonly type: string;
  readonly shape?: Readonly<Record<string, z.core.$ZodType>>;
  readonly innerType?: z.core.$ZodType;
  readonly element?: z.core.$ZodType;
  readonly entries?: Readonly<Record<string, string>>;
}

function definitionAt(
  schema: z.core.$ZodType,
  segments: readonly string[],
): Definition | undefined {
  const [segment, ...rest] = segments;
  const definition: Definition = schema._zod.def;
  const { type, shape, innerType, element } = definition;
  if (innerType) return definitionAt(innerType, segments);
  if (segment === undefined) return definition;
  if (type === 'array' && element)
    return definitionAt(element, /^\d+$/.test(segment) ? rest : segments);
  const inner = shape && Object.hasOwn(shape, segment) ? shape[segment] : undefined;
  return inner && definitionAt(inner, rest);
}

function fieldsOf(schema: z.core.$ZodType, prefix: string): readonly string[] {
  const { shape, innerType, element }: Definition = schema._zod.def;
  const inner = innerType ?? element;
  if (inner) return fieldsOf(inner, prefix);
  return Object.entries(shape ?? {}).flatMap(([name, field]) => [
    `${prefix}${name}`,
    ...fieldsOf(field, `${prefix}${name}.`),
  ]);
}

type Field = NonNullable<RecordTest['field']>;

/** Returns the field of a condition that must occur in some record; none if the contract documents it. */
export function fieldOf(name: string, resource: ResourceName): Pick<RecordTest, 'field'> {
  if (isDocumented(resource, name)) return {};
  return { field: { name, on: (record) => valuesAt(record, name) !== undefined } };
}

/** Tracks whether each named field occurs in some of the observed records. */
export class ObservedFields {
  private unseen: readonly Field[];
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
    addNames(record, this.names);
  }

  /** Throws UsageError for a field that no observed record has; with no records, nothing is known. */
  check(): void {
    const [missing] = this.unseen;
    if (missing && this.count > 0) throw unknownField(missing.name, [...this.names]);
  }
}

const maxNames = 500;

function addNames(record: JsonObject, names: Set<string>): void {
  for (const [name, value] of Object.entries(record)) {
    if (names.size >= maxNames) return;
    names.add(name);
    if (isObject(value)) for (const inner of Object.keys(value)) names.add(`${name}.${inner}`);
  }
}

function unknownField(name: string, known: readonly string[]): UsageError {
  const plain = known.filter((entry) => !entry.includes('.'));
  return new UsageError(`No record has a field "${name}".${suggestionFor(name, known)}`, {
    hint: `Known fields: ${plain.map(singleLine).join(', ')}`,
  });
}

/** A suggestion for a misspelt name. Below an existing field, compares only the part behind the shared prefix. */
function suggestionFor(name: string, known: readonly string[]): string {
  const outer = known.find((entry) => name.startsWith(`${entry}.`));
  if (outer === undefined) return didYouMean(name, known);
  const from = outer.length + 1;
  const inner = known.filter((entry) => entry.startsWith(`${outer}.`));
  const near = nearest(
    name.slice(from),
    inner.map((entry) => entry.slice(from)),
  );
  return near === undefined ? '' : ` Did you mean ${outer}.${near}?`;
}
