import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Rows, writeBytes, writeTsv } from '../../src/cli/writers.js';
import { codePoint } from '../support/code-point.js';

const columns = ['id', 'note', 'answers', 'tags', 'answers.why'];

function sinkOf(isTerminal: boolean) {
  const written: Uint8Array[] = [];
  return {
    written: () => Buffer.concat(written).toString('latin1'),
    sink: {
      isTerminal,
      columns: 80,
      rows: 24,
      color: false,
      async write(text: string | Uint8Array) {
        written.push(Buffer.from(text as string));
      },
    },
  };
}

async function tsvOf(rows: Rows): Promise<string> {
  const { sink, written } = sinkOf(false);
  await writeTsv(sink, rows, columns, { noHeader: false, quiet: false });
  return Buffer.from(written(), 'latin1').toString();
}

describe('a body that is not JSON', () => {
  test.each(['%PDF-1.7\u0000', '\u0089PNG', '\u001b[2Jtext'])(
    'is written to a pipe as it is: %j',
    async (body) => {
      const { sink, written } = sinkOf(false);
      await writeBytes(Buffer.from(body, 'latin1'), sink);
      expect(written()).toBe(body);
    },
  );

  test.each(['%PDF-1.7\u0000', '\u0089PNG'])(
    'is not shown at a terminal if it is not text: %j',
    async (body) => {
      const { sink, written } = sinkOf(true);
      const shown = writeBytes(Buffer.from(body, 'latin1'), sink);
      await expect(shown).rejects.toThrow('The answer is not text');
      expect(written()).toBe('');
    },
  );

  test('is harmless at a terminal', async () => {
    const { sink, written } = sinkOf(true);
    await writeBytes(Buffer.from('a\r\n\u001b[2Jb\n'), sink);
    expect(written()).toBe('a\n\\u001b[2Jb\n');
  });
});

describe('a tab-separated line of a record', () => {
  const part = fc.oneof(
    fc.constantFrom('a', 'é', '"', '\\', '\t', '\n', '\u0000', '\u007f', '\u009b', '\u202e'),
    fc.constantFrom('\ud800', '\u2028', '💡', '/', 'x'.repeat(40)),
    fc.string({ unit: codePoint, maxLength: 3 }),
  );
  const text = fc.array(part, { maxLength: 3 }).map((parts) => parts.join(''));
  const nested = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      text,
      fc.constantFrom(null, true, 0, -7.5),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(text, tie('value'), { maxKeys: 3, noNullPrototype: true }),
    ),
  })).value;
  const record = fc.record({ id: text, note: text, answers: nested, tags: nested });

  test('is one line without a control character', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(record, { maxLength: 4 }), async (records) => {
        const lines = await tsvOf(records);
        // oxlint-disable-next-line no-control-regex
        expect(lines).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\ud800]/u);
        expect(lines.split('\n')).toHaveLength(records.length + 2);
      }),
      { numRuns: 1_000 },
    );
  });
});
