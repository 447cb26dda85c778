/** Records on the wire: how their fields are spelled, and what their ids are. */
import { isObject, type JsonObject } from '../../data/json.js';
import { type ResourceName, resourceNames, resourceWords } from '../../data/resources.js';
import { numberOfId, recordId } from '../records.js';
import type { Shapes } from './shapes.js';
import { fillJson } from './template.js';

/** Their keys are the organization's own words (contract 2.1). */
const freeFields = ['formResponses'];

/** A stored record as it goes over the wire. */
export function toWire(shapes: Shapes, resource: ResourceName, record: JsonObject): JsonObject {
  const { isNumber, field } = idsOf(shapes, resource);
  const casing = shapes.value('casing', resource);
  const spell = spellings[casing];
  const numbered = isNumber ? mapped(record, unchanged, idToWire) : record;
  const wire = (spell ? mapped(numbered, spell, unchanged) : numbered) as JsonObject;
  const idField = spell?.('id') ?? 'id';
  const named = field === undefined ? wire : renamed(wire, idField, field);
  if (shapes.given('record', resource) === undefined) return named;
  const { [field ?? idField]: id, ...fields } = named;
  return fillJson(shapes.template('record', resource).json, {
    ...resourceNamesOnWire(resource),
    organization: record['organizationId'],
    record: named,
    fields,
    id,
  }) as JsonObject;
}

/** `$resource` and `$singular` of an answer. */
export function resourceNamesOnWire(resource: ResourceName) {
  const { plural, noun } = resourceWords[resource];
  return { resource: plural, singular: noun };
}

/** The body of a request with the names and ids of stored records. */
export function fromWire(shapes: Shapes, resource: ResourceName, body: JsonObject): JsonObject {
  const { field } = idsOf(shapes, resource);
  const plain = field === undefined ? body : renamed(body, field, 'id');
  const spelled =
    shapes.value('casing', resource) === 'camel' ? plain : mapped(plain, toCamel, unchanged);
  return Object.fromEntries(
    Object.entries(spelled as JsonObject).map(([name, value]) => [
      name,
      referenceFromWire(shapes, name, value),
    ]),
  );
}

/** An id as it is in an answer. */
export function wireId(shapes: Shapes, resource: ResourceName, id: unknown): unknown {
  return idsOf(shapes, resource).isNumber ? idToWire(id) : id;
}

/** Returns the stored id for the one in a path; undefined for a text where ids are numbers. */
export function idFromPath(
  shapes: Shapes,
  resource: ResourceName,
  word: string,
): string | undefined {
  if (!idsOf(shapes, resource).isNumber) return word;
  return /^\d{1,9}$/.test(word) ? recordId(resource, Number(word)) : undefined;
}

function idsOf(shapes: Shapes, resource: ResourceName) {
  const words = shapes.value('ids', resource).split(',');
  return {
    isNumber: words.includes('number'),
    field: words.find((word) => word !== 'number' && word !== 'text'),
  };
}

const idToWire = (value: unknown): unknown =>
  typeof value === 'string' ? (numberOfId(value) ?? value) : value;

/** `teamId: 3` and `teamIds: [3]` as they are stored. */
function referenceFromWire(shapes: Shapes, name: string, value: unknown): unknown {
  const to = resourceNames.find((resource) =>
    [resourceWords[resource].idName, `${resourceWords[resource].idName}s`].includes(name as never),
  );
  if (to === undefined || !idsOf(shapes, to).isNumber) return value;
  const known = (each: unknown) => (typeof each === 'number' ? recordId(to, each) : each);
  return Array.isArray(value) ? value.map(known) : known(value);
}

const unchanged = <T>(value: T): T => value;

/** A value with its keys and its texts mapped on every level. */
function mapped(
  value: unknown,
  key: (name: string) => string,
  text: (value: unknown) => unknown,
): unknown {
  if (Array.isArray(value)) return value.map((each) => mapped(each, key, text));
  if (!isObject(value)) return text(value);
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      key(name),
      freeFields.includes(name) || freeFields.includes(key(name)) ? each : mapped(each, key, text),
    ]),
  );
}

function renamed(record: JsonObject, from: string, to: string): JsonObject {
  return Object.fromEntries(
    Object.entries(record).map(([name, value]) => [name === from ? to : name, value]),
  );
}

const separated = (mark: string) => (name: string) =>
  name.replace(/[A-Z]/g, (letter) => `${mark}${letter.toLowerCase()}`);

const spellings: Readonly<Record<string, (name: string) => string>> = {
  snake: separated('_'),
  kebab: separated('-'),
  pascal: (name) => name.charAt(0).toUpperCase() + name.slice(1),
};

function toCamel(name: string): string {
  const joined = name.replace(/[_-]([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return joined.charAt(0).toLowerCase() + joined.slice(1);
}
