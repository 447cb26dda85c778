import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { freshEnvironment, temporaryFolder } from '../support/run.js';

const script = new URL('../../build/terminal.mjs', import.meta.url).href;
const { afterErasing } = (await import(script)) as {
  readonly afterErasing: (text: string) => string;
};

const demo = fileURLToPath(new URL('../../build/demo.mjs', import.meta.url));

test('the demo writes no colours into a pipe', () => {
  const env = freshEnvironment(temporaryFolder());
  const shown = execFileSync(process.execPath, [demo], { env, encoding: 'utf8' });
  expect(shown).toContain('steps gave the expected result');
  expect(shown).not.toContain('\u001b');
  expect(shown).not.toMatch(/[\u2800-\u28ff]/);
});

test('of a line that moved nothing is left in front of what comes after it', () => {
  const printed =
    '\u001b[?25l\u001b[?2026h\u001b[1G\u001b[36m⠋\u001b[39m 596 B, 1.5 KiB/s: copy.pdf\u001b[?2026l' +
    '\u001b[1G\u001b[0K\u001b[?25hcopy.pdf  596 bytes\nidentical\n';
  expect(stripVTControlCharacters(afterErasing(printed))).toBe('copy.pdf  596 bytes\nidentical\n');
});
