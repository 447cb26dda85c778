/** A chart as drawn: its rows for the page, and the groups of applications behind them. */
import type { ValuesOfTryout } from '../field-counts.js';
import type { CountedTryout } from '../tryout-tally.js';
import type { Grouping } from './groups.js';
import type { SeasonChart } from './page.js';

/** An application, as far as a page needs it. */
export interface SeasonTryout extends CountedTryout {
  /** When it was last changed, in milliseconds since 1970; undefined without a readable time. */
  readonly updated: number | undefined;
}

/** A field of `--by`: its name, and which values of an application belong to it. */
export interface SeasonField {
  readonly name: string;
  valuesIn(values: ValuesOfTryout): readonly string[];
}

/** A chart, and the groups in it. */
export interface DrawnChart extends Grouping {
  readonly chart: SeasonChart;
}

/** Returns a chart that shows no numbers, but a sentence why. */
export function withoutRows(
  { title, unit }: Pick<SeasonChart, 'title' | 'unit'>,
  instead: string,
): DrawnChart {
  return { chart: { title, unit, rows: [], instead }, groups: [], overlaps: false };
}

/** The sentence in place of a chart of which no group may be shown. */
export const tooFewEach = 'The groups are too small to show.';
