import { request } from 'node:http';
import { openSandbox } from '../../src/sandbox/embedded.js';
import { isAlive } from '../support/alive.js';

// A process of the sandbox's tests. `write DIR TIMES` creates teams and prints each one that was
// answered; `reopen DIR TIMES` opens the sandbox for each write anew, and every second one marks a
// player.
const [, , mode = '', stateDir = '', times = '0'] = process.argv;

const open = () =>
  openSandbox({ stateDir, self: { pid: process.pid, isAlive }, now: () => new Date() });
type Opened = Awaited<ReturnType<typeof open>>;

async function main(): Promise<void> {
  let sandbox = await open();
  for (let turn = 0; turn < Number(times); turn += 1) {
    if (mode === 'reopen' && turn > 0) {
      await sandbox.close();
      sandbox = await open();
    }
    await (mode === 'reopen' && turn % 2 === 1 ? mark(sandbox, turn) : create(sandbox, turn));
  }
  await sandbox.close();
}

async function create(sandbox: Opened, turn: number): Promise<void> {
  const { organizationId } = sandbox;
  const made = await send(sandbox, 'POST /teams', {
    organizationId,
    name: `${process.pid}-${turn}`,
  });
  const team = JSON.parse(made);
  process.stdout.write(`${team.id} ${team.name}\n`);
}

async function mark(sandbox: Opened, turn: number): Promise<void> {
  const name = `mark_${process.pid}_${turn}`;
  const answer = await send(sandbox, 'PATCH /players/player_0001', { [name]: 1 });
  if (name in JSON.parse(answer)) process.stdout.write(`${name}\n`);
}

function send(sandbox: Opened, call: string, content?: object): Promise<string> {
  const [method, path = ''] = call.split(' ');
  const headers = { 'x-api-key': sandbox.apiKey, 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const options = { method, headers, agent: false };
    const sent = request(`${sandbox.baseUrl}${path}`, options, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve(text));
    });
    sent.on('error', reject);
    sent.end(content && JSON.stringify(content));
  });
}

void main();
