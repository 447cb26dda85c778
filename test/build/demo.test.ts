import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { freshEnvironment, temporaryFolder } from '../support/run.js';

const demo = fileURLToPath(new URL('../../build/demo.mjs', import.meta.url));

test('the demo writes no colours into a pipe', () => {
  const env = freshEnvironment(temporaryFolder());
  const shown = execFileSync(process.execPath, [demo], { env, encoding: 'utf8' });
  expect(shown).toContain('each as told');
  expect(shown).not.toContain('\u001b');
});
