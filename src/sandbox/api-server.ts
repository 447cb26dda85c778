/** The API of the sandbox: checks a request as the contract says, runs its handler, sends the answer. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { type ResourceName, resourceWords } from '../data/resources.js';
import { Failure } from '../errors.js';
import { answerWithFault, jsonAnswer, type Rendered } from './fault-answer.js';
import type { Faults } from './faults.js';
import type { FileStoreParts } from './file-store.js';
import { type Grant, isSameSecret, type SignUrl } from './keys.js';
import { personality } from './personality.js';
import type { SandboxEvent } from './records.js';
import { forbidden, invalid, noSuchRecord, Refusal } from './refusal.js';
import {
  checkBody,
  checkBodyOrganization,
  isOwnHost,
  type Received,
  readJsonBody,
  receive,
  requestTarget,
} from './request.js';
import { type Match, matchRoute, routesOf, runHandler, type ServedRoute } from './routes.js';
import { identityPath, identityProof } from './server-file.js';
import { createEffects, type Effects, renderRefusal, renderReply } from './shapes/answers.js';
import { fromWire, idFromPath } from './shapes/fields.js';
import { noShapes, type Shapes } from './shapes/shapes.js';
import type { FileBytes } from './storage.js';

interface ServerParts extends Omit<FileStoreParts, 'secret'> {
  readonly grantOf: (key: string) => Grant | undefined;
  readonly strictEvents: boolean;
  readonly shapes: Shapes;
  /** The file store, for the signed paths of a `$path`. */
  readonly files: RequestListener;
  readonly signUrl: SignUrl;
  readonly admin: Admin;
}

/** The request listener of the API: the contract's endpoints under `/v1`, the admin routes beside it. */
export function newApiListener(parts: ServerParts): RequestListener {
  const api = { ...parts, routes: routesOf(parts.shapes), effects: createEffects(parts.shapes) };
  const links = ['download', 'preview'].map((key) => parts.shapes.template(key, 'documents'));
  const servesFiles = JSON.stringify(links).includes('$path');
  return (request, response) => {
    if (servesFiles && isSignedPath(request)) parts.files(request, response);
    else respond(api, request, response).catch(() => response.destroy());
  };
}

interface ApiParts extends ServerParts {
  readonly routes: readonly ServedRoute[];
  readonly effects: Effects;
}

/** A file by a URL that is relative to this server. */
function isSignedPath({ url = '', method }: IncomingMessage): boolean {
  return method === 'GET' && url.startsWith('/documents/') && url.includes('signature=');
}

async function respond(
  parts: ApiParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { path } = requestTarget(request);
  if (isAdminPath(path) || !isOwnHost(request.headers.host)) {
    send(response, await answerOrRefuse(parts, await receive(request)));
    return;
  }
  const { record, fault } = parts.faults.register('api', request.method ?? 'GET', path);
  const received = await receive(request);
  if (!fault) {
    const answered = await answerOrRefuse(parts, received);
    record.applied = answered.status < 400;
    send(response, answered);
    return;
  }
  record.applied = await answerWithFault({
    fault,
    response,
    carryOut: () => answerOrRefuse(parts, received),
    refuse: (status, code) =>
      renderRefusal(parts.shapes, new Refusal(status, code, 'an injected fault')),
    now: parts.now,
  });
}

async function answerOrRefuse(parts: ApiParts, request: Received): Promise<Rendered> {
  try {
    return await answer(parts, request);
  } catch (error) {
    const shapes = isAdminPath(request.path) ? noShapes : parts.shapes;
    if (error instanceof Refusal) return renderRefusal(shapes, error);
    const message = error instanceof Error ? error.message : 'unknown failure';
    return renderRefusal(shapes, new Refusal(500, personality.codes.internalError, message));
  }
}

async function answer(parts: ApiParts, request: Received): Promise<Rendered> {
  if (!isOwnHost(request.headers.host)) throw forbidden('this sandbox serves this machine only');
  const { path, query } = request;
  if (isAdminPath(path)) return jsonAnswer(JSON.stringify(answerAdmin(parts.admin, request)));
  if (!path.startsWith('/v1/')) throw dashboardOnly();
  const grant = authenticate(parts, request.headers['x-api-key']);
  const match = matchRoute(parts.routes, request.method, path.slice('/v1'.length), query);
  if (!match.found) throw unknownRoute(match);
  const { name, method, row, permission } = match.route;
  const { resource } = row;
  const { strictEvents, shapes, signUrl, state, effects } = parts;
  if (!grant.allows(permission)) throw forbidden(`the key lacks the permission ${permission}`);
  // A row that has no use for the body of a request ignores it.
  const given = row.body || row.org === 'body' ? readJsonBody(request) : {};
  const { organizationId } = grant;
  const body = checkBodyOrganization(row, organizationId, {
    params: match.params,
    query,
    body: fromWire(shapes, resource, given),
  });
  checkBody(row, body);
  const params = storedIds(parts, resource, match.params);
  const replaces = shapes.value('update.method', resource) === 'PUT-replace';
  const now = parts.now();
  const call = { params, body, organizationId, strictEvents, replaces, signUrl, now };
  const asked = {
    shapes,
    resource,
    organizationId,
    url: new URL(`http://${request.headers.host}${request.url}`),
    fileOf: (key: string) => fileOf(parts.bytes, key),
  };
  if (method === 'GET') {
    const reply = runHandler(name, { ...call, tables: state.read(), steps: [] });
    const rendered = await renderReply(asked, reply);
    await effects.afterRead(state);
    return rendered;
  }
  const reply = await state.change((tables, steps) => {
    const done = runHandler(name, { ...call, tables, steps });
    effects.decide({ answer: done.answer, resource, steps, tables, now });
    return done;
  });
  return renderReply(asked, reply);
}

/** The parameters of a path with the id under which the record is stored. Throws 404 where there is none. */
function storedIds({ shapes }: ApiParts, resource: ResourceName, params: PathParams): PathParams {
  const { idName } = resourceWords[resource];
  const given = params[idName];
  if (given === undefined) return params;
  const id = idFromPath(shapes, resource, given);
  if (id === undefined) throw noSuchRecord(given);
  return { ...params, [idName]: id };
}

type PathParams = Record<string, string>;

async function fileOf(bytes: FileBytes, key: string): Promise<Buffer> {
  const stored = bytes.find(key);
  const chunks: Buffer[] = [];
  if (stored && stored.sizeBytes > 0)
    for await (const chunk of stored.open(0, stored.sizeBytes - 1)) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Contract section 5. */
function authenticate(parts: ServerParts, key: string | string[] | undefined): Grant {
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

function unknownRoute(match: Match & { found: false }): Refusal {
  const { codes } = personality;
  if (match.allow.length === 0) return new Refusal(404, codes.notFound, 'there is no such path');
  const allow = match.allow.join(', ');
  return new Refusal(405, codes.methodNotAllowed, `this path accepts ${allow}`, { allow });
}

function send(response: ServerResponse, { status, headers, bytes }: Rendered): void {
  response
    .writeHead(status, {
      ...headers,
      ...(bytes && { 'content-length': bytes.length }),
      'cache-control': 'no-store',
    })
    .end(bytes);
}

/** The data behind the routes. They accept the server's token and never an API key. */
interface Admin {
  readonly token: string;
  events(): readonly SandboxEvent[];
  readonly faults: Faults;
}

const root = '/_sandbox/';

const isAdminPath = (path: string) => path.startsWith(root);

/** Returns the JSON of the admin routes; all but the proof of identity need the token in `x-sandbox-token`. */
function answerAdmin(admin: Admin, request: Received): unknown {
  const { method, path, query, headers } = request;
  const reads = method === 'GET';
  if (path === identityPath && reads)
    return { proof: identityProof(admin.token, query.get('nonce') ?? '') };
  const token = headers['x-sandbox-token'];
  if (typeof token !== 'string' || !isSameSecret(token, admin.token))
    throw new Refusal(401, 'unauthorized', 'the header x-sandbox-token is missing or wrong');
  if (path === `${root}faults` && !reads) setFaults(admin, request);
  else if (!reads) throw new Refusal(405, 'methodNotAllowed', 'GET only', { allow: 'GET' });
  if (path === `${root}faults`) return admin.faults.rules();
  if (path === `${root}requests`) return admin.faults.requests();
  if (path === `${root}events`) return admin.events();
  throw new Refusal(404, 'notFound', 'there is no such path');
}

/** POST replaces the rules with those of `{"faults": […]}`; DELETE removes all. */
function setFaults({ faults }: Admin, request: Received): void {
  if (request.method === 'DELETE') {
    faults.replace([]);
    return;
  }
  if (request.method !== 'POST')
    throw new Refusal(405, 'methodNotAllowed', 'GET, POST and DELETE', {
      allow: 'GET, POST, DELETE',
    });
  const { faults: rules } = readJsonBody(request);
  if (!Array.isArray(rules) || !rules.every((each) => typeof each === 'string'))
    throw invalid('faults must be a list of texts');
  try {
    faults.replace(rules);
  } catch (error) {
    throw error instanceof Failure ? invalid(`${error.message} ${error.hint ?? ''}`) : error;
  }
}
