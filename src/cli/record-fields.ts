import type * as z from 'zod/mini';
import { resources } from '../api/resources.js';
import type { RecordTest } from '../data/dates.js';
import { isObject, type JsonObject } from '../data/json.js';
import { didYouMean, nearest } from '../data/nearest.js';
import { valuesAt } from '../data/path.js';
import type { ResourceName } from '../data/resources.js';
import { UsageError } from '../errors.js';
import { singleLine } from '../terminal/safe-text.js';

/** The fields that the contract documents for a resource's records (2.1, 2.6: the id alone for most). */
export function recordFields(resource: ResourceName): readonly string[] {
  return Object.keys(resources[resource].schema.shape);
}

/** Whether the contract names a dotted field of a resource: `status`, `gamerTags.game` (2.1, 2.2). */
export function isDocumented(resource: ResourceName, field: string): boolean {
  return definitionAt(resources[resource].schema, field.split('.')) !== undefined;
}

/** The dotted fields that the contract names, for suggestions. */
export function documentedFields(resource: ResourceName): readonly string[] {
  return fieldNames(resources[resource].schema);
}

/** The values that the contract names for a dotted field; undefined where it names none. */
export function documentedChoices(
  resource: ResourceName,
  field: string,
): readonly string[] | undefined {
  const { entries } = definitionAt(resources[resource].schema, field.split('.')) ?? {};
  return entries && Object.values(entries);
}

/** The dotted names of a schema's fields; none where it allows any. */
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

/** The field of a condition that only the records can show to exist; none for one of the contract. */
export function fieldOf(name: string, resource: ResourceName): Pick<RecordTest, 'field'> {
  if (isDocumented(resource, name)) return {};
  return { field: { name, on: (record) => valuesAt(record, name) !== undefined } };
}

/** Whether each field that was named stands in some record, of those that went by. */
export class ObservedFields {
  private unseen: readonly Field[];
  private readonly names: Set<string>;
  private count = 0;

  constructor(tests: readonly Pick<RecordTest, 'field'>[], resource: ResourceName) {
    this.unseen = tests.flatMap(({ field }) => (field ? [field] : []));
    this.names = new Set(this.unseen.length > 0 ? documentedFields(resource) : []);
  }

  get all(): boolean {
    return this.unseen.length === 0;
  }

  see(record: JsonObject): void {
    if (this.all) return;
    this.count += 1;
    this.unseen = this.unseen.filter((field) => !field.on(record));
    addNames(record, this.names);
  }

  /** Throws UsageError for a field that none of them has; where none went by nothing is known. */
  check(): void {
    const [missing] = this.unseen;
    if (missing && this.count > 0) throw unknownField(missing.name, [...this.names]);
  }
}

const mostNames = 500;

function addNames(record: JsonObject, names: Set<string>): void {
  for (const [name, value] of Object.entries(record)) {
    if (names.size >= mostNames) return;
    names.add(name);
    if (isObject(value)) for (const inner of Object.keys(value)) names.add(`${name}.${inner}`);
  }
}

function unknownField(name: string, known: readonly string[]): UsageError {
  const plain = known.filter((entry) => !entry.includes('.'));
  return new UsageError(`No record has a field "${name}".${meantBy(name, known)}`, {
    hint: `Known fields: ${plain.map(singleLine).join(', ')}`,
  });
}

/** Inside a field that is there only its own names are near; what all of them begin with says nothing. */
function meantBy(name: string, known: readonly string[]): string {
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
