/** The API of the sandbox: checks a request as the contract says, runs its handler, sends the answer. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Endpoint } from '../api/contract.js';
import { Failure } from '../errors.js';
import { type Admin, answerAdmin, isAdminPath } from './admin.js';
import { answerWithFault, type Rendered, readWhole } from './fault-answer.js';
import type { Faults } from './faults.js';
import type { HandlerReply } from './handler.js';
import type { Grant, UrlSigner } from './keys.js';
import type { Personality } from './personality.js';
import { forbidden, Refusal } from './refusal.js';
import {
  checkBody,
  checkBodyOrganization,
  isOwnHost,
  type Received,
  readJsonBody,
} from './request.js';
import { handle, type Match, matchRoute } from './routes.js';
import type { State } from './state.js';

export interface ServerParts {
  readonly state: State;
  readonly grantOf: (key: string) => Grant | undefined;
  readonly personality: Personality;
  readonly urls: UrlSigner;
  readonly admin: Admin;
  readonly faults: Faults;
  readonly now: () => Date;
}

/** The request listener of the API: the contract's endpoints under `/v1`, the admin routes beside it. */
export function newApiListener(
  parts: ServerParts,
): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    respond(parts, request, response).catch(() => response.destroy());
  };
}

async function respond(
  parts: ServerParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [path] = splitOnce(request.url ?? '/', '?');
  if (isAdminPath(path) || !isOwnHost(request.headers.host)) {
    send(response, await answerOrRefuse(parts, request));
    return;
  }
  const { record, fault } = parts.faults.register('api', request.method ?? 'GET', path);
  if (!fault) {
    const answered = await answerOrRefuse(parts, request);
    record.applied = answered.status < 400;
    send(response, answered);
    return;
  }
  const received = await readWhole(request);
  record.applied = await answerWithFault({
    fault,
    response,
    carryOut: async () => render(await answerOrRefuse(parts, received)),
    refuse: (status, code) =>
      render({ status, body: { error: code, message: 'an injected fault' } }),
    now: parts.now,
  });
}

function answerOrRefuse(parts: ServerParts, request: Received): Promise<Answer> {
  return answer(parts, request).catch((error: unknown) => refusal(error, parts.personality));
}

interface Answer extends HandlerReply {
  readonly headers?: Readonly<Record<string, string>>;
}

async function answer(parts: ServerParts, request: Received): Promise<Answer> {
  if (!isOwnHost(request.headers.host)) throw forbidden('this sandbox serves this machine only');
  const [path, search] = splitOnce(request.url ?? '/', '?');
  const query = new URLSearchParams(search);
  if (isAdminPath(path)) return answerAdmin(parts.admin, request, path, query);
  if (!path.startsWith('/v1/')) throw dashboardOnly();
  const grant = checkKey(parts, request.headers['x-api-key']);
  const match = matchRoute(request.method ?? 'GET', path.slice('/v1'.length));
  if (!match.found) throw unknownRoute(match, parts.personality);
  const { name, row, permission } = match.route;
  if (!grant.allows(permission)) throw forbidden(`the key lacks the permission ${permission}`);
  const given = await readGivenBody(row, request, parts.personality);
  const { organizationId } = grant;
  const body = checkBodyOrganization(row, organizationId, {
    params: match.params,
    query,
    body: given,
  });
  checkBody(row, body);
  const { personality, urls, state } = parts;
  const call = { params: match.params, body, organizationId, personality, urls, now: parts.now() };
  if (request.method === 'GET') return handle(name, { ...call, tables: state.read(), steps: [] });
  return state.change((tables, steps) => handle(name, { ...call, tables, steps }));
}

/** Contract section 5. */
function checkKey(parts: ServerParts, key: string | string[] | undefined): Grant {
  if (typeof key !== 'string' || key === '')
    throw new Refusal(401, 'unauthorized', 'the header x-api-key is missing');
  const grant = parts.grantOf(key);
  if (!grant) throw new Refusal(401, 'invalidApiKey', 'there is no such key');
  if (!grant.hasPlan)
    throw new Refusal(403, 'featureNotAvailable', 'the plan of the organization has no API access');
  return grant;
}

/** Contract 5.6: keys work only below `/v1`. */
const dashboardOnly = () =>
  new Refusal(
    401,
    'unauthorized',
    'keys work only under /v1; other paths need a dashboard session',
  );

function unknownRoute(match: Match & { found: false }, { codes }: Personality): Refusal {
  if (match.allow.length === 0) return new Refusal(404, codes.notFound, 'there is no such path');
  const allow = match.allow.join(', ');
  return new Refusal(405, codes.methodNotAllowed, `this path accepts ${allow}`, { allow });
}

/** A row without a body schema ignores the body of a request. */
async function readGivenBody(row: Endpoint, request: Received, { codes }: Personality) {
  return row.body ? readJsonBody(request, codes.payloadTooLarge) : {};
}

function refusal(error: unknown, { codes }: Personality): Answer {
  if (error instanceof Refusal) {
    const body = { error: error.code, message: error.message };
    return { status: error.status, body, headers: error.headers };
  }
  const message =
    error instanceof Failure || error instanceof Error ? error.message : 'unknown failure';
  return { status: 500, body: { error: codes.internalError, message } };
}

function render({ status, body, headers }: Answer): Rendered {
  if (body === undefined) return { status, headers: { ...headers } };
  const bytes = Buffer.from(JSON.stringify(body));
  return { status, headers: { ...headers, 'content-type': 'application/json' }, bytes };
}

function send(response: ServerResponse, answered: Answer): void {
  const { status, headers, bytes } = render(answered);
  response
    .writeHead(status, {
      ...headers,
      ...(bytes && { 'content-length': bytes.length }),
      'cache-control': 'no-store',
    })
    .end(bytes);
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)];
}
