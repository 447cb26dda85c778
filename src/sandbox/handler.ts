/** Handlers: what each gets and returns, and how all of them find, list, create, update and delete records. */
import type { contract, Endpoint, EndpointName } from '../api/contract.js';
import type { JsonObject } from '../data/json.js';
import type { ResourceName } from '../data/resources.js';
import type { SignUrl } from './keys.js';
import { type LogStep, nextId, type StoredRecord, type Tables } from './records.js';
import { invalid, noSuchRecord } from './refusal.js';
import type { AnswerName } from './shapes/table.js';

/** A call whose key, permission, organization and body have been checked. */
export interface HandlerCall<Param extends string = string> {
  readonly params: { readonly [P in Param]: string };
  /** The JSON body without organizationId; empty where there is none. */
  readonly body: JsonObject;
  /** The organization of the key. */
  readonly organizationId: string;
  readonly tables: Tables;
  /** The changes of the call; applied and logged when the handler returns, dropped when it throws. */
  readonly steps: LogStep[];
  readonly now: Date;
  /** True if an update to the present status emits its events again: for tests of what must not happen twice. */
  readonly strictEvents: boolean;
  /** True where an update replaces the whole record. */
  readonly replaces: boolean;
  readonly signUrl: SignUrl;
}

/** The result of a call; the shapes decide how the answer presents it. */
export interface HandlerReply {
  readonly answer: Exclude<AnswerName, 'error'>;
  readonly rows?: readonly JsonObject[];
  readonly records?: ReplyRecords;
  /** The values of the answer's other placeholders. */
  readonly values?: Readonly<Record<string, string>>;
}

/** Records by the placeholder that stands for them; `old` is the one before the write. */
export interface ReplyRecords {
  readonly record?: JsonObject;
  readonly old?: JsonObject;
  readonly player?: JsonObject;
  readonly application?: JsonObject;
}

type ParamNames<Route extends string> = Route extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamNames<Rest>
  : never;

type CallsOf<R extends Endpoint['resource']> = {
  [N in EndpointName]: (typeof contract)[N]['resource'] extends R ? N : never;
}[EndpointName];

/** The handlers of a resource: one for each of its endpoints. */
export type HandlersOf<R extends Endpoint['resource']> = Pick<Handlers, CallsOf<R>>;

/** A handler for every endpoint of the contract: a missing one is a type error. */
export type Handlers = {
  readonly [N in EndpointName]: (
    call: HandlerCall<ParamNames<(typeof contract)[N]['route']>>,
  ) => HandlerReply;
};

/** Fields that only the service sets; in a body they change nothing. */
const ownFields = new Set(['id', 'organizationId', 'createdAt', 'updatedAt']);

/** The fields that tie a document to its file; an update cannot change them. */
export const fileFields: readonly string[] = ['fileKey', 'fileUrl', 'contentType', 'sizeBytes'];

/** The record of the key's organization, or 404. */
export function ownRecord(call: HandlerCall, resource: ResourceName, id: string): StoredRecord {
  const record = call.tables.records[resource].get(id);
  if (record && record.organizationId === call.organizationId) return record;
  throw noSuchRecord(id);
}

/** All records of the key's organization. */
export function ownRecords(call: HandlerCall, resource: ResourceName): StoredRecord[] {
  return [...call.tables.records[resource].values()].filter(
    (record) => record.organizationId === call.organizationId,
  );
}

/** The reply to a list. */
export const listResponse = (rows: readonly JsonObject[]): HandlerReply => ({
  answer: 'list',
  rows,
});

/** The reply to a get. */
export const recordReply = (record: JsonObject): HandlerReply => ({
  answer: 'get',
  records: { record },
});

/** A new record with these fields; `legacyRef`, which no contract names, is made up where it is not sent. */
export function newRecord(
  call: HandlerCall,
  resource: ResourceName,
  fields: JsonObject,
): StoredRecord {
  const id = nextId(call.tables, resource);
  const at = call.now.toISOString();
  return {
    id,
    organizationId: call.organizationId,
    ...withoutOwnFields(fields),
    ...(Object.hasOwn(fields, 'legacyRef') ? {} : { legacyRef: `NEW-${id}` }),
    createdAt: at,
    updatedAt: at,
  };
}

/** Creates a record with the fields of the body. */
export function createRecord(call: HandlerCall, resource: ResourceName): HandlerReply {
  const record = newRecord(call, resource, call.body);
  call.steps.push(['put', resource, record]);
  return { answer: 'create', records: { record } };
}

/** Updates a record with the fields of the body. Throws 400 for an empty body. */
export function updateRecord(
  call: HandlerCall,
  resource: ResourceName,
  old: StoredRecord,
): HandlerReply {
  const record = merged(call, old);
  call.steps.push(['put', resource, record]);
  return { answer: 'update', records: { record, old } };
}

/** Deletes a record. Throws 404 if there is none. */
export function deleteRecord(call: HandlerCall, resource: ResourceName, id: string): HandlerReply {
  const old = ownRecord(call, resource, id);
  call.steps.push(['delete', resource, id]);
  return { answer: 'delete', records: { old } };
}

/**
 * The record with its fields replaced by those of the body; where an update replaces the whole
 * record, without the others. Throws 400 for an empty body.
 */
function merged(call: HandlerCall, record: StoredRecord): StoredRecord {
  const fields = withoutOwnFields(call.body);
  if (Object.keys(call.body).length === 0) throw invalid('at least one field is needed');
  const kept = call.replaces ? fixedFields(record) : record;
  const { id, organizationId } = record;
  return { ...kept, ...fields, id, organizationId, updatedAt: call.now.toISOString() };
}

/** The fields that no update can remove from a record: the service's own, and a document's file. */
function fixedFields(record: StoredRecord): JsonObject {
  return Object.fromEntries(
    Object.entries(record).filter(([name]) => ownFields.has(name) || fileFields.includes(name)),
  );
}

function withoutOwnFields(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !ownFields.has(name)));
}

/** Refuses a name that is empty or not a text; when required, also a missing one. */
export function checkName(body: JsonObject, need: 'required' | 'optional'): void {
  const { name } = body;
  if (name === undefined && need === 'optional') return;
  if (typeof name !== 'string' || name.trim() === '') throw invalid('name must be a text');
}

/** Refuses a body whose `teamId` or `teamIds` names a team that the organization does not have. */
export function checkTeams(call: HandlerCall): void {
  const { teamId, teamIds } = call.body;
  if (teamIds !== undefined && !Array.isArray(teamIds)) throw invalid('teamIds must be a list');
  const named: unknown[] = [...(teamIds ?? []), ...(teamId == null ? [] : [teamId])];
  for (const id of named) {
    const team = typeof id === 'string' ? call.tables.records.teams.get(id) : undefined;
    if (team?.organizationId !== call.organizationId)
      throw invalid(`the team ${String(id)} does not exist`);
  }
}
