import { constants } from 'node:buffer';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeFailure } from '../src/cli/failure.js';
import { systemReason } from '../src/data/system-errors.js';
import { NetworkError, UnknownOutcomeError } from '../src/errors.js';
import { cannotWrite } from '../src/files/writing.js';
import { errorOf, rosterctl, temporaryFolder } from './support/run.js';
import { recordingService } from './support/service.js';

const describe = (error: unknown) =>
  describeFailure(error, {
    words: ['teams', 'list'],
    ids: [],
    keySource: undefined,
    flags: {},
    redacted: (text) => text,
    isVerbose: false,
    table: { version: '0.0.0', groups: [], commands: [], topics: [], withoutConnection: [] },
  });

const thrownBy = (work: () => unknown): unknown => {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
};

const systemError = (code: string) => Object.assign(new Error(`${code}: open '/x'`), { code });

test.each<[string, unknown]>([
  ['a text that is too long', thrownBy(() => 'x'.repeat(constants.MAX_STRING_LENGTH + 1))],
  ['a list that is too long', thrownBy(() => (([] as unknown[]).length = 2 ** 32))],
  ['bytes beyond the memory', thrownBy(() => new ArrayBuffer(2 ** 52))],
  ['ENOMEM', systemError('ENOMEM')],
  ['a report that ran out of it', cannotWrite('x.csv', systemError('ENOMEM'))],
])('%s is reported as out of memory, with exit code 1 and no stack', (_, error) => {
  const { lines, exitCode, envelope } = describe(error);
  expect([exitCode, envelope.error.code]).toEqual([1, 'memory']);
  expect(lines[0]).toMatch(/not enough memory|memory is used up/);
  expect(lines.join(' ')).toMatch(/--concurrency.*ulimit/);
  expect(lines.join(' ')).not.toMatch(/bug|at .*:\d+/);
});

test.each([
  ['EIO', 'the device reports an error'],
  ['ENOSPC', 'the disk is full'],
  ['EROFS', 'the file system is read-only'],
  ['ENOTCONN', 'its file system is no longer connected'],
  ['ENODEV', 'the device is gone'],
  ['EINVAL', 'its file system does not accept that'],
  ['ENOTSUP', 'its file system cannot do that'],
])('%s where nothing else words it names the file, and is no bug', (code, reason) => {
  const { lines, exitCode, envelope } = describe(
    Object.assign(systemError(code), { path: '/state/locks', syscall: 'scandir' }),
  );
  expect([exitCode, envelope.error.code]).toEqual([1, 'output']);
  expect(lines).toEqual([
    `/state/locks cannot be read or written: ${reason} (${code}).`,
    'Check the disk and the permissions, then run the same command again.',
  ]);
});

test.each([
  [-126, 'its folder is encrypted and locked (ENOKEY)'],
  [-122, 'the disk quota is used up (EDQUOT)'],
  [-116, 'the network file system no longer knows it (ESTALE)'],
])('the error %i, which Node does not name, has a name', (errno, reason) => {
  for (const code of ['UNKNOWN', `Unknown system error ${errno}`]) {
    const error = Object.assign(systemError(code), { errno, syscall: 'read' });
    expect(systemReason(error)).toBe(reason);
    expect(describe(error).lines[0]).toBe(`A file cannot be read or written: ${reason}.`);
  }
});

test('too many open files leave the outcome of an ambiguous write unknown', () => {
  const cause = systemError('EMFILE');
  const lost = new UnknownOutcomeError('The answer was lost.', undefined, { cause });
  expect(describe(lost).exitCode).toBe(10);
  const unsent = new NetworkError('no', { reason: 'lost', origin: 'https://x.example', cause });
  expect([describe(unsent).exitCode, describe(unsent).envelope.error.code]).toEqual([
    1,
    'openFiles',
  ]);
});

test('a process that may open too few files reports it in every format and sends nothing', async () => {
  const home = temporaryFolder();
  mkdirSync(join(home, 'many'));
  for (let index = 0; index < 60; index++)
    writeFileSync(join(home, 'many', `f${index}.txt`), `file ${index}`);
  const { env, requests } = await recordingService(() => ({ status: 200, json: {} }));
  const line = 'docs upload -r many --yes';
  // Few enough that Node starts but the files cannot be read.
  const at = { env, home, cwd: home, through: 'ulimit -n 24; exec "$@"' };
  const ran = await rosterctl(line, at);
  expect([ran.code, ran.stdout]).toEqual([1, '']);
  expect(ran.stderr).toMatch(/too many files are open/i);
  expect(ran.stderr).toContain('ulimit -n 4096');
  expect(ran.stderr).not.toMatch(/bug|\.cjs/);
  const json = await rosterctl(`${line} --json`, at);
  expect([json.code, errorOf(json)['code'], errorOf(json)['exitCode']]).toEqual([
    1,
    'openFiles',
    1,
  ]);
  expect(requests).toEqual([]);
});

test('a limit of virtual memory that is too low for a connection is named, with a way around', async () => {
  const { env, requests } = await recordingService(() => ({ status: 200, json: [] }));
  // Node starts with it, but up to Node 22 it cannot load the parser of HTTP.
  const through = 'ulimit -v 4000000; exec "$@"';
  const ran = await rosterctl('teams list --json', { env, through });
  if (Number(process.versions.node.split('.')[0]) >= 24) expect(ran.stdout).toBe('[]\n');
  else {
    expect([ran.code, errorOf(ran)['code'], requests]).toEqual([1, 'memory', []]);
    expect(ran.stderr).toContain('ulimit -v 16777216');
  }
  const around = { ...env, NODE_OPTIONS: '--disable-wasm-trap-handler' };
  expect((await rosterctl('teams list --json', { env: around, through })).stdout).toBe('[]\n');
});

test('a run that too few files end prints its report, or says that nothing was sent', async () => {
  const players = Array.from({ length: 40 }, (_, at) => ({ id: `p${at}`, name: `P${at}` }));
  const { env, requests } = await recordingService(({ url }) => ({
    status: 200,
    json: players.find(({ id }) => url.endsWith(`/${id}`)) ?? { players, total: 40 },
  }));
  const line = 'players update --all -F motto=x --yes --concurrency 64 --json';
  const through = 'ulimit -n 30; exec "$@"';
  const ran = await rosterctl(line, { env, home: temporaryFolder(), through });
  expect(ran.code).toBe(1);
  if (ran.stdout !== '') return expect(JSON.parse(ran.stdout).summary.total).toBe(40);
  expect(errorOf(ran).message).toMatch(/too many files are open \(EMFILE\)\. Nothing was sent\.$/);
  expect(requests.filter(({ method }) => method !== 'GET')).toEqual([]);
});

test.each([24, 28, 32])(
  'where only %i files may be open, that is the reason given',
  async (most) => {
    const { env } = await recordingService(({ url }) => ({
      status: 200,
      json: { id: url.slice(url.lastIndexOf('/') + 1), name: 'P' },
    }));
    const ids = Array.from({ length: 20 }, (_, at) => `p${at}`).join(' ');
    // All rows open a connection at once, before the parser of answers was needed.
    const line = `players update ${ids} -F motto=x --yes --concurrency 16 --retries 1 --json`;
    const ran = await rosterctl(line, { env, through: `ulimit -n ${most}; exec "$@"` });
    expect(ran.code).toBe(1);
    expect(ran.stderr).toMatch(/too many (open )?files/i);
    expect(ran.stderr).not.toMatch(/was lost|https/);
  },
);
