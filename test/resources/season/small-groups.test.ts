import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mergeSmall, type TryoutGroup } from '../../../src/resources/season/groups.js';
import type { SeasonChart, SeasonTryout } from '../../../src/resources/season/page.js';
import { joinSteps } from '../../../src/resources/season/timelines.js';
import { anyTryouts, chartsOf, question, questions, times, tryout } from './applications.js';

// No number from one to four can be read or computed, also by a reader who knows how they are merged.

const isSmall = (count: number) => count > 0 && count < 5;

/** `size` members that no other group has. */
const members = (group: number, size: number) =>
  new Set(times(size, (index) => group * 100 + index));

const total = (table: readonly number[]) => table.reduce((sum, count) => sum + count, 0);

/** Every list of `length` counts up to `most`. */
function* tables(length: number, most: number): Generator<readonly number[]> {
  if (length === 0) yield [];
  else
    for (const rest of tables(length - 1, most))
      for (let count = 0; count <= most; count++) yield [count, ...rest];
}

/**
 * The small counts that follow from what is shown: those that are the same in every table that looks
 * the same.
 */
function toldCounts(
  all: Iterable<readonly number[]>,
  show: (table: readonly number[]) => string,
  isChecked: (table: readonly number[]) => boolean,
): readonly string[] {
  const alike = new Map<string, { checked: (readonly number[])[]; values: Set<number>[] }>();
  for (const table of all) {
    if (total(table) < 5) continue;
    const key = show(table);
    const found = alike.get(key) ?? { checked: [], values: table.map(() => new Set<number>()) };
    alike.set(key, found);
    for (const [index, count] of table.entries()) found.values[index]?.add(count);
    if (isChecked(table)) found.checked.push(table);
  }
  return [...alike].flatMap(([key, { checked, values }]) =>
    checked
      .filter((table) => table.some((count, at) => isSmall(count) && values[at]?.size === 1))
      .map((table) => `${table.join(',')} from ${key}`),
  );
}

const groupsOf = (table: readonly number[]): readonly TryoutGroup[] =>
  table.map((count, group) => ({ label: `g${group}`, members: members(group, count) }));
const shown = (groups: readonly TryoutGroup[]) => {
  const merged = mergeSmall(groups);
  const lines = merged?.map(({ label, members: { size } }) => `${label ?? 'other'}=${size}`);
  return lines?.toSorted().join(' ') ?? 'left out';
};

describe('groups', () => {
  test.each([
    ['known to the reader, such as statuses', () => true],
    ['unknown if nobody is in them, such as games', (count: number) => count > 0],
  ])('%s: no small one follows from the page', (_, isNamed) => {
    const show = (table: readonly number[]) =>
      `${total(table)}: ${shown(groupsOf(table).filter((group) => isNamed(group.members.size)))}`;
    const told = toldCounts(tables(4, 12), show, (table) => table.every((count) => count <= 5));
    expect(told).toEqual([]);
  });

  test.each([
    [[20, 9, 4, 3], 'g0=20 g1=9 other=7'],
    // With the next smallest, since one alone is too few.
    [[20, 9, 4], 'g0=20 other=13'],
    // Both would follow from the sum.
    [[20, 9, 4, 4], 'g0=20 other=17'],
    // Which of two equal ones was taken would tell something.
    [[20, 6, 6, 2], 'g0=20 other=14'],
    [[20, 9, 5], 'g0=20 g1=9 g2=5'],
    [[20, 3], 'left out'],
    [[4, 3, 2], 'left out'],
  ])('%j are shown as %s', (table, expected) => {
    expect(shown(groupsOf(table))).toBe(expected);
  });

  test('merged groups that overlap count each application once', () => {
    const rare = members(1, 4);
    const groups = [
      { label: 'Valorant', members: members(0, 30) },
      { label: 'Chess', members: members(0, 6) },
      { label: 'Go', members: rare },
      { label: 'Shogi', members: rare },
    ];
    // Four play both Go and Shogi: not eight.
    expect(mergeSmall(groups)?.map((group) => group.members.size)).toEqual([30, 10]);
  });
});

const showSteps = ([untimed = 0, ...steps]: readonly number[]) => {
  const sets = steps.map((count, step) => members(step, count));
  const timeline = joinSteps(sets, members(9, untimed));
  const periods = timeline.periods.map(
    ({ first, last, members: { size } }) => `${first}-${last}=${size}`,
  );
  const apart = `${timeline.untimed?.size ?? 0} ${timeline.hasUntimed}`;
  return `${total([untimed, ...steps])}: ${periods.join(' ')} ${apart}`;
};

test('steps of time: no small one, and no few without a time, follow from the page', () => {
  for (const length of [1, 2, 3]) {
    // A chart begins and ends with a step that has applications.
    const all = [...tables(length + 1, 12)].filter((table) => table[1] && table.at(-1));
    expect(toldCounts(all, showSteps, (table) => table.every((count) => count <= 6))).toEqual([]);
  }
});

const numbers = ({ rows }: SeasonChart) => rows.flatMap(({ count }) => count ?? []);
const countOf = (chart: SeasonChart | undefined, label: string) =>
  chart?.rows.find((row) => row.label === label)?.count;

const asked = (game: string, main: string) => tryout({ games: [game], answers: [[main]] });

describe('a page', () => {
  test('shows no small number, and none whose rest is small', () => {
    fc.assert(
      fc.property(anyTryouts, (tryouts) => {
        for (const chart of chartsOf(tryouts, { fields: questions }).values())
          for (const count of numbers(chart)) {
            expect([chart.title, count, isSmall(count)]).toEqual([chart.title, count, false]);
            expect([chart.title, count, isSmall(tryouts.length - count)]).toEqual([
              ...[chart.title, count],
              false,
            ]);
          }
      }),
    );
  });

  test('has rows that add up to all applications, where these cannot overlap', () => {
    fc.assert(
      fc.property(anyTryouts, (tryouts) => {
        const charts = chartsOf(tryouts, { fields: questions });
        const titles = [
          'By status',
          'By week',
          'Time from submission to the last change',
          'Main game',
        ];
        for (const title of titles) {
          const chart = charts.get(title);
          if (!chart || chart.rows.length === 0) continue;
          const sum = numbers(chart).reduce((all, count) => all + count, 0);
          expect([title, sum]).toEqual([title, tryouts.length]);
        }
      }),
    );
  });

  test('gives nothing away by its funnel and its statuses together', () => {
    const stages: Readonly<Record<string, (status: string) => boolean>> = {
      'No longer pending': (status) => status !== 'pending',
      'Shortlisted or accepted': (status) => ['shortlisted', 'accepted'].includes(status),
      Accepted: (status) => status === 'accepted',
    };
    fc.assert(
      fc.property(anyTryouts, (tryouts) => {
        const charts = chartsOf(tryouts);
        const funnel = charts.get('Funnel');
        const rows = charts.get('By status')?.rows ?? [];
        for (const [stage, includes] of Object.entries(stages)) {
          const count = countOf(funnel, stage);
          if (count === undefined) continue;
          expect(count).toBe(tryouts.filter(({ status }) => includes(status)).length);
          const inside = rows.filter(({ label }) => label !== 'other' && includes(label));
          const known = inside.reduce((sum, row) => sum + (row.count ?? 0), 0);
          // The rest is in "other", of which the remainder can be computed, too.
          const other = countOf(charts.get('By status'), 'other') ?? 0;
          expect([stage, isSmall(count - known)]).toEqual([stage, false]);
          if (count > known)
            expect([stage, isSmall(other - (count - known))]).toEqual([stage, false]);
        }
        const players = countOf(funnel, 'Became players');
        const accepted = countOf(funnel, 'Accepted');
        if (players === undefined || accepted === undefined) return;
        const both = tryouts.filter(
          (each) => each.isConverted && each.status === 'accepted',
        ).length;
        expect([players - both, accepted - both].map(isSmall)).toEqual([false, false]);
      }),
    );
  });

  test('gives nothing away by two charts of which one is part of the other', () => {
    fc.assert(
      fc.property(anyTryouts, (tryouts) => {
        const charts = chartsOf(tryouts, { fields: questions });
        const games = charts.get('By game');
        const main = charts.get('Main game');
        for (const { label, count = 0 } of main?.rows ?? []) {
          if (label === 'other') continue;
          const playing = countOf(games, label);
          // Whoever named a game as the main one plays it.
          if (playing !== undefined)
            expect([label, isSmall(playing - count)]).toEqual([label, false]);
        }
      }),
    );
  });

  test('leaves a chart out that would be subtracted from another', () => {
    const tryouts = [
      ...times(12, () => asked('Valorant', 'Valorant')),
      ...times(2, () => asked('Valorant', 'Chess')),
      ...times(6, () => asked('Chess', 'Chess')),
    ];
    const charts = chartsOf(tryouts, { fields: [question('Main game')] });
    expect(charts.get('By game')?.rows).toEqual([
      { label: 'Valorant', count: 14 },
      { label: 'Chess', count: 6 },
    ]);
    expect(charts.get('Main game')).toMatchObject({ rows: [], instead: /Left out/ });
  });

  test('does not say how many lack what nearly all have', () => {
    const tryouts = times(20, (index) =>
      tryout({ games: index < 18 ? ['Valorant', 'Chess'] : ['Chess'] }),
    );
    expect(chartsOf(tryouts).get('By game')?.rows).toEqual([
      { label: 'Chess', count: 20 },
      { label: 'Valorant', count: undefined, words: 'nearly all' },
    ]);
  });

  test('with exact numbers shows all of them', () => {
    const tryouts: readonly SeasonTryout[] = [
      ...times(30, () => tryout({ weeksAgo: 1, answers: [['yes']] })),
      tryout({
        status: 'accepted',
        isConverted: true,
        weeksAgo: 3,
        games: ['Go'],
        answers: [['']],
      }),
    ];
    const charts = chartsOf(tryouts, { fields: [question('Travel')], isExact: true });
    expect(countOf(charts.get('By status'), 'accepted')).toBe(1);
    expect(countOf(charts.get('Funnel'), 'Became players')).toBe(1);
    expect(countOf(charts.get('By game'), 'Go')).toBe(1);
    expect(charts.get('By week')?.rows.map(({ count }) => count)).toEqual([1, 0, 30]);
    expect(charts.get('Travel')?.rows).toEqual([
      { label: 'yes', count: 30 },
      { label: '(none)', count: 1 },
    ]);
  });
});
