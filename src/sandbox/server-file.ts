/** How commands find the server of `sandbox start`: a 0600 file with its address and a token. */
import { createHmac, randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { objectIn } from '../data/json.js';
import { writeAtomically } from '../files/atomic-write.js';
import type { ThisProcess } from '../files/holder.js';
import { acquireLock, type HeldLock, LockedError, lockHolder } from '../files/lock.js';
import { readOwnText } from '../files/private.js';
import { isSameSecret } from './keys.js';

/** The file by which other commands find a running `sandbox start`. */
interface ServerFile {
  readonly pid: number;
  readonly origin: string;
  readonly fileUrl: string;
  /** The server proves on its identity route that it knows this. */
  readonly token: string;
}

/** How long to wait for a reset, which takes milliseconds. */
const resetMs = 10_000;

/**
 * Keeps every other server and reset away from the folder. Throws GuardError `locked` when there is a
 * server.
 */
export async function lockServer(
  dir: string,
  self: ThisProcess,
  purpose: 'sandbox start' | 'sandbox reset',
): Promise<HeldLock> {
  const attempt = (waitMs: number) => acquireLock(dir, 'server', { self, waitMs, purpose });
  const first = attempt(0).catch((error: unknown) => {
    if (!isReset(error)) throw error;
    return attempt(resetMs);
  });
  return first.catch((error: unknown) => {
    if (!(error instanceof LockedError) || isReset(error)) throw error;
    const message = `A sandbox server is running on this data (process ${error.holder.pid}).`;
    throw error.inWords(message, 'Stop it first with Ctrl-C.');
  });
}

function isReset(error: unknown): boolean {
  return error instanceof LockedError && error.holder.purpose === 'sandbox reset';
}

export function writeServerFile(dir: string, content: ServerFile): Promise<void> {
  return writeAtomically(pathIn(dir), `${JSON.stringify(content)}\n`);
}

export function removeServerFile(dir: string): void {
  rmSync(pathIn(dir), { force: true });
}

/**
 * Finds the server that runs on this data and lets it prove that it knows the token. Silently
 * removes the file of a server that has ended, whatever listens on its port now.
 */
export async function findServer(dir: string, self: ThisProcess): Promise<ServerFile | undefined> {
  const file = readServerFile(dir);
  if (!file) return undefined;
  if (lockHolder(dir, 'server', self))
    return (await provesToken(file.origin, file.token)) ? file : undefined;
  try {
    removeServerFile(dir);
  } catch {
    // In a folder that cannot be written it stays, and is recognised as stale each time.
  }
  return undefined;
}

/** The route, outside `/v1`, on which a server proves that it knows its token without sending it. */
export const identityPath = '/_sandbox/identity';

/** The proof for one nonce. */
export function identityProof(token: string, nonce: string): string {
  return createHmac('sha256', token).update(nonce).digest('hex');
}

/** Enough for a server on a busy machine; without a slower one a command serves itself. */
const answerMs = 3000;

/** Asks the server at an origin to prove that it knows the token; false also when it does not answer. */
async function provesToken(origin: string, token: string): Promise<boolean> {
  const nonce = randomBytes(16).toString('hex');
  const proof = await readProof(`${origin}${identityPath}?nonce=${nonce}`);
  return isSameSecret(proof, identityProof(token, nonce));
}

/** The proof that a server answers; empty for any other answer. */
function readProof(url: string): Promise<string> {
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
  const { proof } = objectIn(text) ?? {};
  return typeof proof === 'string' ? proof : '';
}

function readServerFile(dir: string): ServerFile | undefined {
  let text: string;
  try {
    text = readOwnText(pathIn(dir));
  } catch {
    return undefined;
  }
  const { pid, origin, fileUrl, token } = objectIn(text) ?? {};
  if (typeof pid !== 'number' || typeof fileUrl !== 'string' || typeof token !== 'string')
    return undefined;
  if (typeof origin !== 'string' || !/^http:\/\/127\.0\.0\.1:\d+$/.test(origin)) return undefined;
  return { pid, origin, fileUrl, token };
}

const pathIn = (dir: string) => join(dir, 'server.json');
