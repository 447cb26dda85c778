import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';

const script = new URL('../../build/terminal.mjs', import.meta.url).href;
const { afterErasing } = (await import(script)) as {
  readonly afterErasing: (text: string) => string;
};

test('of a line that moved nothing is left in front of what comes after it', () => {
  const printed =
    '\u001b[?25l\u001b[?2026h\u001b[1G\u001b[36m⠋\u001b[39m 596 B, 1.5 KiB/s: copy.pdf\u001b[?2026l' +
    '\u001b[1G\u001b[0K\u001b[?25hcopy.pdf  596 bytes\nidentical\n';
  expect(stripVTControlCharacters(afterErasing(printed))).toBe('copy.pdf  596 bytes\nidentical\n');
});
