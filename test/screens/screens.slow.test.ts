import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { inProcess } from '../support/in-process.js';
import { expectOrder, masked, openTerminal, type Screen } from './terminal.js';
import { views, wideViews } from './views.js';

const { home, env, screenOf, screenInside } = await openTerminal();

/** The home folder gets an interrupted upload, a cursor, and a run in which one row was refused. */
beforeAll(async () => {
  const at = { home, env, cwd: home };
  writeFileSync(join(home, 'paper.pdf'), '%PDF-1.4');
  const upload = await inProcess('docs upload paper.pdf --retries 0', at);
  const change = await inProcess('tryouts set-status --all --to withdrawn --yes', at);
  // Fills the cache from which players get the names of their teams, before one of two equal screens.
  await inProcess('teams list', at);
  const cursor = await inProcess('tryouts list --since-last discord', at);
  expect([upload.code, change.code, cursor.code]).toEqual([9, 8, 0]);
});

// oxlint-disable-next-line no-control-regex
const color = /\u001b\[[\d;]+m/;

describe.concurrent('at 80 columns', () => {
  // Those that are kept as text or ask are of every kind: they are drawn at a terminal of the system.
  // Some screens leave out what takes longer than two seconds, as it may on a busy machine.
  test.each(views)('"$line" is in order, in colour and without', { retry: 2 }, async (view) => {
    const draw = view.kept || view.answers ? screenOf : screenInside;
    const [screen, plain] = await Promise.all([
      draw(view, 80),
      screenInside(view, 80, { NO_COLOR: '1' }),
    ]);
    expectOrder(view, screen);
    expect(plain.lines.map(masked)).toEqual(screen.lines.map(masked));
    expect(plain.shown).not.toMatch(color);
  });
});

describe.concurrent('at other widths', () => {
  const screens = wideViews.flatMap((view) => [40, 120, 200].map((width) => ({ ...view, width })));
  test.each(screens)('"$line" is in order at $width columns', async ({ width, ...view }) => {
    expectOrder(view, await screenInside(view, width));
  });

  const prose = views.filter(({ isProse }) => isProse);
  test.each(prose)('no word of "$line" is cut at 40 columns', async (view) => {
    const [narrow, broad] = await Promise.all([screenInside(view, 40), screenInside(view, 200)]);
    expectOrder(view, narrow);
    expect(wordsOf(narrow)).toEqual(wordsOf(broad));
  });
});

function wordsOf({ lines }: Screen): readonly string[] {
  const words = lines.map(masked).join(' ').split(/\s+/);
  return words.filter((word) => !/^[·\\]?$/.test(word));
}
