import { chmodSync, cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** The catalogue runs a copy of the build, so that a concurrent build does not affect it. */
export default function setup(): void {
  if (process.env['FAULTS_PROGRAM']) return;
  const copy = join(process.env['TEST_ROOT'] ?? '', 'program');
  mkdirSync(copy);
  // Another user also runs it.
  for (const folder of [process.env['TEST_ROOT'] ?? '', copy]) chmodSync(folder, 0o755);
  for (const name of ['bin', 'dist', 'package.json'])
    cpSync(join(root, name), join(copy, name), { recursive: true });
  process.env['FAULTS_PROGRAM'] = join(copy, 'bin', 'rosterctl');
}
