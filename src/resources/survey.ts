/** Surveys: tries out what the service really sends for a list, and which settings read it whole. */

import { listAnswered } from '../api/answers.js';
import { type FoundList, findList } from '../api/list-envelope.js';
import { readEvidence } from '../api/paging-evidence.js';
import { configured, wrappedIn } from '../api/record-list.js';
import { hasId, withTextId } from '../api/records.js';
import { callFor, isReadByList, resources } from '../api/resources.js';
import type { Answer, Api } from '../api/types.js';
import { isNumber, isObject, isTextOrNumber, type JsonObject } from '../data/json.js';
import { normalName, valueAt } from '../data/path.js';
import { referenceSetting, referenceValues } from '../data/references.js';
import {
  type LookedUpKind,
  type Overrides,
  type ResourceName,
  referenceKindsOf,
  resourceNames,
  resourceWords,
} from '../data/resources.js';
import { Failure } from '../errors.js';
import { findingsOn, type Setting, type SurveyFinding, surveyPages } from './survey-pages.js';

/**
 * Reads a list as the settings in force read it. Where it is not found, has no ids or may be
 * incomplete, tries other settings and returns those with which more records come. Sends documented
 * reads only. Throws the failure of the first read.
 */
export async function surveyList(
  api: Api,
  resource: ResourceName,
  overrides: Overrides,
  onHeaders: (headers: Answer['headers']) => void,
) {
  const { path } = api.describe(callFor(resource, 'list', undefined));
  const { status, headers, body } = await firstAnswer(api, path, resource, onHeaders);
  const findings: SurveyFinding[] = [];
  const settings: Record<string, string> = {};
  const list = envelopeIn(body, resource, overrides);
  findings.push(list.finding);
  if (!list.found) return { findings, settings };
  if (list.path !== undefined) settings[`lists.${resource}.path`] = list.path;
  const idName = configured(overrides, `ids.${resource}`);
  const rows = list.found.rows.map((row) => (hasId(row, idName) ? row : wrappedIn(row, resource)));
  if (rows.length > 0) {
    const id = await idIn(api, resource, rows, overrides);
    for (const [key, value] of id.settings) settings[key] = value;
    const references = workingReferences(rows, resource, overrides);
    findings.push(
      id,
      findingsOn('fields')('pass', fieldTypes(rows)),
      findingsOn('references')('pass', references),
    );
  }
  const evidence = readEvidence(isObject(body) ? body : {}, headers, {
    resource,
    listPath: list.path ?? overrides[`lists.${resource}.path`],
  });
  const pages = await surveyPages(api, resource, { ...overrides, ...settings }, evidence);
  const text = status === 206 ? `${pages.finding.text} (status 206)` : pages.finding.text;
  return { findings, settings, pages: { ...pages, finding: { ...pages.finding, text } } };
}

async function firstAnswer(
  api: Api,
  path: string,
  resource: ResourceName,
  onHeaders: (headers: Answer['headers']) => void,
) {
  const call = { method: 'GET', path: path.split('?')[0] ?? path };
  const response = await api.raw({ method: 'GET', path, template: call.path });
  onHeaders(response.headers);
  const { origin } = new URL(api.baseUrl);
  const { body } = listAnswered(response, { call, origin }, (answer) =>
    findList(answer, { resource }),
  );
  return { status: response.status, headers: response.headers, body };
}

// --- the envelope ---

const envelope = findingsOn('envelope');

function envelopeIn(body: unknown, resource: ResourceName, overrides: Overrides) {
  const set = configured(overrides, `lists.${resource}.path`);
  const idName = configured(overrides, `ids.${resource}`);
  const found = findList(body, { resource, path: set, idName });
  if (found && !found.isAssumed) {
    const place = set ?? found.place?.join('.');
    const whole = Array.isArray(body) ? 'a bare array' : 'the numbered properties of an object';
    const unnamed = isObject(body) && found.rows.length === 0 ? 'left out: the total is 0' : whole;
    const text = place ? `records are under "${place}"` : `records are ${unnamed}`;
    return { found, path: undefined, finding: envelope('pass', text) };
  }
  const unaided = set === undefined ? undefined : findList(body, { resource, idName });
  if (unaided && !unaided.isAssumed) {
    const text = `no list is under "${set}"; rosterctl finds it by itself`;
    const auto = [`lists.${resource}.path`, 'auto'] as const;
    return { found: unaided, path: 'auto', finding: envelope('warn', text, [auto]) };
  }
  const candidates = listPlaces(body).filter((path) => path !== set);
  const likely = candidates.filter((path) => namesResource(path, resource));
  const [path, ...others] = likely.length > 0 ? likely : candidates;
  const settings = candidates.map((each): Setting => [`lists.${resource}.path`, each]);
  if (path !== undefined && others.length === 0) {
    const there = findList(body, { resource, path, idName });
    const text =
      isObject(body) && isObject(valueAt(body, path))
        ? `records are under "${path}" as an object, one property per id; rosterctl reads that only if you say so`
        : `records are under "${path}", where rosterctl does not look by itself`;
    return {
      found: there,
      path,
      finding: envelope('warn', text, [[`lists.${resource}.path`, path]]),
    };
  }
  if (found) {
    const text = 'no list was found, which counts as an empty one';
    return { found, path: undefined, finding: envelope('warn', text, settings) };
  }
  const records = resourceWords[resource].plural;
  const finding =
    candidates.length > 0
      ? envelope('fail', `the answer holds several lists; name the list of ${records}`, settings)
      : envelope('fail', `no list of ${records} was found in the answer; name its place`, [
          [`lists.${resource}.path`, 'PATH'],
        ]);
  return { found: undefined, path: undefined, finding };
}

const deepest = 4;

/** Returns the paths of everything that can be a list: arrays of objects, and maps of records. */
function listPlaces(value: unknown, above: readonly string[] = []): readonly string[] {
  if (!isObject(value) || above.length > deepest) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const path = [...above, key];
    if (key.includes('.') || /[\s[\]]/.test(key)) return [];
    if (Array.isArray(inner)) {
      if (inner.length === 0 || !inner.every(isObject)) return [];
      const isEdges = inner.every((each) => isObject(each['node']));
      return [`${path.join('.')}${isEdges ? '[].node' : ''}`];
    }
    if (isObject(inner) && isMapOfRecords(inner)) return [path.join('.')];
    return listPlaces(inner, path);
  });
}

/** `{t1: {…}, t2: {…}}`: the keys are ids, not names. */
function isMapOfRecords(map: JsonObject): boolean {
  const values = Object.values(map);
  return (
    values.length > 0 &&
    values.every((value) => isObject(value) && typeof value['name'] === 'string')
  );
}

function namesResource(path: string, resource: ResourceName): boolean {
  const { envelopes } = resources[resource];
  return envelopes.some((name) => normalName(path).includes(name));
}

// --- references ---

/** Says which references find these records, and how to name the fields of the others. */
function workingReferences(rows: FoundList['rows'], resource: ResourceName, overrides: Overrides) {
  const works = (kind: LookedUpKind) => {
    const valuesOf = referenceValues(resource, kind, overrides);
    return rows.some((row) => valuesOf(row) !== undefined);
  };
  const kinds = referenceKindsOf(resource);
  const working = kinds.filter(works);
  const found = `${prefixes(['id', ...working])} can name a record`;
  const missing = kinds.filter((kind) => !working.includes(kind));
  const [first] = missing;
  if (first === undefined) return found;
  return `${found}; no field for ${prefixes(missing)} (rosterctl config set ${referenceSetting(resource, first)} FIELD)`;
}

const prefixes = (kinds: readonly string[]) => kinds.map((kind) => `${kind}:`).join(', ');

// --- ids ---

const onId = findingsOn('id');

/** Finds the field that identifies a record; the settings are those that name it. */
async function idIn(
  api: Api,
  resource: ResourceName,
  records: FoundList['rows'],
  overrides: Overrides,
): Promise<SurveyFinding> {
  const set = configured(overrides, `ids.${resource}`);
  const hasIds = records.every((record) => hasId(record, set));
  const candidates = idCandidates(records, resource, overrides);
  const works = async (field: string) =>
    isReadByList(resource)
      ? field === candidates[0]
      : await identifies(api, resource, String(records[0]?.[field]));
  // A record may be there under another field than the `id` that it shows, as Strapi does it.
  if (!hasIds || (set === undefined && !(await works('id'))))
    for (const field of candidates.filter((name) => name !== 'id'))
      if (await works(field))
        return onId('warn', `the id is in ${field}`, [[`ids.${resource}`, field]]);
  if (!hasIds) return onId('fail', 'no field identifies a record: nothing can be changed by id');
  const isText = records.every((record) => withTextId(record, set) === record);
  const kind = set === undefined && !isText ? 'a number, which is used as text' : 'text';
  return onId('pass', `${set ?? 'id'} is ${kind}`);
}

/**
 * Returns the fields that are there in every record, with another text or number in each: those that
 * other lists use, the usual names, and whatever ends in "id" where a read can prove it.
 */
function idCandidates(
  records: readonly JsonObject[],
  resource: ResourceName,
  overrides: Overrides,
): readonly string[] {
  const { noun, idName, calls } = resources[resource];
  const others = resourceNames.flatMap((each) => configured(overrides, `ids.${each}`) ?? []);
  const own = ['id', noun, idName, `${noun}id`, 'objectid', 'uuid', 'guid', 'key'];
  const usual = [...others, ...own].map(normalName);
  const rank = (field: string) => usual.concat(normalName(field)).indexOf(normalName(field));
  return Object.keys(records[0] ?? {})
    .filter((field) => {
      const values = new Set(records.map((record) => record[field]).filter(isScalar));
      return values.size === records.length;
    })
    .filter((field) => rank(field) < usual.length || (calls.get && /id$/i.test(field)))
    .toSorted((a, b) => rank(a) - rank(b));
}

function isScalar(value: unknown): boolean {
  return isTextOrNumber(value) && value !== '';
}

/** True if the documented GET of one record knows this id. */
async function identifies(api: Api, resource: ResourceName, id: string): Promise<boolean> {
  try {
    const { path } = api.describe(callFor(resource, 'get', id));
    const { status } = await api.raw({ method: 'GET', path, template: path });
    return status < 300;
  } catch (error) {
    if (error instanceof Failure) return false;
    throw error;
  }
}

// --- fields ---

/** Returns the fields of the records with the types of their values, never the values. */
function fieldTypes(rows: FoundList['rows']): string {
  const types = new Map<string, Set<string>>();
  for (const row of rows)
    for (const [field, value] of Object.entries(row))
      types.set(field, (types.get(field) ?? new Set()).add(typeOf(value)));
  return [...types].map(([field, names]) => `${field}: ${[...names].join(' or ')}`).join(', ');
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) {
    const inner = [...new Set(value.map(typeOf))];
    return inner.length === 0 ? 'empty list' : `list of ${inner.join(' or ')}`;
  }
  if (isNumber(value)) return 'number';
  return typeof value === 'string' ? 'text' : typeof value;
}
