import * as fc from 'fast-check';
import { TryoutStatus } from '../../../src/api/schemas.js';
import { mondayOf } from '../../../src/data/dates.js';
import { seasonCharts } from '../../../src/resources/season/charts.js';
import type {
  SeasonChart,
  SeasonField,
  SeasonPage,
  SeasonTryout,
} from '../../../src/resources/season/page.js';

export const now = new Date('2026-11-22T12:00:00Z');
const weekMs = 7 * 86_400_000;

/** An application without anything but a status, and what a test says of it. */
export function tryout({
  weeksAgo,
  weeksToChange = 0,
  answers = [],
  ...fields
}: Partial<SeasonTryout> & {
  readonly weeksAgo?: number | undefined;
  readonly weeksToChange?: number | undefined;
  readonly answers?: readonly (readonly string[])[];
} = {}): SeasonTryout {
  const submitted = weeksAgo === undefined ? undefined : now.getTime() - weeksAgo * weekMs;
  return {
    status: 'pending',
    games: [],
    isConverted: false,
    submitted,
    week: submitted === undefined ? undefined : mondayOf(new Date(submitted)),
    updated: submitted === undefined ? undefined : submitted + weeksToChange * weekMs,
    values: answers.map((texts) => ({ ofField: texts, ofQuestion: texts })),
    ...fields,
  };
}

/** A question whose answers the applications have as their value number `index`. */
export const question = (name: string): SeasonField => ({
  name: `formResponses.${name}`,
  valuesIn: ({ ofField }) => ofField,
});

const often = <T>(...values: readonly T[]) =>
  fc.oneof(
    ...values.map((value, index) => ({
      arbitrary: fc.constant(value),
      weight: values.length - index,
    })),
  );

/** Lists of applications with large and small groups of every kind, and an answer that is one of the games. */
export const anyTryouts: fc.Arbitrary<readonly SeasonTryout[]> = fc.array(
  fc
    .record({
      status: often(...TryoutStatus.options, 'lost'),
      games: fc.uniqueArray(often('Valorant', 'Chess', 'Go', 'Football'), { maxLength: 3 }),
      isConverted: often(false, false, true),
      weeksAgo: often<number | undefined>(0, 1, 2, 5, 7, undefined),
      weeksToChange: often(0, 1, 3, -1, 20),
      roles: fc.uniqueArray(often('Duelist', 'Sentinel', ''), { minLength: 1, maxLength: 2 }),
    })
    .map(({ games, roles, ...fields }) => {
      const chosen = roles.length > 1 ? roles.filter((role) => role !== '') : roles;
      return tryout({ ...fields, games, answers: [[games[0] ?? ''], chosen] });
    }),
  { minLength: 5, maxLength: 60 },
);

export const questions = [question('Main game'), question('Roles')];

/** The charts by their title. */
export function chartsOf(
  tryouts: readonly SeasonTryout[],
  { fields = [], isExact = false }: { fields?: readonly SeasonField[]; isExact?: boolean } = {},
): ReadonlyMap<string, SeasonChart> {
  return new Map(seasonCharts(tryouts, fields, isExact).map((chart) => [chart.title, chart]));
}

/** A page with these charts. */
export function pageOf(
  charts: readonly SeasonChart[],
  fields: Partial<SeasonPage> = {},
): SeasonPage {
  return {
    organization: 'org_7',
    total: 64,
    filters: [],
    charts,
    isExact: false,
    madeAt: now,
    version: '1.2.3',
    ...fields,
  };
}

export function times<T>(count: number, make: (index: number) => T): readonly T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}
