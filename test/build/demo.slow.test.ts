import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { freshEnvironment, temporaryFolder } from '../support/run.js';

const demo = fileURLToPath(new URL('../../build/demo.mjs', import.meta.url));

test('the demo writes no colours into a pipe', () => {
  const env = freshEnvironment(temporaryFolder());
  const shown = execFileSync(process.execPath, [demo], { env, encoding: 'utf8' });
  expect(shown).toContain('steps gave the expected result');
  expect(shown).not.toContain('\u001b');
  expect(shown).not.toMatch(/[\u2800-\u28ff]/);
});
