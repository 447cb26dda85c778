import { expect, test } from 'vitest';
import { detailLines } from '../../src/cli/table.js';
import { createPaint } from '../../src/terminal/paint.js';

test('a record of 200,000 fields is rendered like any other', () => {
  const many = Object.fromEntries(Array.from({ length: 200_000 }, (_, index) => [`k${index}`, 1]));
  const lines = detailLines({ id: 't1', many }, {
    columns: 80,
    paint: createPaint(false),
  } as never);
  expect(lines).toHaveLength(200_002);
  expect(lines.at(-1)).toMatch(/^ {2}k199999 +1$/);
});
