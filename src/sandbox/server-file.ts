import { createHmac, randomBytes } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { isObject } from '../data/json.js';
import { GuardError } from '../errors.js';
import { writeAtomically } from '../files/atomic-write.js';
import { acquireLock, type HeldLock, lockHolder, type ThisProcess } from '../files/lock.js';
import { isSameSecret } from './keys.js';

/** What a running `sandbox start` leaves for the other commands, in a 0600 file. */
export interface ServerNote {
  readonly pid: number;
  readonly origin: string;
  readonly fileUrl: string;
  /** The server proves on its identity route that it knows this. */
  readonly token: string;
}

/** Makes this process the folder's one server. Throws GuardError `locked` when there is one. */
export async function becomeServer(dir: string, self: ThisProcess): Promise<HeldLock> {
  try {
    return await acquireLock(dir, 'server', { self, waitMs: 0, purpose: 'sandbox start' });
  } catch (error) {
    if (!(error instanceof GuardError)) throw error;
    const holder = lockHolder(dir, 'server', self);
    throw new GuardError(
      `A sandbox server runs on this state${holder ? ` (process ${holder.pid})` : ''}.`,
      { code: 'locked', hint: 'Stop it first with Ctrl-C.', cause: error },
    );
  }
}

/** Tells the other commands where the server is. */
export function writeServerNote(dir: string, note: ServerNote): Promise<void> {
  return writeAtomically(pathOf(dir), `${JSON.stringify(note)}\n`);
}

export function removeServerNote(dir: string): void {
  rmSync(pathOf(dir), { force: true });
}

/**
 * The server that runs on this state, after it proved that it knows the token. Removes the file of a
 * server that has ended, whatever listens on its port now.
 */
export async function findServer(dir: string, self: ThisProcess): Promise<ServerNote | undefined> {
  const note = readServerNote(dir);
  if (!note) return undefined;
  if (lockHolder(dir, 'server', self))
    return (await provesToken(note.origin, note.token)) ? note : undefined;
  discardNote(dir);
  return undefined;
}

function discardNote(dir: string): void {
  try {
    removeServerNote(dir);
  } catch {
    // A folder that cannot be written keeps it; it is recognised as stale each time.
  }
}

function readServerNote(dir: string): ServerNote | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(pathOf(dir), 'utf8'));
    return isNote(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isNote(value: unknown): value is ServerNote {
  if (!isObject(value)) return false;
  const { pid, origin, fileUrl, token } = value;
  return (
    typeof pid === 'number' &&
    typeof origin === 'string' &&
    /^http:\/\/127\.0\.0\.1:\d+$/.test(origin) &&
    typeof fileUrl === 'string' &&
    typeof token === 'string'
  );
}

const pathOf = (dir: string) => join(dir, 'server.json');

/** The route, outside `/v1`, on which a sandbox server proves that it knows its token without sending it. */
export const identityPath = '/_sandbox/identity';

/** Enough for a server on a busy machine; without a slower one a command serves itself. */
const answerMs = 3000;

/** The proof for one nonce. */
export function identityProof(token: string, nonce: string): string {
  return createHmac('sha256', token).update(nonce).digest('hex');
}

/** Asks the server at an origin to prove that it knows the token; false also when it does not answer. */
export async function provesToken(origin: string, token: string): Promise<boolean> {
  const nonce = randomBytes(16).toString('hex');
  const proof = await ask(`${origin}${identityPath}?nonce=${nonce}`);
  return isSameSecret(proof, identityProof(token, nonce));
}

function ask(url: string): Promise<string> {
  return new Promise((resolve) => {
    const request = get(
      url,
      { agent: false, signal: AbortSignal.timeout(answerMs) },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          text += chunk;
          // Another program may listen on that port and answer without end.
          if (text.length > 4096) request.destroy();
        });
        response.on('end', () => resolve(proofIn(text)));
      },
    );
    request.on('error', () => resolve(''));
    request.on('close', () => resolve(''));
  });
}

function proofIn(text: string): string {
  try {
    const body: unknown = JSON.parse(text);
    return isObject(body) && typeof body['proof'] === 'string' ? body['proof'] : '';
  } catch {
    return '';
  }
}
