import { createHmac, randomBytes } from 'node:crypto';
import { get } from 'node:http';
import { isObject } from '../data/json.js';
import { isSameSecret } from './keys.js';

/** The route, outside `/v1`, on which a server of ours proves that it knows a secret without telling it. */
export const identityPath = '/_sandbox/identity';

/** Long enough for one of ours on a busy machine: taking it for a stranger would move the port. */
const patienceMs = 3000;

/** The proof for one question. */
export function identityProof(secret: string, nonce: string): string {
  return createHmac('sha256', secret).update(nonce).digest('hex');
}

/** Who listens at an origin: one of ours that knows `secret`, somebody else, or nobody. */
export async function whoListens(
  origin: string,
  secret: string,
): Promise<'ours' | 'stranger' | 'nobody'> {
  const nonce = randomBytes(16).toString('hex');
  const answer = await ask(`${origin}${identityPath}?nonce=${nonce}`);
  if (answer === 'nobody') return 'nobody';
  return isSameSecret(answer, identityProof(secret, nonce)) ? 'ours' : 'stranger';
}

function ask(url: string): Promise<string> {
  return new Promise((resolve) => {
    const request = get(
      url,
      { agent: false, signal: AbortSignal.timeout(patienceMs) },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          text += chunk;
          // A stranger may talk without end.
          if (text.length > 4096) request.destroy();
        });
        response.on('end', () => resolve(proofIn(text)));
      },
    );
    request.on('error', (error: NodeJS.ErrnoException) =>
      resolve(error.code === 'ECONNREFUSED' ? 'nobody' : ''),
    );
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
