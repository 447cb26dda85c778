import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pageStyle, seasonHtml } from '../../../src/resources/season/html.js';
import { rowLabel, type SeasonChart, type SeasonPage } from '../../../src/resources/season/page.js';
import { seasonMarkdown } from '../../../src/resources/season/write-page.js';
import { codePoint } from '../../support/code-point.js';
import { forbidden, hostileTexts } from '../../support/hostile.js';
import {
  anyTryouts,
  chartsOf,
  pageOf,
  question,
  questions,
  times,
  tryout,
} from './applications.js';
import { scanHtml } from './scan-html.js';

const markup = [
  ...[
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    "' onload='x",
    '</style>',
    '<!--',
    ']]>',
  ],
  ...[
    '&lt;b&gt;',
    '&#64;',
    '&amp',
    'https://evil.example/x',
    'www.evil.example',
    '_www.evil.example',
    'a@evil.example',
  ],
  ...[
    'a&#64;evil.example',
    '[x](https://evil.example)',
    '![x](y)',
    '<https://evil.example>',
    '`code`',
    '```',
    '| a | b |',
  ],
  ...[
    '\\|',
    '\\\\`',
    '# head',
    '- item',
    '1. item',
    '*b* _i_ ~~s~~',
    '<@123>',
    '#12',
    'url(https://evil.example)',
    '@import "x"',
  ],
];

/** Texts that applicants and services may send, and any other. */
const anyText = fc.oneof(
  fc.constantFrom(...markup, ...hostileTexts.map((text) => text.slice(0, 500))),
  fc.string({ unit: codePoint, maxLength: 80 }),
  fc
    .array(fc.constantFrom(...Array.from('<>&"\'|\\`*_[]()!@#:/.w~-{} a')), { maxLength: 30 })
    .map((all) => all.join('')),
);

/** A page on which every text is one of an applicant. */
const hostilePage = (text: string): SeasonPage => {
  const answers = [[text === '' ? '(empty)' : text]];
  const tryouts = times(10, (index) =>
    tryout({ status: index < 5 ? text : 'pending', games: [text], weeksAgo: index % 2, answers }),
  );
  const charts = [...chartsOf(tryouts, { fields: [question(text)] }).values()];
  return pageOf(charts, { organization: text, filters: [`game ${rowLabel(text)}`], total: 10 });
};

const allowed = new Set([
  ...['lang', 'charset', 'http-equiv', 'content', 'name', 'class', 'scope', 'colspan'],
  ...['aria-hidden', 'viewBox', 'preserveAspectRatio', 'x', 'y', 'width', 'height'],
]);

/** Elements that load or run something, or lead elsewhere. */
const loading = new Set(['script', 'link', 'a', 'img', 'iframe', 'form', 'base', 'use', 'object']);

/** No address and no expression. */
const harmless = /^[\w\s.,;='-]*$/;

describe('as HTML', () => {
  test('has no text of others but as text, and nothing that could load or run', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const html = seasonHtml(hostilePage(text));
        const { elements, texts } = scanHtml(html);
        const odd = elements.flatMap(({ name, attributes }) => [
          ...(loading.has(name) ? [name] : []),
          ...[...attributes].filter(
            ([attribute, value]) => !allowed.has(attribute) || !harmless.test(value),
          ),
        ]);
        expect(odd).toEqual([]);
        const label = rowLabel(text === '' ? '(empty)' : text);
        expect(texts.filter(({ inside }) => inside === 'bdi').map((each) => each.text)).toContain(
          label,
        );
        const styles = texts.filter(({ inside }) => inside === 'style').map((each) => each.text);
        expect(styles).toEqual([pageStyle]);
        expect(texts.filter((each) => forbidden.test(each.text.replaceAll('\n', '')))).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  test('has the policy first, and a style sheet without an address', () => {
    const html = seasonHtml(hostilePage('Valorant'));
    const { elements } = scanHtml(html);
    const policy = elements.find(({ attributes }) => attributes.has('http-equiv'));
    expect([...(policy?.attributes ?? [])]).toEqual([
      ['http-equiv', 'Content-Security-Policy'],
      ['content', "default-src 'none'; style-src 'unsafe-inline'"],
    ]);
    const names = elements.map(({ name }) => name);
    expect(elements.indexOf(policy ?? { name: '', attributes: new Map() })).toBeLessThan(
      names.indexOf('style'),
    );
    expect(pageStyle).not.toMatch(/url|@import|@font-face|src|\/\/|\\|</);
    expect(html).not.toMatch(/:\/\/|www\./);
  });

  test('has a table with heads behind every chart, and hides the drawings from screen readers', () => {
    const { elements } = scanHtml(seasonHtml(hostilePage('Valorant')));
    const count = (wanted: string) => elements.filter(({ name }) => name === wanted).length;
    expect([count('table'), count('caption'), count('h1')]).toEqual([
      count('section'),
      count('table'),
      1,
    ]);
    for (const { name, attributes } of elements) {
      if (name === 'svg') expect(attributes.get('aria-hidden')).toBe('true');
      if (name === 'th') expect(attributes.get('scope')).toMatch(/^(row|col)$/);
    }
  });

  test('draws no bar beyond its chart', () => {
    fc.assert(
      fc.property(anyTryouts, (tryouts) => {
        const charts = [...chartsOf(tryouts, { fields: questions }).values()];
        const { elements } = scanHtml(seasonHtml(pageOf(charts, { total: tryouts.length })));
        let width = 0;
        for (const { name, attributes } of elements) {
          if (name === 'svg') width = Number(attributes.get('viewBox')?.split(' ')[2]);
          if (name !== 'rect') continue;
          const right = Number(attributes.get('x') ?? 0) + Number(attributes.get('width'));
          expect(right).toBeLessThanOrEqual(width);
          expect(Number(attributes.get('height'))).toBeGreaterThanOrEqual(0);
        }
      }),
    );
  });

  test.each(['light', 'dark'])('has contrast enough for reading in the %s theme', (theme) => {
    const themes = [...pageStyle.matchAll(/(?:^|\{ ):root \{([^}]*)\}/gm)].map(
      ([, text = '']) => text,
    );
    expect(themes).toHaveLength(2);
    const text = themes[theme === 'light' ? 0 : 1] ?? '';
    const colors = new Map(
      [...text.matchAll(/--(\w+): #(\w{6})/g)].map(([, key, hex]) => [key, hex]),
    );
    const against = (name: string) => contrast(colors.get(name) ?? '', colors.get('page') ?? '');
    for (const name of ['text', 'muted', 'warning'])
      expect(against(name)).toBeGreaterThanOrEqual(4.5);
    expect(against('fill')).toBeGreaterThanOrEqual(3);
  });
});

const light = (hex: string) =>
  [0, 2, 4]
    .map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, at) => sum + part * ([0.2126, 0.7152, 0.0722][at] ?? 0), 0);

/** The contrast of two colours as WCAG defines it. */
function contrast(one: string, other: string): number {
  const [bright = 0, dark = 0] = [light(one), light(other)].toSorted((a, b) => b - a);
  return (bright + 0.05) / (dark + 0.05);
}

/** A text in which a dot stands for what a backslash has made harmless. */
const live = (text: string) => text.replace(/\\[!-/:-@[-`{-~]/g, '·');

const bars = (line: string) => line.split('|').length;

describe('as Markdown', () => {
  const markdown = /[`*_[\]<>&~!]|:\/\/|www\.|@(?!\u200b)|#\d/i;
  const forbiddenButGap = new RegExp(forbidden.source.replace('\\u200b', ''), 'u');
  const plain = seasonMarkdown(hostilePage('Valorant')).split('\n');

  test('has no text of others that is more than text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const lines = seasonMarkdown(hostilePage(text)).split('\n');
        expect(lines.length).toBe(plain.length);
        const odd = lines.filter((line, index) => {
          const own = plain[index] ?? '';
          const rest = live(line);
          // A block begins as ours does, and a row has as many cells.
          const isLikeOurs = line.slice(0, 2) === own.slice(0, 2) && bars(rest) === bars(live(own));
          return !isLikeOurs || markdown.test(rest) || forbiddenButGap.test(line);
        });
        expect(odd).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  test('has a table for each chart', () => {
    const chart: SeasonChart = {
      title: 'By game',
      unit: 'Game',
      note: 'An applicant may play several.',
      rows: [
        { label: 'Counter-Strike 2', count: 1200 },
        { label: 'Go', count: undefined, words: 'nearly all' },
      ],
    };
    expect(seasonMarkdown(pageOf([chart], { total: 2000, filters: ['game Go'] }))).toBe(
      [
        '# Tryout applications',
        '2,000 matching applications of org\\_7',
        '## By game',
        'An applicant may play several.',
        [
          '| Game | Applications | Share |',
          '| :-- | --: | --: |',
          '| Counter\\-Strike 2 | 1,200 | 60 % |',
          '| Go | nearly all |  |',
        ].join('\n'),
        '---',
        'Counted: 2,000 matching applications of org\\_7, from the complete list.',
        'Filters: game Go.',
        'Groups of fewer than five are counted as "other" or joined with their neighbours, to protect people\'s privacy.',
        'As of 22 Nov 2026, 12:00 UTC. Made with rosterctl 1.2.3.\n',
      ].join('\n\n'),
    );
  });
});

const rows = (title: string, tryouts: Parameters<typeof chartsOf>[0]) =>
  chartsOf(tryouts)
    .get(title)
    ?.rows.map(({ label, count }) => `${label}: ${count}`);

describe('the charts', () => {
  test('show twelve games, and the others together', () => {
    const tryouts = times(40, (game) =>
      times(45 - game, () => tryout({ games: [`Game ${game}`] })),
    ).flat();
    const games = rows('By game', tryouts) ?? [];
    expect(games).toHaveLength(13);
    expect(chartsOf(tryouts).get('By game')?.note).toContain('All but the 12 largest');
    expect([games[0], games[11], games[12]]).toEqual(['Game 0: 45', 'Game 11: 34', 'other: 546']);
  });

  test('say that there are no weeks where no application has a date', () => {
    const undated = times(7, () => tryout());
    const week = (isExact: boolean) => chartsOf(undated, { isExact }).get('By week');
    expect([week(false), week(true)]).toEqual(
      times(2, () => ({
        title: 'By week',
        unit: 'Submitted',
        rows: [],
        instead: 'No application has a readable date in the past.',
      })),
    );
  });

  test('show one week as one week', () => {
    const chart = chartsOf(times(7, () => tryout({ weeksAgo: 0 }))).get('By week');
    expect(chart?.rows).toEqual([{ label: '16 Nov – 22 Nov 2026', count: 7 }]);
    expect(chart?.timeline?.columns).toEqual([{ first: 0, width: 1, height: 7 }]);
  });

  test('show the last two years by week, and what was before as one row', () => {
    const tryouts = [
      ...times(6, () => tryout({ weeksAgo: 2800 })),
      ...times(6, () => tryout({ weeksAgo: 0 })),
    ];
    const chart = chartsOf(tryouts).get('By week');
    expect(chart?.timeline).toEqual({
      columns: [{ first: 103, width: 1, height: 6 }],
      from: '16 Nov 2026',
      to: '22 Nov 2026',
      scale: 'The highest column stands for 6 a week.',
    });
    expect(chart?.rows[0]).toEqual({ label: 'Until 24 Nov 2024', count: 6 });
    expect(chart?.rows.at(-1)).toEqual({ label: '16 Nov – 22 Nov 2026', count: 6 });
  });

  test('join weeks with few, and draw their average', () => {
    const chart = chartsOf([
      ...times(2, () => tryout({ weeksAgo: 9 })),
      ...times(4, () => tryout({ weeksAgo: 8 })),
      ...times(10, () => tryout({ weeksAgo: 3 })),
      ...times(1, () => tryout({ weeksAgo: 0 })),
    ]).get('By week');
    expect(chart?.rows.map(({ label, count }) => `${label}: ${count}`)).toEqual([
      '14 Sep – 27 Sep 2026: 6',
      '28 Sep – 25 Oct 2026: 0',
      '26 Oct – 22 Nov 2026: 11',
    ]);
    expect(chart?.timeline).toEqual({
      columns: [
        { first: 0, width: 2, height: 3 },
        { first: 6, width: 4, height: 2.75 },
      ],
      from: '14 Sep 2026',
      to: '22 Nov 2026',
      scale: 'The highest column stands for 3 a week; a wider one shows the average of its weeks.',
    });
    expect(chart?.note).toBe('Weeks with fewer than five applications are joined.');
  });

  test('name their columns in HTML, and not in Markdown, which has none', () => {
    const charts = chartsOf(times(12, (index) => tryout({ weeksAgo: index % 2 })));
    const page = pageOf([...charts.values()], { total: 12 });
    expect(seasonHtml(page)).toContain('The highest column stands for 6 a week.');
    expect(seasonMarkdown(page)).not.toContain('column');
  });

  test('are left out where all weeks would be one', () => {
    const tryouts = times(7, (weeksAgo) => tryout({ weeksAgo, weeksToChange: weeksAgo }));
    for (const title of ['By week', 'Time from submission to the last change'])
      expect(chartsOf(tryouts).get(title)).toMatchObject({
        rows: [],
        instead: 'Too few applications to show in weeks.',
      });
  });

  test('count an application of a day to come without a week', () => {
    const ahead = tryout({ submitted: Date.parse('2027-01-01'), week: undefined });
    const tryouts = [...times(6, () => tryout({ weeksAgo: 0 })), ...times(5, () => ahead)];
    expect(rows('By week', tryouts)).toEqual([
      '16 Nov – 22 Nov 2026: 6',
      'no date, or a date in the future: 5',
    ]);
    expect(rows('By week', tryouts.slice(0, 8))).toEqual([
      '16 Nov – 22 Nov 2026, or no date, or a date in the future: 8',
    ]);
  });

  test('show an unknown status by its name', () => {
    const tryouts = [...times(6, () => tryout()), ...times(5, () => tryout({ status: 'parked' }))];
    expect(rows('By status', tryouts)).toContain('parked: 5');
  });

  test.each([
    [false, ' Those without one are left out.', ['IGL', 'Sub']],
    [true, '', ['IGL', 'Sub', '(none)']],
  ])('of several answers say what they leave out (exact: %s)', (isExact, says, labels) => {
    const answers = times(18, (at) => [[['IGL', 'Sub'], ['IGL'], ['']][at % 3] ?? []]);
    const tryouts = answers.map((each) => tryout({ answers: each }));
    const chart = chartsOf(tryouts, { fields: [question('Roles')], isExact }).get('Roles');
    expect(chart?.note).toBe(`An application may have several of these.${says}`);
    expect(chart?.rows.map(({ label }) => label)).toEqual(labels);
  });

  test('draw 10,000 applications at once', () => {
    const tryouts = times(10_000, (index) =>
      tryout({ weeksAgo: index % 90, games: [`Game ${index % 40}`], answers: [[`${index % 20}`]] }),
    );
    const charts = [...chartsOf(tryouts, { fields: [question('Hours')] }).values()];
    const html = seasonHtml(pageOf(charts, { total: 10_000 }));
    expect(html.length).toBeLessThan(60_000);
    expect(
      charts
        .at(-1)
        ?.rows.slice(0, 3)
        .map(({ label }) => label),
    ).toEqual(['0', '1', '2']);
  });
});
