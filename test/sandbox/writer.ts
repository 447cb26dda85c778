import { request } from 'node:http';
import { openSandbox } from '../../src/sandbox/embedded.js';
import { isAlive } from '../support/alive.js';

// A process of the sandbox's tests. `write DIR TIMES` creates teams and prints each one that was
// answered; `url DIR` prints a signed URL and stays.
const [, , mode = '', stateDir = '', times = '0'] = process.argv;

async function main(): Promise<void> {
  const sandbox = await openSandbox({
    stateDir,
    self: { pid: process.pid, isAlive },
    now: () => new Date(),
  });
  const headers = { 'x-api-key': sandbox.apiKey, 'content-type': 'application/json' };
  if (mode === 'url') {
    const link = await send('GET', `${sandbox.baseUrl}/documents/doc_0001/download`, headers);
    process.stdout.write(`${JSON.parse(link).url}\n`);
    setInterval(() => {}, 1000);
    return;
  }
  for (let turn = 0; turn < Number(times); turn += 1) {
    const name = `${process.pid}-${turn}`;
    const body = JSON.stringify({ organizationId: sandbox.organizationId, name });
    const team = JSON.parse(await send('POST', `${sandbox.baseUrl}/teams`, headers, body));
    process.stdout.write(`${team.id} ${team.name}\n`);
  }
  await sandbox.close();
}

function send(
  method: string,
  url: string,
  headers: Record<string, string>,
  body?: string,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve(text));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

void main();
