/** A copy of the installed program whose files are damaged or replaced. */
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { dirname, join } from 'node:path';
import pty from '@lydell/node-pty';
import { keepOpen } from './converse.js';
import { freshEnvironment, launcher, type Ran, splitWords, temporaryFolder } from './run.js';
import { organization, type Recorded, type Reply, recordingService } from './service.js';

const root = join(dirname(launcher), '..');
export const sentence =
  'The files of rosterctl are incomplete, or were replaced while it was running.\nRun the same command again. If that does not help, install rosterctl again.\n';

/** A copy of the installed program. */
export function install() {
  const folder = temporaryFolder('installed');
  for (const part of ['bin', 'dist', 'package.json'])
    cpSync(join(root, part), join(folder, part), { recursive: true });
  const dist = join(folder, 'dist');
  const chunks = readdirSync(join(dist, 'chunks'))
    .filter((name) => name.endsWith('.cjs'))
    .map((name) => join(dist, 'chunks', name));
  return { folder, dist, chunks, program: join(folder, 'bin', 'rosterctl') };
}

export type Installed = ReturnType<typeof install>;

export const start = ({ program }: Installed, line: string) => {
  const env = freshEnvironment(temporaryFolder());
  const ran = spawnSync(process.execPath, [program, ...splitWords(line)], {
    env,
    encoding: 'utf8',
  });
  return [ran.status, ran.stdout, ran.stderr];
};

/** Ends a file within a block: one that is cut between two statements may still be JavaScript. */
export const cutInBlock = (path: string) =>
  truncateSync(path, readFileSync(path, 'latin1').indexOf('{', 9_000) + 1);

export const allChunks = (cut: (path: string) => void) => (installed: Installed) =>
  installed.chunks.forEach(cut);

/** A service with two players, and a copy of the program that `replace` changes at each request. */
export async function replaced(
  replace: (installed: Installed, method: string) => void,
  refuse?: Reply,
) {
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

export function gone({ dist }: Installed, method: string) {
  if (method !== 'GET') rmSync(dist, { recursive: true, force: true });
}
