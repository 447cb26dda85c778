/** The routes outside `/v1`: identity, events, requests and faults of a running server. */

import { Failure } from '../errors.js';
import { type Faults, faultsIn } from './faults.js';
import { isSameSecret } from './keys.js';
import type { SandboxEvent } from './records.js';
import { invalid, Refusal } from './refusal.js';
import { type Received, readJsonBody } from './request.js';
import { identityPath, identityProof } from './server-file.js';

/** The data behind the routes. They accept the server's token and never an API key. */
export interface Admin {
  readonly token: string;
  events(): readonly SandboxEvent[];
  readonly faults: Faults;
}

export interface AdminReply {
  readonly status: number;
  readonly body: unknown;
}

const root = '/_sandbox/';

export const isAdminPath = (path: string) => path.startsWith(root);

/** Answers the admin routes; all but the proof of identity need the token in `x-sandbox-token`. */
export async function answerAdmin(
  admin: Admin,
  request: Received,
  path: string,
  query: URLSearchParams,
): Promise<AdminReply> {
  const reads = request.method === 'GET';
  if (path === identityPath && reads)
    return { status: 200, body: { proof: identityProof(admin.token, query.get('nonce') ?? '') } };
  const token = request.headers['x-sandbox-token'];
  if (typeof token !== 'string' || !isSameSecret(token, admin.token))
    throw new Refusal(401, 'unauthorized', 'the header x-sandbox-token is missing or wrong');
  if (path === `${root}faults` && !reads) await setFaults(admin, request);
  else if (!reads) throw new Refusal(405, 'methodNotAllowed', 'GET only', get);
  if (path === `${root}faults`) return { status: 200, body: admin.faults.rules() };
  if (path === `${root}requests`) return { status: 200, body: admin.faults.requests() };
  if (path === `${root}events`) return { status: 200, body: admin.events() };
  throw new Refusal(404, 'notFound', 'there is no such path');
}

/** POST replaces the rules with those of `{"faults": […]}`; DELETE removes all. */
async function setFaults({ faults }: Admin, request: Received): Promise<void> {
  if (request.method === 'DELETE') {
    faults.replace([]);
    return;
  }
  if (request.method !== 'POST')
    throw new Refusal(405, 'methodNotAllowed', 'GET, POST and DELETE', {
      allow: 'GET, POST, DELETE',
    });
  const rules = faultsIn(await readJsonBody(request, 'payloadTooLarge'));
  if (!rules) throw invalid('faults must be a list of texts');
  try {
    faults.replace(rules);
  } catch (error) {
    throw error instanceof Failure ? invalid(`${error.message} ${error.hint ?? ''}`) : error;
  }
}

const get = { allow: 'GET' };
