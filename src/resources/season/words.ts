/** The sentences of the page of `report`: what was counted, and what a reader must know. */
import { resolveWhen, type When } from '../../data/dates.js';
import { groupedNumber, plural } from '../../data/text.js';
import { durationInWords, longDay, longTime } from '../../data/time.js';
import type { TallyValues } from '../tryout-tally.js';
import { rowLabel, type SeasonPage } from './page.js';

/** The sentences around the charts. */
interface PageWords {
  readonly title: string;
  /** The number of applications, and whose they are. */
  readonly lead: string;
  readonly warning: string | undefined;
  readonly foot: readonly string[];
}

const privacy =
  'Groups of fewer than five are counted as "other" or joined with their neighbours, to protect people\'s privacy.';

/** Returns the sentences around the charts; `organization` and filters may hold any text. */
export function pageWords(page: SeasonPage): PageWords {
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

/**
 * Returns the filters in words. The text of --search, and the values of --where and --form, may name a
 * person and are left out.
 */
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
    ...(search === undefined ? [] : ['a search for a text']),
  ];
}

function list(words: readonly string[]): string {
  return words.map((word) => rowLabel(word)).join(', ');
}

/** Returns `64 applications`, or `fewer than five applications`. */
export function totalWords(total: SeasonPage['total']): string {
  return total === 'few' ? 'fewer than five applications' : plural(total, 'application');
}
