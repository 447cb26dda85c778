import { spawnSync } from 'node:child_process';
import { basename, join } from 'node:path';
import { expect } from 'vitest';
import { temporaryFolder } from './run.js';

/** True if this machine has LibreOffice. */
export const hasLibreOffice = spawnSync('soffice', ['--version'], { timeout: 60_000 }).status === 0;

/** One for all, because a new one takes a third of a start; its own, or it would wait for another LibreOffice. */
const home = temporaryFolder();
const profile = `-env:UserInstallation=file://${join(home, 'profile')}`;

/** Opens a file in LibreOffice, saves it in another format (`xlsx`, `csv:FILTER`), and returns its path. */
export function convertByLibreOffice(
  file: string,
  to: string,
  more: readonly string[] = [],
): string {
  const out = temporaryFolder();
  const done = spawnSync(
    'soffice',
    [profile, '--headless', ...more, '--convert-to', to, '--outdir', out, file],
    { timeout: 120_000, env: { PATH: process.env['PATH'], HOME: home, LANG: 'C.UTF-8' } },
  );
  expect(done.status, String(done.stderr)).toBe(0);
  const [extension = ''] = to.split(':', 1);
  return join(out, basename(file).replace(/\.(?:csv|xlsx)$/, `.${extension}`));
}
