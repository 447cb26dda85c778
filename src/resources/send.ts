/** Sends one write of a record, and says of a refused one if its route, which the contract does not state, is wrong. */

import { type Endpoint, endpoint, type RecordWrite } from '../api/contract.js';
import { callFor, resources } from '../api/resources.js';
import { type Route, routeParts, undocumented } from '../api/routes.js';
import type { Call } from '../api/types.js';
import type { Context } from '../context.js';
import { withPlainId } from '../data/http.js';
import type { JsonObject } from '../data/json.js';
import {
  isBlocked,
  isForbidden,
  isProvenNotFound,
  isUnknownRoute,
} from '../data/outcome-errors.js';
import type { ResourceName } from '../data/resources.js';
import { isSameValue } from '../data/sorting.js';
import { lowerFirst, shellQuote } from '../data/text.js';
import type { Sent, Session } from '../engine/operation.js';
import { byNormalName, isMarkedDeleted } from '../engine/verify.js';
import { ApiError, Failure, ProtocolError, wrongRoute } from '../errors.js';
import { type RecordReader, recordIfThere, recordReader } from './read.js';

/** The kind of read that each purpose of the engine needs. */
const readFor = { preview: 'list', turn: 'now', resend: 'after', verify: 'after' } as const;

/**
 * The parts of a session that changes records that exist: each is read first, and not written if that is
 * forbidden (403); its write is sent once. A 2xx that reports an error is returned with that error; a
 * refusal says if it may be that of a wrong route, and no other route is tried.
 */
export function changing(context: Context, resource: ResourceName, write: RecordWrite) {
  const reader = recordReader(context, resource);
  return {
    resends: 3,
    async read({ id }, purpose) {
      const when = readFor[purpose];
      try {
        return await reader.read(id, when);
      } catch (error) {
        if (!isForbidden(error) || isBlocked(error) || when === 'after') throw error;
        const { method, path } = context.api.describe(callFor(resource, write, id));
        throw error.with({
          hint: `A record that cannot be read is not changed. To send it unread: rosterctl api ${shellQuote(path)} -X ${method}`,
        });
      }
    },
    async send({ call }, { id }, isFresh): Promise<Sent> {
      try {
        const answer = await context.api.sendOnce(call, isFresh);
        return { answer, record: answer.record?.['id'] === id ? answer.record : undefined };
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        if (error.status < 300) return sentRefusal(error);
        throw await routeRefusal(context, error, call, { resource, id, reader });
      }
    },
  } satisfies Partial<Session>;
}

/**
 * The parts of a session that creates: there is nothing to read, and the id is known only afterwards. A create
 * is sent once; a 2xx that reports an error is returned with that error and its record.
 */
export function creating(context: Context, resource: ResourceName) {
  return {
    read: async () => ({ record: undefined, at: context.instant() }),
    async send({ call }, _, isFresh): Promise<Sent> {
      try {
        const answer = await context.api.sendOnce(call, isFresh);
        return { answer, record: answer.record };
      } catch (error) {
        if (!(error instanceof ApiError && error.status < 300)) throw error;
        const sent = sentRefusal(error);
        return { ...sent, record: context.api.recordIn(sent.answer.body, resource) };
      }
    },
    image: () => undefined,
    imageAfter(record, { sent, isFound }) {
      if (record['id'] === undefined || (isFound && !isUntouched(record))) return undefined;
      // An answer that shows only the id does not show what an undo must compare.
      const isBare = Object.keys(sent).every((field) => !Object.hasOwn(record, field));
      return { kind: 'created', after: isBare ? { ...sent, ...record } : record };
    },
    readMade: (id) => recordIfThere(recordReader(context, resource), id),
    made: (record) => record && { id: record['id'] ?? null },
  } as const satisfies Partial<Session>;
}

/** True if the record's times show that nobody has changed it since it was created. */
function isUntouched(record: JsonObject): boolean {
  const { createdat: createdAt, updatedat: updatedAt } = byNormalName(record);
  // Some services count seconds.
  if ((createdAt ?? null) !== null && isSameValue(createdAt, updatedAt)) return true;
  if (typeof createdAt !== 'string' || typeof updatedAt !== 'string') return false;
  return Math.abs(Date.parse(updatedAt) - Date.parse(createdAt)) <= 1_000;
}

/** The result of a step that was refused: no record, and the error as its sign. */
function sentRefusal(sign: ApiError): Sent {
  const answer = { status: sign.status, headers: {}, body: sign.details.body };
  return { answer, record: undefined, sign };
}

/** Sends; a 409 is a sign and no failure, because what the request asks for may be done: a read decides. */
export async function withConflictAsSign(send: () => Promise<Sent>): Promise<Sent> {
  try {
    return await send();
  } catch (error) {
    if (error instanceof ApiError && error.status === 409) return sentRefusal(error);
    throw error;
  }
}

/** Statuses that may also mean that the service has the route in another shape, or for other keys. */
const doubtful = [400, 403, 404];

/**
 * Returns the failure for a refused write. After a 404, 405 or 501 the record is read: if it exists,
 * the route is wrong (`wrongRoute`); if not, the record is missing. A 400 or 403 keeps its meaning and
 * mentions an assumed route, unless its own `Allow` header names the method. A route that the contract
 * states, or that has worked, is never blamed.
 */
async function routeRefusal(
  { api }: Context,
  error: ApiError,
  call: Call,
  { resource, id, reader }: { resource: ResourceName; id: string; reader: RecordReader },
): Promise<Failure> {
  const route = api.route(call);
  if (route.source === 'stated' || api.hasWorked(call)) return error;
  const used = `${route.method} ${withPlainId(route.template)}`;
  const refused = { error, call, route, row: endpoint(call.endpoint), used };
  if (isUnknownRoute(error)) {
    const found = await reader.read(id, 'after').catch((failure: unknown) => failure as Failure);
    const isThere = !(found instanceof Failure);
    if (isProvenNotFound(found)) return error.status === 404 ? error : (found as Failure);
    if (isThere && error.status === 404 && isMarkedDeleted(undefined, found.record ?? {}))
      return error;
    const proof = isThere
      ? `the ${resources[resource].noun} ${id} exists`
      : `it answered ${error.status}`;
    if (isThere || error.status !== 404) return wrongRouteError(refused, proof);
  }
  const isOther =
    !doubtful.includes(error.status) ||
    error.serviceCode === 'featureNotAvailable' ||
    allowedMethods(error).includes(route.method);
  return isOther || route.source === 'named' ? error : withRouteHint(refused);
}

interface RefusedRoute {
  readonly error: ApiError;
  readonly call: Call;
  readonly route: Route;
  readonly row: Endpoint;
  /** `PATCH /teams/{id}` */
  readonly used: string;
}

function wrongRouteError(refused: RefusedRoute, proof: string): ProtocolError {
  const { error, call, route, row, used } = refused;
  const from =
    route.source === 'assumed'
      ? `${undocumented(row)}; rosterctl assumes ${used}.`
      : `${used} comes from ${call.route === undefined ? `the setting ${route.configKey}` : '--route'}.`;
  return new ProtocolError(
    `The service does not know ${used}: ${proof}, so the ${route.source} route is wrong.`,
    {
      call: error.call,
      status: error.status,
      code: wrongRoute,
      hint: `${from}${nextRoute(refused)}`,
      cause: error,
    },
  );
}

function withRouteHint(refused: RefusedRoute): ApiError {
  const { error, row, used } = refused;
  // On one line, because an error has at most four, and a refusal has its own hint.
  const next = nextRoute(refused).replace('\n', ' ');
  const routeHint = `Or the assumed route is wrong: ${lowerFirst(undocumented(row))}; rosterctl assumes ${used}.${next}`;
  return error.with({ routeHint });
}

/** The methods in the `Allow` header; anything else in it is left out. */
function allowedMethods({ details: { allow = '' } }: ApiError): readonly string[] {
  const methods = allow.split(',').map((word) => word.trim().toUpperCase());
  return [...new Set(methods)].filter((word) => /^[A-Z]{3,10}$/.test(word)).slice(0, 10);
}

/**
 * The end of a hint: the command that sets another route, by a method that the service allows, else the
 * likeliest route that was not just refused. Only the admin sends it.
 */
function nextRoute({ error, route, row, used }: RefusedRoute): string {
  const template = withPlainId(route.template);
  const assumed = routeParts(row.route);
  const plain = withPlainId(assumed.template);
  // A POST to a collection creates a record, and instead of a delete it could create or change something.
  const isOneRecord = template.split('?')[0]?.includes('{id}');
  const methods =
    row.verb === 'delete' ? ['DELETE'] : ['PUT', 'PATCH', ...(isOneRecord ? ['POST'] : [])];
  const allowed = allowedMethods(error);
  const candidates = [
    ...methods
      .filter((method) => allowed.includes(method))
      .map((method) => `${method} ${template}`),
    ...(row.verb === 'delete' ? [] : [`PUT ${plain}`]),
    `${assumed.method} ${plain.replace('/{id}', '/{organizationId}/{id}')}`,
    `${assumed.method} ${plain}`,
  ];
  const likeliest = candidates.find((each) => each !== used) ?? '';
  const allows = allowed.length > 0 ? ` The service allows: ${allowed.join(', ')}.` : '';
  return `${allows}\nSet another: rosterctl config set ${route.configKey} "${likeliest}"`;
}
