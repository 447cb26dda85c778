import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
// @ts-expect-error: a list for a separate script, without types
import { mutants } from './faults/mutant-list.mjs';

interface Mutant {
  readonly name: string;
  readonly file: string;
  readonly from: string;
}

test.each(mutants as Mutant[])(
  'the source contains the text that the mutant "$name" replaces',
  async ({ file, from }) => {
    const text = await readFile(new URL(`../${file}`, import.meta.url), 'utf8');
    expect(text).toContain(from);
  },
);
