import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { atEnd } from './cleaning.js';

/** Bundles a TypeScript file of the tests so that plain node runs it; gone with the test file. */
export async function bundleChild(source: string): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'rosterctl-child-'));
  atEnd(() => rmSync(dir, { recursive: true, force: true }));
  const bundle = await rolldown({ input: source, platform: 'node', logLevel: 'warn' });
  const file = join(dir, 'child.cjs');
  await bundle.write({ file, format: 'cjs', codeSplitting: false });
  await bundle.close();
  return file;
}

/** A child process of a test, killed with the test file at the latest. */
export interface Child {
  readonly pid: number;
  /** Resolves when stdout holds this text; rejects when the child ends before. */
  says(text: string): Promise<void>;
  stdout(): string;
  kill(signal: NodeJS.Signals): void;
  /** The exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
}

const running = new Set<ChildProcess>();

/** Starts a bundled child with arguments. */
export function startChild(script: string, args: readonly string[]): Child {
  const { NODE_EXTRA_CA_CERTS: _, NO_COLOR: __, FORCE_COLOR: ___, ...env } = process.env;
  const child = spawn(process.execPath, [script, ...args], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.add(child);
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.on('close', (code, signal) => {
      running.delete(child);
      resolve(signal ?? code);
    });
  });
  return {
    pid: child.pid ?? 0,
    stdout: () => text,
    kill: (signal) => void child.kill(signal),
    ended,
    says: (wanted) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (text.includes(wanted)) resolve();
        };
        child.stdout.on('data', look);
        void ended.then((how) => reject(new Error(`ended with ${how}: ${text}`)));
        look();
      }),
  };
}

/** Ends what a failed test left running. */
export function killChildren(): void {
  for (const child of running) child.kill('SIGKILL');
}
