/** The page of `report`: its facts, charts and sentences, before they are HTML or Markdown. */

import { resolveWhen, type When } from '../../data/dates.js';
import { groupedNumber } from '../../data/text.js';
import { durationInWords, longDay, longTime } from '../../data/time.js';
import { singleLine } from '../../terminal/safe-text.js';
import { truncate } from '../../terminal/width.js';
import type { CountedTryout, TallyValues, ValuesOfTryout } from '../tryout-tally.js';
import { type Grouping, isSmall, type TryoutGroup } from './groups.js';

/** A page about the applications of a season, for people outside this tool. */
export interface SeasonPage {
  readonly organization: string;
  /** The number of applications; `few` if that is a small group itself. */
  readonly total: number | 'few';
  /** The filters, in words. */
  readonly filters: readonly string[];
  readonly charts: readonly SeasonChart[];
  /** True if small groups are shown. */
  readonly isExact: boolean;
  readonly madeAt: Date;
  readonly version: string;
}

/** One chart with the numbers behind it. */
export interface SeasonChart {
  readonly title: string;
  /** The head of the first column: the kind of thing that a row counts. */
  readonly unit: string;
  readonly note?: string | undefined;
  readonly rows: readonly ChartRow[];
  /** The sentence in place of the rows. */
  readonly instead?: string | undefined;
  /** A chart over time; without, each row is a bar. */
  readonly timeline?: TimeColumns | undefined;
}

/** One row: a label, which may be text of an applicant, and its number. */
export interface ChartRow {
  readonly label: string;
  /** Undefined where a number would give away a small group. */
  readonly count: number | undefined;
  /** The words in place of a number. */
  readonly words?: string;
}

/** The columns of a chart over time, and the days at its ends. */
export interface TimeColumns {
  /** The meaning of a column's height, in words. */
  readonly scale: string;
  readonly columns: readonly TimeColumn[];
  readonly from: string;
  readonly to: string;
}

/** A column of a chart over time: as wide as its steps, as high as their average. */
export interface TimeColumn {
  readonly first: number;
  readonly width: number;
  readonly height: number;
}

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

/** The label of what was merged. */
const restLabel = 'other';

const maxLabelColumns = 60;

/** Returns a text of the service or an applicant as a short line without anything that hides or reorders text. */
export function rowLabel(text: string, columns = maxLabelColumns): string {
  const line = truncate(singleLine(text), columns);
  return line.trim() === '' ? '(blank)' : line;
}

/** Returns a group for each key: the number in the list of each application that has it. */
export function groupsBy(
  keys: readonly (readonly string[])[],
  known: readonly { readonly label: string; readonly members: Set<number> }[] = [],
) {
  const groups = new Map(known.map((group) => [group.label, group]));
  for (const [member, labels] of keys.entries())
    for (const label of labels) {
      const group = groups.get(label) ?? { label, members: new Set<number>() };
      groups.set(label, group);
      group.members.add(member);
    }
  return [...groups.values()];
}

/**
 * Returns a row for each group. Where they overlap, a number close to `total` would tell how few are not
 * in the group, and has words instead.
 */
export function barsOf(
  groups: readonly TryoutGroup[],
  total: number,
  nameOf: (label: string) => string,
  { overlaps = false }: { readonly overlaps?: boolean } = {},
): readonly ChartRow[] {
  return groups.map(({ label, members: { size } }) => {
    const name = label === undefined ? restLabel : nameOf(label);
    if (overlaps && isSmall(total - size))
      return { label: name, count: undefined, words: 'nearly all' };
    return { label: name, count: size };
  });
}

// --- sentences ---

const privacy =
  'Groups of fewer than five are counted as "other" or joined with their neighbours, to protect people\'s privacy.';

/** Returns the sentences around the charts; `organization` and filters may hold any text. */
export function pageWords(page: SeasonPage) {
  const { total, filters, isExact, madeAt, version } = page;
  const of = `of ${rowLabel(page.organization)}`;
  const matching = filters.length > 0 ? 'matching ' : '';
  const many = `${matching}applications`;
  const amount = (count: number) =>
    `${groupedNumber(count)} ${matching}${count === 1 ? 'application' : 'applications'}`;
  const lead =
    total === 'few'
      ? `Fewer than five ${many} ${of}: too few to show without identifying people.`
      : total === 0
        ? `There are no ${many} ${of}.`
        : `${amount(total)} ${of}`;
  const counted = total === 'few' ? `fewer than five ${many}` : amount(total);
  return {
    title: 'Tryout applications',
    lead,
    warning: isExact
      ? 'Exact numbers: this page also shows small groups, in which people can be recognized. Do not publish it.'
      : undefined,
    foot: [
      `Counted: ${counted} ${of}, from the complete list.`,
      filters.length > 0 ? `Filters: ${filters.join('; ')}.` : 'Filters: none.',
      ...(isExact ? [] : [privacy]),
      `As of ${longTime(madeAt)}. Made with rosterctl ${version}.`,
    ],
  };
}

/** Returns the filters in words, without values of --search, --where and --form, which may name a person. */
export function filterWords(values: TallyValues, now: Date): readonly string[] {
  const { status, notStatus, game, form = [], where = [], search, olderThan } = values;
  const day = (when: When, edge: 'start' | 'end') =>
    longDay(new Date(resolveWhen(when, edge, now)));
  const questions = form.map(([reading]) => reading?.question ?? '');
  return [
    ...(status ? [`status ${list(status)}`] : []),
    ...(notStatus ? [`status not ${list(notStatus)}`] : []),
    ...(game ? [`game ${list(game)}`] : []),
    ...(values.since ? [`submitted since ${day(values.since, 'start')}`] : []),
    ...(values.until ? [`submitted until ${day(values.until, 'end')}`] : []),
    ...(olderThan === undefined ? [] : [`submitted more than ${durationInWords(olderThan)} ago`]),
    ...(values.updatedSince ? [`changed since ${day(values.updatedSince, 'start')}`] : []),
    ...(values.converted ? ['already a player'] : []),
    ...(values.unconverted ? ['not yet a player'] : []),
    ...(values.withNotes ? ['with internal notes'] : []),
    ...(values.withoutNotes ? ['without internal notes'] : []),
    ...(questions.length > 0 ? [`a certain answer to ${list(questions)}`] : []),
    ...(where.length > 0 ? [`a condition on ${list(where.map(({ field }) => field))}`] : []),
    ...(search === undefined ? [] : ['a text search']),
  ];
}

function list(words: readonly string[]): string {
  return words.map((word) => rowLabel(word)).join(', ');
}
