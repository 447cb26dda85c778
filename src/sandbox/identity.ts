import { createHmac, randomBytes } from 'node:crypto';
import { get } from 'node:http';
import { isObject } from '../data/json.js';
import { isSameSecret } from './keys.js';

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
