/** The chart of a field of `--by`: which fields a page may count by, and its groups. */
import { fieldLabel } from '../../cli/lists/labels.js';
import type { JsonObject } from '../../data/json.js';
import { bracketPath } from '../../data/path.js';
import { foldCase, groupedNumber, shellQuote } from '../../data/text.js';
import { UsageError } from '../../errors.js';
import { singleLine } from '../../terminal/safe-text.js';
import { barsOf, type DrawnChart, groupsBy, rowLabel, tooFewEach, withoutRows } from './drawn.js';
import { mergeSmall } from './groups.js';

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
    /\S@\S+\.\S/.test(value) ||
    (typeof name === 'string' && name !== '' && foldCase(value) === foldCase(name))
  );
}

/** The error for a field that holds names or addresses. */
export function namesPersons(field: string): UsageError {
  return new UsageError(
    `The report never names a person, so --by ${shellQuote(field)} is not possible.`,
    {
      hint: 'Count by a field or question with a few answers to choose from.',
    },
  );
}

/**
 * Draws the values of a field, of each application the distinct ones. Throws UsageError for a field
 * with more than 20 different values, unless `isExact`.
 */
export function fieldChart(
  name: string,
  values: readonly (readonly string[])[],
  isExact: boolean,
): DrawnChart {
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
  const groups = overlaps && !isExact ? filled : all;
  const areNumbers = filled.every(({ label }) => Number.isFinite(Number(label)));
  const sorted = (isExact ? groups : mergeSmall(groups))?.toSorted((a, b) => {
    const [last, other] = [isLast(a.label), isLast(b.label)];
    if (last !== other) return last - other;
    return areNumbers && last === 0
      ? Number(a.label) - Number(b.label)
      : b.members.size - a.members.size;
  });
  if (!sorted) return withoutRows(chart, tooFewEach);
  const note = overlaps
    ? 'An application may have several of these. Those without one are left out.'
    : undefined;
  const rows = barsOf(sorted, values.length, valueLabel, { overlaps: overlaps && !isExact });
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
