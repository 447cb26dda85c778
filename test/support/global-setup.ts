import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** One folder holds every temporary folder of a run, and goes with it. */
export default function setup(): () => void {
  const root = mkdtempSync(join(tmpdir(), 'rosterctl-test-'));
  process.env['TEST_ROOT'] = root;
  return () => rmSync(root, { recursive: true, force: true });
}
