import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { printValue } from '../../src/cli/output.js';
import { listView, recordView } from '../../src/cli/views.js';
import { readCsv } from '../../src/data/csv-reader.js';
import { codePoint } from '../support/code-point.js';
import { forbidden, hostileTexts, withoutColor } from '../support/hostile.js';
import { outputContext } from '../support/output-context.js';
import { screen } from '../support/screen.js';

const shortTexts = hostileTexts.filter((text) => text.length < 1000);
const text = fc.oneof(
  fc.constantFrom(...shortTexts),
  fc.constantFrom(
    '✔',
    'a → b · c …',
    '',
    '.',
    'a.b',
    '0',
    '-0',
    '__proto__',
    'constructor',
    'toString',
    'length',
  ),
  fc.string({ unit: codePoint }),
  fc.string({ unit: fc.constantFrom('\ud800', '\udc00', '\u0000', '"', ',', ';', '\n', "'", '=') }),
);
const value = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    text,
    fc.constantFrom(null, true, false, 0, -1, 1.5, 1e300, 9007199254740991, '2026-02-30T25:61:00Z'),
    fc.array(tie('any'), { maxLength: 4 }),
    fc.dictionary(text, tie('any'), { maxKeys: 4, noNullPrototype: true }),
  ),
})).any;
/** A record with arbitrary values in its documented fields, and other fields with arbitrary names. */
const record = fc
  .tuple(
    fc.record(
      {
        name: value,
        status: value,
        email: value,
        submittedAt: value,
        updatedAt: value,
        gamerTags: value,
        formResponses: value,
        internalNotes: value,
        convertedPlayer: value,
        tags: value,
        sizeBytes: value,
        contentType: value,
      },
      { requiredKeys: [] },
    ),
    fc.dictionary(text, value, { maxKeys: 4, noNullPrototype: true }),
  )
  .map(([known, other]) => ({ ...other, ...known }));

const resources = ['tryouts', 'teams', 'players', 'documents'] as const;
const settings = fc.record({
  output: fc.constantFrom('table', 'json', 'ndjson', 'csv', 'ids'),
  time: fc.constantFrom(undefined, 'iso', 'local', 'relative'),
  csvRaw: fc.boolean(),
  bom: fc.boolean(),
  delimiter: fc.constantFrom(',', ';', '\t'),
} as const);

test('lone surrogates, NUL and values of any type break no output format', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(record, { maxLength: 4 }),
      settings,
      fc.constantFrom(...resources),
      fc.constantFrom(undefined, 20, 80),
      fc.boolean(),
      async (records, chosen, resource, columns, isOne) => {
        const rows = records.map((each, index) => ({ ...each, id: `id_${index}` }));
        const made = screen({ ...(columns && { columns }), env: {} });
        const world = {
          ...outputContext(chosen),
          streams: made.streams,
        };
        const [first = { id: 'id_0' }] = rows;
        if (isOne) await printValue(first, recordView(resource), world);
        else await printValue(rows, listView(resource), world);
        const shown = made.stdout();
        if (chosen.output === 'json')
          expect(JSON.parse(shown)).toEqual(plain(isOne ? first : rows));
        if (chosen.output === 'ndjson')
          expect(
            shown
              .split('\n')
              .filter(Boolean)
              .map((line): unknown => JSON.parse(line)),
          ).toEqual(plain(isOne ? [first] : rows));
        if (chosen.output === 'csv' && columns === undefined && !isOne)
          expect(readCsv(`sep=${chosen.delimiter}\n${shown.replaceAll('\u0000', '')}`).length).toBe(
            rows.length + 1,
          );
        if (chosen.output === 'table' && columns !== undefined)
          for (const line of withoutColor(shown).split('\n')) expect(line).not.toMatch(forbidden);
        expect(made.stderr()).toBe('');
      },
    ),
    { numRuns: 1000 },
  );
});

test('a joined emoji is never split, whatever surrounds it', async () => {
  const joined = `${'\u{1f469}\u200d\u{1f680}\u200d'.repeat(3)}\u{1f469}`;
  const made = screen({ columns: 80, env: {} });
  await printValue([{ id: 'id_0', status: [[[joined]]] }], listView('tryouts'), {
    ...outputContext(),
    streams: made.streams,
  });
  expect(made.stdout()).not.toContain('\ufffd');
});

/** The value after a JSON round trip, in which -0 becomes 0. */
const plain = (of: unknown): unknown => JSON.parse(JSON.stringify(of));
