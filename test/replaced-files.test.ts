import { spawn, spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { dirname, join } from 'node:path';
import pty from '@lydell/node-pty';
import { describe, expect, test } from 'vitest';
import { keepOpen } from './support/converse.js';
import {
  freshEnvironment,
  launcher,
  type Ran,
  splitWords,
  temporaryFolder,
} from './support/run.js';
import { organization, type Recorded, type Reply, recordingService } from './support/service.js';

// An update of rosterctl replaces its files while a command starts or runs, or leaves them incomplete.

const root = join(dirname(launcher), '..');
const sentence =
  'The files of rosterctl are incomplete, or were replaced while it was running.\nRun the same command again. If that does not help, install rosterctl again.\n';

/** A copy of the installed program. */
function install() {
  const folder = temporaryFolder('installed');
  for (const part of ['bin', 'dist', 'package.json'])
    cpSync(join(root, part), join(folder, part), { recursive: true });
  const dist = join(folder, 'dist');
  const chunks = readdirSync(join(dist, 'chunks'))
    .filter((name) => name.endsWith('.cjs'))
    .map((name) => join(dist, 'chunks', name));
  return { folder, dist, chunks, program: join(folder, 'bin', 'rosterctl') };
}

type Installed = ReturnType<typeof install>;

const start = ({ program }: Installed, line: string) => {
  const env = freshEnvironment(temporaryFolder());
  const ran = spawnSync(process.execPath, [program, ...splitWords(line)], {
    env,
    encoding: 'utf8',
  });
  return [ran.status, ran.stdout, ran.stderr];
};

/** Ends a file within a block: one that is cut between two statements may still be JavaScript. */
const cutInBlock = (path: string) =>
  truncateSync(path, readFileSync(path, 'latin1').indexOf('{', 9_000) + 1);

const allChunks = (cut: (path: string) => void) => (installed: Installed) =>
  installed.chunks.forEach(cut);

describe('a command that starts on incomplete files says so', () => {
  test.each<[string, (installed: Installed) => void]>([
    ['chunks that are gone', allChunks((path) => rmSync(path))],
    ['chunks that were cut', allChunks((path) => truncateSync(path, 900))],
    ['a main file that is gone', ({ dist }) => rmSync(join(dist, 'main.cjs'))],
    ['a main file that was cut', ({ dist }) => cutInBlock(join(dist, 'main.cjs'))],
    ['a table that is gone', ({ dist }) => rmSync(join(dist, 'table.json'))],
    ['a table that was cut', ({ dist }) => truncateSync(join(dist, 'table.json'), 900)],
  ])('%s', (_, damage) => {
    const installed = install();
    damage(installed);
    expect(start(installed, '-p sandbox teams list')).toEqual([1, '', sentence]);
  });

  test.each<[string, (path: string) => void]>([
    ['is gone', (path) => rmSync(path)],
    ['was cut', (path) => truncateSync(path, 20)],
  ])('%s: package.json, for --version', (_, damage) => {
    const installed = install();
    damage(join(installed.folder, 'package.json'));
    for (const flag of ['--version', '-V']) {
      expect(start(installed, flag)).toEqual([1, '', sentence]);
    }
  });

  test('to a script as JSON', () => {
    const installed = install();
    for (const path of installed.chunks) rmSync(path);
    const [code, , stderr] = start(installed, '-p sandbox teams list --json');
    expect([code, JSON.parse(String(stderr))]).toEqual([
      1,
      { error: expect.objectContaining({ code: 'installation', exitCode: 1, retryable: false }) },
    ]);
  });
});

/** A service with two players, and a copy of the program that `replace` changes at each request. */
async function replaced(replace: (installed: Installed, method: string) => void, refuse?: Reply) {
  const installed = install();
  const answer = ({ method, url, body }: Recorded): Reply => {
    const id = url.split('?')[0]?.split('/').at(-1) ?? '';
    replace(installed, method);
    if (refuse && id !== organization) return refuse;
    if (method === 'GET' && id === organization)
      return {
        status: 200,
        json: ['player_1', 'player_2'].map((each) => ({ id: each, name: 'Ann' })),
      };
    const sent = method === 'GET' ? { name: 'Ann' } : (JSON.parse(body.toString()) as object);
    const made = method === 'POST';
    return { status: made ? 201 : 200, json: { ...sent, id: made ? 'player_3' : id } };
  };
  const service = await recordingService(answer);
  const env = { ...freshEnvironment(temporaryFolder()), ...service.env };
  const run = (line: string) =>
    new Promise<Ran>((resolve) => {
      const child = spawn(process.execPath, [installed.program, ...splitWords(line)], { env });
      let stdout = '';
      let stderr = '';
      child.stdout.on('data', (text) => (stdout += String(text)));
      child.stderr.on('data', (text) => (stderr += String(text)));
      child.stdin.end();
      child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
    });
  const atTerminal = (line: string) =>
    new Promise<{ code: number; screen: string }>((resolve) => {
      const words = [installed.program, ...splitWords(line)];
      const terminal = pty.spawn(process.execPath, words, { env, cols: 100, rows: 30 });
      keepOpen(terminal);
      let screen = '';
      terminal.onData((text) => (screen += text));
      terminal.onExit(({ exitCode: code }) => resolve({ code, screen }));
    });
  return { run, atTerminal };
}

function gone({ dist }: Installed, method: string) {
  if (method !== 'GET') rmSync(dist, { recursive: true, force: true });
}

describe('a change during which the files are replaced', () => {
  const many = 'players update player_1 player_2 --name Bea --yes';

  test.each([
    [many, '2\tplayer_2\tchanged'],
    [`${many} --json`, '"changed":2'],
    [`${many} -o csv`, '2,player_2,changed,Ann,Bea'],
    [`${many} -o ids`, 'player_1\nplayer_2\n'],
    [`${many} --fields id,result`, 'player_2\tchanged\n'],
    ['players update player_1 --name Bea', '1\tplayer_1\tchanged'],
    ['players create --name Bea --json', '"id":"player_3"'],
    ['players create --name Bea -o csv', 'player_3'],
  ])('prints its report: %s', async (line, printed) => {
    const { run } = await replaced(gone);
    const ran = await run(line);
    expect([ran.code, ran.stdout]).toEqual([0, expect.stringContaining(printed)]);
  });

  test.each([
    [many, '2 changed.'],
    ['players update player_1 --name Bea', 'Name Ann → Bea'],
    ['players create --name Bea', 'created'],
  ])('shows its report at a terminal: %s', async (line, shown) => {
    const { atTerminal } = await replaced(gone);
    const { code, screen } = await atTerminal(line);
    expect([code, screen]).toEqual([0, expect.stringContaining(shown)]);
  });

  test('prints its report of a plan', async () => {
    const plan = join(temporaryFolder(), 'plan.json');
    const { run } = await replaced(gone);
    await run(`players update player_1 player_2 --name Bea --plan ${plan}`);
    const ran = await run(`plan apply ${plan} --yes -o csv`);
    expect([ran.code, ran.stdout]).toEqual([
      0,
      expect.stringContaining('2,player_2,changed,Ann,Bea'),
    ]);
  });

  test('says why the service refused it', async () => {
    const { run } = await replaced(gone, { status: 400, json: { error: 'invalidRequest' } });
    const ran = await run('players create --name Bea');
    expect([ran.code, ran.stderr]).toEqual([3, expect.stringContaining('answered 400')]);
    expect(ran.stderr).not.toContain('bug');
  });
});
