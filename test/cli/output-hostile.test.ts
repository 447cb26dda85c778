import { describe, expect, test } from 'vitest';
import { printValue } from '../../src/cli/output.js';
import { listView, recordView } from '../../src/cli/views.js';
import { displayWidth } from '../../src/terminal/width.js';
import { forbidden, hostileTexts, withoutColor } from '../support/hostile.js';
import { outputContext } from '../support/output-context.js';
import { screen } from '../support/screen.js';

const world = (columns: number | undefined) => {
  const made = screen({ ...(columns && { columns }), env: { FORCE_COLOR: '1' } });
  return {
    made,
    presenting: {
      ...outputContext(),
      streams: made.streams,
    },
  };
};

/** A record with the text in every field that an applicant or another admin can fill. */
const hostileRecord = (text: string, index: number) => ({
  id: `app_${index}`,
  status: text,
  name: text,
  email: text,
  discordUsername: text,
  formResponses: { [text]: text, nested: { [text]: [text, { [text]: text }] } },
  internalNotes: text,
  gamerTags: [{ game: text, gamerTag: text }],
  tags: [text, text],
  [text]: text,
});

describe.each([80, 20])('on a terminal of %i columns', (columns) => {
  const check = (stdout: string) => {
    const lines = withoutColor(stdout).trimEnd().split('\n');
    expect(lines.filter((line) => forbidden.test(line))).toEqual([]);
    expect(lines.filter((line) => displayWidth(line) > columns)).toEqual([]);
  };

  test('no table prints a hostile text unsanitized, and every record is one line', async () => {
    const records = hostileTexts.map(hostileRecord);
    // Twice as many rows, so that our own code draws them; cli-table3 gets the same cells.
    for (const list of [records, [...records, ...records, ...records]]) {
      const { made, presenting } = world(columns);
      await printValue(list, listView('tryouts'), presenting);
      check(made.stdout());
      const rows = made
        .stdout()
        .split('\n')
        .filter((line) => withoutColor(line).startsWith('app_'));
      expect(rows).toHaveLength(list.length);
    }
  });

  test.each(hostileTexts.map((text, index) => [index, text]))(
    'the detail view sanitizes hostile text %i',
    async (index, text) => {
      const { made, presenting } = world(columns);
      await printValue(hostileRecord(text, index), recordView('tryouts'), presenting);
      check(made.stdout());
      expect(made.stdout()).toContain(`app_${index}`);
    },
  );
});

test('a pipe gets one line for each record, without control characters', async () => {
  const { made, presenting } = world(undefined);
  const records = hostileTexts.map((text, index) => ({
    id: `app_${index}`,
    name: text,
    more: [text],
  }));
  await printValue(records, listView('players'), presenting);
  const lines = made.stdout().trimEnd().split('\n');
  expect(lines).toHaveLength(records.length + 1);
  for (const line of lines) {
    expect(line.split('\t')).toHaveLength(2);
    expect(line.replaceAll('\t', '')).not.toMatch(/[\p{Cc}\u2028-\u202e\u2066-\u2069]/u);
  }
});

test('json and ndjson preserve every text, without control characters', async () => {
  const records = hostileTexts.map((text, index) => ({ id: `app_${index}`, [text]: text }));
  for (const output of ['json', 'ndjson'] as const) {
    const { made, presenting } = world(undefined);
    await printValue(records, listView('players'), {
      ...presenting,
      settings: { ...presenting.settings, output },
    });
    expect(made.stdout().replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u2028-\u202e\u2066-\u2069]/u);
    const text =
      output === 'json' ? made.stdout() : `[${made.stdout().trim().split('\n').join(',')}]`;
    expect(JSON.parse(text)).toEqual(records);
  }
});
