/** The charts of a season: applications by status, week, game and answer, the funnel, and how long ago they changed. */
import { TryoutStatus } from '../../api/schemas.js';
import { fieldLabel } from '../../cli/lists/labels.js';
import type { JsonObject } from '../../data/json.js';
import { bracketPath } from '../../data/path.js';
import { foldCase, groupedNumber, shellQuote } from '../../data/text.js';
import { UsageError } from '../../errors.js';
import { singleLine } from '../../terminal/safe-text.js';
import { waitingStatus } from '../tryout-filters.js';
import { givesAway, isSmall, mergeSmall, type TryoutGroup } from './groups.js';
import {
  barsOf,
  type ChartRow,
  type DrawnChart,
  groupsBy,
  rowLabel,
  type SeasonChart,
  type SeasonField,
  type SeasonTryout,
  tooFewEach,
  withoutRows,
} from './page.js';
import { changesChart, weeksChart } from './timelines.js';

/** The sentence in place of a chart that gives a small group away together with another. */
const givenAway =
  'Not shown: together with the charts above, it could reveal a group of fewer than five.';

/** How many games have a row of their own. */
const mostGames = 12;

/**
 * Returns the charts. Unless `isExact`, no number of one to four applications can be read from them or
 * computed, not even from two of them. Throws UsageError for a field with too many values.
 */
export function seasonCharts(
  tryouts: readonly SeasonTryout[],
  fields: readonly SeasonField[],
  isExact: boolean,
): readonly SeasonChart[] {
  const status = statusGroups(tryouts, isExact);
  const drawn: DrawnChart[] = [
    statusChart(status, tryouts.length),
    funnelChart(tryouts, status, isExact),
    weeksChart(tryouts, isExact),
    gamesChart(tryouts, isExact),
    changesChart(tryouts, isExact),
  ];
  const drawnFields = new Set(['status']);
  for (const [index, field] of fields.entries()) {
    if (drawnFields.size === drawnFields.add(field.name).size) continue;
    const values = tryouts.map((tryout) => {
      const own = tryout.values[index];
      return own ? field.valuesIn(own) : [''];
    });
    const next = fieldChart(field.name, values, isExact);
    drawn.push(!isExact && givesAway(drawn, next) ? withoutRows(next.chart, givenAway) : next);
  }
  return drawn.map(({ chart }) => chart);
}

function statusGroups(tryouts: readonly SeasonTryout[], isExact: boolean) {
  const known = TryoutStatus.options.map((label) => ({ label, members: new Set<number>() }));
  const groups = groupsBy(
    tryouts.map(({ status }) => [status]),
    known,
  );
  const shown = isExact ? groups : mergeSmall(groups);
  return shown && [...groups.filter((group) => shown.includes(group)), ...shown.filter(isRest)];
}

function isRest({ label }: TryoutGroup): boolean {
  return label === undefined;
}

function statusChart(groups: readonly TryoutGroup[] | undefined, total: number): DrawnChart {
  const chart = { title: 'By status', unit: 'Status' };
  if (!groups) return withoutRows(chart, tooFewEach);
  return { chart: { ...chart, rows: barsOf(groups, total, rowLabel) }, groups, overlaps: false };
}

function gamesChart(tryouts: readonly SeasonTryout[], isExact: boolean): DrawnChart {
  const chart = { title: 'By game', unit: 'Game' };
  const groups = groupsBy(tryouts.map(({ games }) => games));
  if (groups.length === 0) return withoutRows(chart, 'No application names a game.');
  const bySize = groups.toSorted((a, b) => b.members.size - a.members.size);
  const shown = isExact ? bySize : mergeSmall(bySize, mostGames);
  if (!shown) return withoutRows(chart, tooFewEach);
  const note = 'An applicant may play several.';
  const isCut = shown.filter((group) => !isRest(group)).length === mostGames && shown.some(isRest);
  const rest = ` All but the ${mostGames} largest are counted as "other".`;
  const rows = barsOf(shown, tryouts.length, rowLabel, { overlaps: !isExact });
  return {
    chart: { ...chart, note: isCut ? note + rest : note, rows },
    groups: shown,
    overlaps: true,
  };
}

interface Stage {
  readonly label: string;
  readonly includes: (status: string) => boolean;
}

const hasStatus =
  (...statuses: readonly TryoutStatus[]) =>
  (status: string) =>
    statuses.some((each) => each === status);

const stages: readonly Stage[] = [
  { label: 'Submitted', includes: () => true },
  { label: 'No longer pending', includes: (status) => status !== waitingStatus },
  { label: 'Shortlisted or accepted', includes: hasStatus('shortlisted', 'accepted') },
  { label: 'Accepted', includes: hasStatus('accepted') },
];

const funnelNote =
  'As of today: the service keeps no history. Someone who was shortlisted and then rejected counts only as no longer pending.';

/**
 * Returns the funnel. `groups`: the statuses as the page shows them. A stage that is not made of whole
 * groups has no number, since the difference would be a number that the page does not show.
 */
function funnelChart(
  tryouts: readonly SeasonTryout[],
  groups: readonly TryoutGroup[] | undefined,
  isExact: boolean,
): DrawnChart {
  const chart = { title: 'Funnel', unit: 'Stage' };
  const players = new Set(tryouts.flatMap((tryout, at) => (tryout.isConverted ? [at] : [])));
  if (!groups) return withoutRows(chart, tooFewEach);
  const shown = new Set(groups.map(({ label }) => label));
  const isMerged = shown.has(undefined);
  const merged = [...new Set(tryouts.map(({ status }) => status)), ...TryoutStatus.options].filter(
    (status) => !shown.has(status),
  );
  const rows = stages.map(({ label, includes }): ChartRow => {
    const isWhole = merged.every(includes) || !merged.some(includes);
    if (isMerged && !isWhole) return hidden(label);
    return { label, count: tryouts.filter(({ status }) => includes(status)).length };
  });
  const areFew = groups.some(({ members }) => {
    const both = [...members].filter((member) => players.has(member)).length;
    return isSmall(both) || isSmall(members.size - both);
  });
  const isHidden = areFew && !isExact;
  const label = 'Became players';
  const all = [...rows, isHidden ? hidden(label) : { label, count: players.size }];
  const why = all.some(({ count }) => count === undefined)
    ? ' Numbers that would reveal a group of fewer than five are not shown.'
    : '';
  return {
    chart: { ...chart, note: funnelNote + why, rows: all },
    groups: isHidden ? [] : [{ label, members: players }],
    overlaps: true,
  };
}

function hidden(label: string): ChartRow {
  return { label, count: undefined, words: 'not shown' };
}

/** A field with more values is text rather than a choice. */
const mostValues = 20;

const maxTitleColumns = 120;

/** Fields that name a person or hold text about one. */
const personal: readonly string[] = [
  ...['id', 'name', 'email', 'discordUserId', 'discordUsername', 'internalNotes'],
  ...['convertedPlayerId', 'convertedPlayer', 'gamerTags', 'formResponses'],
];

/** Fields that the page shows in weeks. */
const times: readonly string[] = ['submittedAt', 'createdAt', 'updatedAt'];

const question = 'formResponses.';

/** Throws UsageError for a field by which no page is made, because it would name persons or days. */
export function checkField(name: string): void {
  const [root = '', ...rest] = bracketPath(name) ?? name.split('.');
  const isGame = root === 'gamerTags' && rest.at(-1) === 'game';
  const isAnswer = root === 'formResponses' && rest.join('') !== '';
  if (times.includes(root))
    throw new UsageError(`The report shows times in weeks, so --by ${root} is not possible.`, {
      hint: `Count by them here: rosterctl tryouts stats --by ${shellQuote(name)}`,
    });
  if (personal.includes(root) && !isGame && !isAnswer) throw namesPersons(name);
}

/** True if a value of an application names its applicant: an e-mail address, or the applicant's name. */
export function namesApplicant(value: string, { name }: JsonObject): boolean {
  return (
    value.split(/\s/).some(isAddress) ||
    (typeof name === 'string' && name !== '' && foldCase(value) === foldCase(name))
  );
}

/** True for a word like `ann@example.org`. A regular expression would take minutes for a long untrusted text. */
function isAddress(word: string): boolean {
  const at = word.indexOf('@', 1);
  const dot = at < 0 ? -1 : word.indexOf('.', at + 2);
  return dot > 0 && dot < word.length - 1;
}

/** The error for a field that holds names or addresses. */
export function namesPersons(field: string): UsageError {
  return new UsageError(
    `The report never names a person, so --by ${shellQuote(field)} is not possible.`,
    { hint: 'Count by a field or question with a few answers to choose from.' },
  );
}

/**
 * Draws the values of a field, of each application the distinct ones. Throws UsageError for a field
 * with more than 20 different values, unless `isExact`.
 */
function fieldChart(name: string, values: readonly (readonly string[])[], isExact: boolean) {
  const isQuestion = name.startsWith(question);
  const heading = isQuestion ? name.slice(question.length) : fieldLabel(name);
  const chart = {
    title: rowLabel(heading, maxTitleColumns),
    unit: isQuestion ? 'Answer' : 'Value',
  };
  const overlaps = values.some(({ length }) => length > 1);
  const all = groupsBy(values);
  const filled = all.filter(({ label }) => label !== '');
  if (filled.length > mostValues && !isExact) throw tooManyValues(name, filled.length);
  // Beside overlapping groups, those without a value tell how many have several.
  const areLeftOut = overlaps && !isExact;
  const groups = areLeftOut ? filled : all;
  const areNumbers = filled.every(({ label }) => Number.isFinite(Number(label)));
  const sorted = (isExact ? groups : mergeSmall(groups))?.toSorted((a, b) => {
    const [last, other] = [isLast(a.label), isLast(b.label)];
    if (last !== other) return last - other;
    return areNumbers && last === 0
      ? Number(a.label) - Number(b.label)
      : b.members.size - a.members.size;
  });
  if (!sorted) return withoutRows(chart, tooFewEach);
  const several = 'An application may have several of these.';
  const rest = areLeftOut ? ' Those without one are left out.' : '';
  const note = overlaps ? several + rest : undefined;
  const rows = barsOf(sorted, values.length, valueLabel, { overlaps: areLeftOut });
  return { chart: { ...chart, note, rows }, groups: sorted, overlaps };
}

function valueLabel(label: string): string {
  return label === '' ? '(none)' : rowLabel(label);
}

/** Sorts those without a value, and then the rest, after all others. */
function isLast(label: string | undefined): number {
  if (label === undefined) return 2;
  return label === '' ? 1 : 0;
}

function tooManyValues(name: string, count: number): UsageError {
  return new UsageError(
    `"${singleLine(name)}" has ${groupedNumber(count)} different values; a chart shows at most ${mostValues}.`,
    {
      hint: `See them: rosterctl tryouts stats --by ${shellQuote(name)}\nTo show all of them in the report, small groups too, add --exact.`,
    },
  );
}
