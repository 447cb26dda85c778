import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { JsonObject } from '../../src/data/json.js';
import type { ThisProcess } from '../../src/files/holder.js';
import { type SandboxServer, startSandbox } from '../../src/sandbox/embedded.js';
import { isAlive } from '../support/alive.js';

export const self: ThisProcess = { pid: process.pid, isAlive };

/** The moment at which the tests' clocks begin. */
export const start = new Date('2026-03-01T12:00:00.000Z');

/** A folder that is gone when the test is. */
export function scratch(): string {
  const dir = mkdtempSync(join(tmpdir(), 'rosterctl-sandbox-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** A running sandbox with a clock that the test sets. */
export interface TestSandbox extends SandboxServer {
  readonly stateDir: string;
  readonly clock: { now: Date };
}

export async function newSandbox(
  options: { stateDir?: string; seedSize?: 'small' | 'large' } = {},
): Promise<TestSandbox> {
  const stateDir = options.stateDir ?? scratch();
  const clock = { now: start };
  const { seedSize } = options;
  const now = () => clock.now;
  const sandbox = await startSandbox({ stateDir, self, now, seedSize });
  onTestFinished(() => sandbox.close());
  return { ...sandbox, stateDir, clock };
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
  readonly text: string;
  /** The body as JSON; throws when it is none. */
  readonly json: JsonObject;
}

export interface Sent {
  readonly headers?: Record<string, string | number>;
  readonly body?: string | Buffer;
  /** Called when the service asks for the body, with an `expect: 100-continue`; the body follows. */
  readonly onContinue?: () => void;
}

/** One literal HTTP request, nothing added but Host and framing. */
export function http(
  method: string,
  url: string,
  { headers = {}, body, onContinue }: Sent = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const bytes = Buffer.concat(chunks);
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          bytes,
          text: bytes.toString(),
          get json() {
            return JSON.parse(bytes.toString()) as JsonObject;
          },
        });
      });
    });
    sent.on('error', reject);
    if (!onContinue) return void sent.end(body);
    sent.flushHeaders();
    return void sent.once('continue', () => {
      onContinue();
      sent.end(body);
    });
  });
}

/** A call of the API with the full key and a JSON body. */
export function call(
  sandbox: SandboxServer,
  line: string,
  body?: unknown,
  { key = sandbox.apiKey }: { key?: string } = {},
): Promise<Answer> {
  const [method = 'GET', path = '/'] = line.split(' ');
  const text = body === undefined ? undefined : JSON.stringify(body);
  return http(method, `${sandbox.baseUrl}${path}`, {
    headers: {
      'x-api-key': key,
      ...(text !== undefined && {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
      }),
    },
    ...(text !== undefined && { body: text }),
  });
}

/** Status and code of an answer, to compare in one go. */
export function verdict(answer: Answer): string {
  const { error, message } = answer.json;
  if (typeof message !== 'string') throw new Error('an error carries a message');
  return `${answer.status} ${String(error)}`;
}

/** A sandbox in memory with these shapes. */
export async function shaped(...shapes: string[]): Promise<SandboxServer> {
  const sandbox = await startSandbox({ stateDir: undefined, self, now: () => start, shapes });
  onTestFinished(() => sandbox.close());
  return sandbox;
}

/** What stands on the wire, with signed URLs left out. */
export function wire({ status, headers, text }: Answer): string {
  const type = headers['content-type'];
  const shown = text
    .replaceAll(/"https?:\/\/127[^"]*"/g, '"URL"')
    .replaceAll(/"\/documents\/[^"]*"/g, '"PATH"');
  const body =
    type === 'application/json' || type === undefined ? shown : `${String(type)}: ${shown}`;
  const location = headers['location'];
  const target = typeof location === 'string' ? `-> ${location.slice(0, 17)}` : '';
  return [status, body, target].filter((part) => part !== '').join(' ');
}

/** Leaves of a record only its id. */
export const short = 'record={"id":"$id"}';

/** The teams that were added to those of the demo: `ID NAME`. */
export async function createdTeams(sandbox: Pick<TestSandbox, 'baseUrl' | 'apiKey'>) {
  const { json } = await call(sandbox as TestSandbox, 'GET /teams/org_demo');
  const teams = json['teams'] as { id: string; name: string }[];
  return teams.slice(6).map(({ id, name }) => `${id} ${name}`);
}

/** The lines of a writer's output. */
export const answered = (text: string) => text.split('\n').filter((line) => line !== '');
