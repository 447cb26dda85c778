import type { IncomingMessage } from 'node:http';
import type { Reply } from './handler.js';
import { identityPath, identityProof } from './identity.js';
import { isSameSecret } from './keys.js';
import type { SandboxEvent } from './records.js';
import { Refusal } from './refusal.js';

/** What the routes beside `/v1` show. They know the server's own token and never an API key. */
export interface Admin {
  readonly token: string;
  events(): readonly SandboxEvent[];
  /** The requests that the file store saw, newest last. */
  fileRequests(): readonly unknown[];
}

const root = '/_sandbox/';

/** Whether a path is one of ours beside the contract's. */
export const isAdminPath = (path: string) => path.startsWith(root);

/** Answers the admin routes; all but the proof of identity need the token in `x-sandbox-token`. */
export function answerAdmin(
  admin: Admin,
  request: IncomingMessage,
  path: string,
  query: URLSearchParams,
): Reply {
  if (request.method !== 'GET') throw new Refusal(405, 'methodNotAllowed', 'GET only', get);
  if (path === identityPath)
    return { status: 200, body: { proof: identityProof(admin.token, query.get('nonce') ?? '') } };
  const token = request.headers['x-sandbox-token'];
  if (typeof token !== 'string' || !isSameSecret(token, admin.token))
    throw new Refusal(401, 'unauthorized', 'the header x-sandbox-token is missing or wrong');
  if (path === `${root}events`) return { status: 200, body: admin.events() };
  if (path === `${root}file-requests`) return { status: 200, body: admin.fileRequests() };
  throw new Refusal(404, 'notFound', 'there is no such path');
}

const get = { allow: 'GET' };
