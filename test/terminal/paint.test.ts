import { expect, test } from 'vitest';
import { createPaint } from '../../src/terminal/paint.js';

test.each(['withdrawn', 'unchanged', 'skipped', 'replaced'])(
  'the word %s is dim, because colour 90 is invisible in themes such as Solarized dark',
  (word) => {
    expect(createPaint(true).status(word)).toBe(`\u001b[2m${word}\u001b[22m`);
  },
);
