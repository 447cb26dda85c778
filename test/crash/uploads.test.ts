import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parseJournal } from '../../src/runs/journal.js';
import { runFolders, runsOf } from '../bulk/user.js';
import { closed, freshEnvironment, launcher, temporaryFolder } from '../support/run.js';
import { seeded } from '../support/seeded.js';
import { readBody } from '../support/service.js';

// Kills (-9) an upload of many files repeatedly while answers of the service and the store are lost.
// In the end there is one document for each file, with its bytes.

const kills = Number(process.env['CRASH_KILLS'] ?? 50) / 2;
const files = 30;

const children = new Set<ChildProcess>();
const servers: { close(): unknown; closeAllConnections(): void }[] = [];
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

test(`${kills} kills of an upload of ${files} files`, { timeout: 600_000 }, async () => {
  const random = seeded(Number(process.env['CRASH_SEED'] ?? 20_260_302));
  let killed = 0;
  while (killed < kills) {
    const home = temporaryFolder();
    const service = await lossyService(random, home);
    const paths = Array.from({ length: files }, (_, index) => {
      const path = join(home, `file-${index}.txt`);
      writeFileSync(path, `${index} `.repeat(index * 700 + 1));
      return path;
    });
    const upload = ['docs', 'upload', ...paths, '--json'];
    const finish = ['uploads', 'finish', '--all', '--json'];
    const ran = await untilItEnds([upload, finish], service.env, home, random);
    killed += ran.kills;
    expect([ran.code, ran.stderr.includes(' at ')]).toEqual([0, false]);
    expect(JSON.parse(ran.stdout)).toMatchObject({ summary: { failed: 0, unknown: 0 } });
    // One document for each file, with the bytes of the file.
    const made = service.documents.map(({ name, fileKey }) => [name, service.stored.get(fileKey)]);
    const wanted = paths.map((path) => [
      path.slice(path.lastIndexOf('/') + 1),
      sha256(readFileSync(path)),
    ]);
    expect(made.map(String).toSorted()).toEqual(wanted.map(String).toSorted());
    expect(service.sentAgain).toEqual([]);
    // Bytes without a document were reported.
    const recorded = new Set(service.documents.map(({ fileKey }) => fileKey));
    const silent = [...service.stored.keys()].filter(
      (key) => !recorded.has(key) && !ran.stderr.includes(key),
    );
    expect(silent).toEqual([]);
    expect(service.keySeen).toBe(0);
  }
});

interface Made {
  readonly name: string;
  readonly fileKey: string;
}

/** A service and a store that lose answers; the store notes the journal's state when bytes arrive. */
async function lossyService(random: () => number, home: string) {
  const documents: Made[] = [];
  const stored = new Map<string, string>();
  const sentAgain: string[] = [];
  const seen = { key: 0 };
  let grants = 0;
  const store = await listen(async (request, response) => {
    const key = decodeURIComponent(new URL(request.url ?? '', 'http://x').pathname.slice(1));
    if (JSON.stringify(request.headers).includes('canary')) seen.key += 1;
    const size = Number(request.headers['content-length']);
    if (arrivedSizes(home).includes(size)) sentAgain.push(key);
    const fate = random();
    if (fate < 0.03) return request.destroy();
    const body = await readBody(request);
    if (body.length !== size) return undefined;
    stored.set(key, sha256(body));
    return fate < 0.06 ? response.destroy() : response.writeHead(200).end();
  });
  const api = await listen(async (request, response) => {
    const body = JSON.parse((await readBody(request)).toString() || '{}') as Made & object;
    const answer = (value: unknown) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    if (request.method === 'GET') {
      const all = documents.map((made, index) => ({ id: `doc_${index}`, ...made }));
      // Without a total a list of exactly 25 could be a truncated page.
      return answer({ documents: all, total: all.length });
    }
    if (request.url === '/v1/uploads/document-file') {
      const key = `files/${++grants}.txt`;
      return answer({ key, fileRef: `ref:${key}`, uploadUrl: `${store}/${key}?sig=1` });
    }
    const fate = random();
    if (fate < 0.03) return response.destroy();
    const make = () => documents.push(body);
    if (fate < 0.06) {
      setTimeout(make, 60);
      return response.destroy();
    }
    make();
    return fate < 0.1 ? response.destroy() : answer({ id: `doc_${documents.length - 1}`, ...body });
  });
  const env = {
    ROSTERCTL_BASE_URL: `${api}/v1`,
    ROSTERCTL_ORG: 'org_7',
    ROSTERCTL_API_KEY: 'sk_canary_1',
    ROSTERCTL_SETTLE: '0.5s',
  };
  return {
    env,
    documents,
    stored,
    sentAgain,
    get keySeen() {
      return seen.key;
    },
  };
}

/** The sizes of the files that the journals record as completely stored. */
function arrivedSizes(home: string): number[] {
  return runFolders(runsOf(home)).flatMap((folder) => {
    const path = join(folder, 'journal.jsonl');
    // A process killed before its first record sent nothing.
    if (!existsSync(path)) return [];
    const { records } = parseJournal(readFileSync(path), path);
    return records
      .filter(({ kind, state }) => kind === 'step' && state === 'put_done')
      .map(({ row }) => `${Number(row) - 1} `.length * ((Number(row) - 1) * 700 + 1));
  });
}

/** Runs the commands in turn and kills each at a random moment, until one ends by itself. */
async function untilItEnds(
  lines: readonly (readonly string[])[],
  env: Record<string, string>,
  home: string,
  random: () => number,
) {
  let stderr = '';
  for (let count = 0; ; count++) {
    // The first command starts the upload; afterwards any of them resumes it.
    const line = lines[count === 0 ? 0 : Math.floor(random() * lines.length)] ?? [];
    const child = spawn(process.execPath, [launcher, ...line], {
      env: { ...freshEnvironment(home), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.add(child);
    let stdout = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk));
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk));
    const ended = closed(child);
    const timer =
      count < 12 ? setTimeout(() => child.kill('SIGKILL'), 150 + random() * 400) : undefined;
    const code = await ended;
    clearTimeout(timer);
    children.delete(child);
    // If the first command was killed before its run started, there was nothing to finish.
    const nothing = stdout.includes('"total":0');
    // Killed while exiting: its output was complete, and no later start had more to do.
    const isLast = stdout.endsWith('\n') && !nothing && stdout.includes('"unknown":0');
    if (code === null && isLast) return { code: 0, stdout, stderr, kills: count };
    // 10: two consecutive answers were lost; another start verifies the outcome.
    if (code !== null && code !== 10 && !nothing) return { code, stdout, stderr, kills: count };
  }
}

async function listen(
  handler: (request: IncomingMessage, response: ServerResponse) => Promise<unknown>,
): Promise<string> {
  const server = createServer((request, response) => {
    request.on('error', () => {});
    handler(request, response).catch(() => response.destroy());
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
