import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * One folder holds every temporary folder of a run. A process of its own removes it, because that takes
 * some ten seconds, for which nobody should wait.
 */
export default function setup(): () => void {
  const root = mkdtempSync(join(tmpdir(), 'rosterctl-test-'));
  process.env['TEST_ROOT'] = root;
  const remove = `fs.rmSync(${JSON.stringify(root)}, { recursive: true, force: true })`;
  return () => spawn(process.execPath, ['-e', remove], { detached: true, stdio: 'ignore' }).unref();
}
