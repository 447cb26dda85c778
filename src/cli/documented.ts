import type * as z from 'zod/mini';
import type { ResourceName } from '../api/contract.js';
import { recordSchema } from './views.js';

/** Whether the contract names a dotted field of a resource: `status`, `gamerTags.game` (2.1, 2.2). */
export function isDocumented(resource: ResourceName, field: string): boolean {
  return definitionAt(recordSchema(resource), field.split('.')) !== undefined;
}

/** The dotted fields that the contract names, for suggestions. */
export function documentedFields(resource: ResourceName): readonly string[] {
  return fieldNames(recordSchema(resource));
}

/** The values that the contract names for a dotted field; undefined where it names none. */
export function documentedChoices(
  resource: ResourceName,
  field: string,
): readonly string[] | undefined {
  const { entries } = definitionAt(recordSchema(resource), field.split('.')) ?? {};
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
