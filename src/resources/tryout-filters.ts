/** Filters of tryout applications: their flags, and the tests that they stand for. */

import * as z from 'zod/mini';
import { TryoutStatus } from '../api/schemas.js';
import { isGiven } from '../cli/check.js';
import { flag, param, params, type ValuesOf } from '../cli/define.js';
import {
  asRare,
  type Filters,
  type FilterWorld,
  listSelectionFlags,
  selectionBy,
} from '../cli/filters.js';
import { nonEmptyText, parsedBy } from '../cli/schemas.js';
import { localDay, parseWhen, resolveWhen, type When } from '../data/dates.js';
import { isObject, type JsonObject } from '../data/json.js';
import type { Overrides } from '../data/resources.js';
import { foldCase, isSameText, orList, shellQuote, yesOrNo } from '../data/text.js';
import { durationInWords, parseDuration } from '../data/time.js';
import {
  anyEquals,
  isEmptyValue,
  type RecordTest,
  typedField,
  withinTimes,
} from '../data/where.js';
import { UsageError } from '../errors.js';
import { isConverted } from './converted.js';

const group = 'selection';
const point = () => z.optional(parsedBy(parseWhen));

/** The filters that only applications have; all are applied by rosterctl, not by the service (contract 4.4). */
export const tryoutFilters = {
  status: params(z.optional(z.array(TryoutStatus)), 'one of these statuses', {
    commaList: true,
    placeholder: 'S[,S]',
    group,
  }),
  notStatus: params(z.optional(z.array(TryoutStatus)), 'exclude these statuses', {
    commaList: true,
    placeholder: 'S[,S]',
    group,
  }),
  game: params(z.optional(z.array(nonEmptyText)), 'applicants who play this game', {
    group,
    completes: 'value:tryouts:gamerTags.game',
  }),
  form: params(z.optional(z.array(parsedBy(parseAnswer))), 'applicants who gave this answer', {
    placeholder: "'question=answer'",
    group,
    completes: 'value:tryouts:formResponses',
  }),
  since: param(point(), 'submitted since: 7d, yesterday, monday, 2026-11', {
    placeholder: 'WHEN',
    group,
  }),
  until: param(point(), 'submitted until the end of that day or month', {
    placeholder: 'WHEN',
    group,
  }),
  olderThan: param(z.optional(parsedBy(parseDuration)), 'submitted longer ago, e.g. 60d', {
    placeholder: 'AGE',
    group,
  }),
  updatedSince: param(point(), 'updated on or after', { placeholder: 'WHEN', group }),
  converted: flag('already a player', { group }),
  unconverted: flag('not yet a player', { group }),
  withNotes: flag('with internal notes', { group }),
  withoutNotes: flag('without internal notes', { group }),
};

/** The status of applications that nobody has looked at. */
export const waitingStatus = 'pending';

/** The statuses that wait for a decision, the one that waits for an answer at all first. */
export const undecided: readonly string[] = [waitingStatus, 'reviewing', 'shortlisted'];

/** Filters that contradict each other. */
export const tryoutExcludes = [
  ['converted', 'unconverted'],
  ['withNotes', 'withoutNotes'],
] as const;

export type TryoutFilterValues = ValuesOf<typeof tryoutFilters>;

/** The filters of `tryouts list`, also for bulk commands. */
export const tryoutSelection: Filters = {
  ...selectionBy(tryoutFilters, tryoutTests),
  words: tryoutWords,
  query: tryoutQuery,
};

/** The flags of that selection in bulk commands; the rare ones appear in --help only. */
export const tryoutSelectionFlags = { ...asRare(tryoutFilters, ['status']), ...listSelectionFlags };

/** The filters that are simple enough to be said in the head of a preview. */
const worded: readonly string[] = ['status', 'game', 'olderThan'];

function tryoutWords(values: TryoutFilterValues): ReturnType<NonNullable<Filters['words']>> {
  const given = tryoutSelection.names.filter((name) =>
    isGiven(values[name as keyof typeof values]),
  );
  if (given.some((name) => !worded.includes(name))) return undefined;
  const { status = [], game = [], olderThan } = values;
  return {
    before: [orList(status), orList(game)].filter((word) => word !== '').join(' '),
    after: olderThan === undefined ? '' : ` older than ${durationInWords(olderThan)}`,
  };
}

/**
 * The query parameter for filtering by status, if an admin configured one; the answer is filtered again
 * here. Only for one status, because how to send several is unknown.
 */
function tryoutQuery(
  { status = [] }: Pick<TryoutFilterValues, 'status'>,
  overrides: Overrides,
): { readonly [name: string]: string } {
  const name = overrides['filters.tryouts.status'];
  const [only, ...more] = status;
  return name === undefined || only === undefined || more.length > 0 ? {} : { [name]: only };
}

/** Tests for the given filters; ages count back from now. Throws UsageError for a --since after --until. */
export function tryoutTests(
  values: TryoutFilterValues,
  { now: clock }: Pick<FilterWorld, 'now'>,
): readonly RecordTest[] {
  const { status, notStatus, game, form = [], since, until, olderThan, updatedSince } = values;
  const now = clock();
  const after = (when: When | undefined) => when && resolveWhen(when, 'start', now);
  const before = until && resolveWhen(until, 'end', now);
  const from = after(since);
  if (from !== undefined && before !== undefined && from > before)
    throw new UsageError('--since is later than --until, so no application can match.', {
      hint:
        since?.kind === 'weekday' || until?.kind === 'weekday'
          ? `They mean --since ${localDay(new Date(from))} --until ${localDay(new Date(before))}. Swap the two, or write dates.`
          : 'Swap the two.',
    });
  const oldest = olderThan === undefined ? undefined : now.getTime() - olderThan;
  return [
    ...(status ? [statusTest('--status', (own) => isOneOf(own, status))] : []),
    ...(notStatus ? [statusTest('--not-status', (own) => !isOneOf(own, notStatus))] : []),
    ...(game ? [playsOneOf(game)] : []),
    ...form.map(answers),
    ...(values.converted ? [{ holds: isConverted }] : []),
    ...(values.unconverted ? [{ holds: (record: JsonObject) => !isConverted(record) }] : []),
    ...(values.withNotes ? [{ holds: hasNotes }] : []),
    ...(values.withoutNotes ? [{ holds: (record: JsonObject) => !hasNotes(record) }] : []),
    // Last, so that they count only unreadable times of records that match all other filters.
    ...withinTimes(since ? '--since' : '--until', 'submittedAt', from, before),
    ...withinTimes('--older-than', 'submittedAt', undefined, oldest),
    ...withinTimes('--updated-since', 'updatedAt', after(updatedSince), undefined),
  ];
}

/** The distinct games of an application's gamer tags: a list of tags (contract 2.2), or tags by their game. */
export function gamesOf({ gamerTags }: JsonObject): readonly string[] {
  return [...new Set(gamesIn(gamerTags))].filter((game) => game.trim() !== '');
}

function gamesIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((tag) => (isObject(tag) ? gameOf(tag) : []));
  if (!isObject(value)) return [];
  const [single] = gameOf(value);
  if (single !== undefined) return [single];
  return Object.entries(value).flatMap(([game, tag]) => (isObject(tag) ? gameOf(tag, game) : game));
}

function gameOf({ game }: JsonObject, otherwise?: string): readonly string[] {
  const name = typeof game === 'string' ? game : otherwise;
  return name === undefined ? [] : [name];
}

/** A question and its answer; the question is a literal key, dots included. */
interface FormAnswer {
  readonly question: string;
  readonly answer: string;
}

/** Parses every reading of `a=b=c`, since a question may contain an equals sign. Throws UsageError. */
function parseAnswer(text: string): readonly FormAnswer[] {
  const readings = [...text.matchAll(/=/g)].map(({ index }) => ({
    question: text.slice(0, index),
    answer: text.slice(index + 1),
  }));
  const [first] = readings;
  if (!first || first.question.trim() === '')
    throw new UsageError('Write an answer as question=answer.', {
      hint: 'See the questions: rosterctl tryouts get ID --fields formResponses',
    });
  return readings;
}

function answers(readings: readonly FormAnswer[]): RecordTest {
  const answersIn = (record: JsonObject) => {
    const form = isObject(record['formResponses']) ? record['formResponses'] : {};
    return readings.flatMap(({ question, answer }) =>
      Object.keys(form)
        .filter((key) => isSameText(key, question))
        .map((key) => ({ value: form[key], answer })),
    );
  };
  return {
    holds: (record) =>
      answersIn(record).some(({ value, answer }) => {
        const values = Array.isArray(value) ? value : [value];
        return anyEquals(values, answer) || values.some((each) => isShownAs(each, answer));
      }),
    field: {
      name: `formResponses.${readings[0]?.question ?? ''}`,
      on: (record) => answersIn(record).length > 0,
      asking: (question) => `--form ${shellQuote(`${question}=${readings[0]?.answer ?? ''}`)}`,
    },
  };
}

/** True for a truth value that a card shows as this word: a ticked box is `yes`. */
function isShownAs(value: unknown, word: string): boolean {
  return typeof value === 'boolean' && yesOrNo(value) === foldCase(word);
}

function statusTest(word: string, fits: (status: unknown) => boolean): RecordTest {
  return {
    holds: ({ status }) => fits(status),
    field: typedField(word, 'status', (value) => typeof value === 'string'),
  };
}

function isOneOf(value: unknown, words: readonly string[]): boolean {
  return typeof value === 'string' && words.includes(value);
}

function playsOneOf(games: readonly string[]): RecordTest {
  const words = games.map(foldCase);
  return {
    holds: (record) => gamesOf(record).some((game) => words.includes(foldCase(game))),
    field: typedField('--game', 'gamerTags', (value) => gamesIn(value).length > 0),
  };
}

function hasNotes({ internalNotes: notes }: JsonObject): boolean {
  return typeof notes === 'string' ? notes.trim() !== '' : !isEmptyValue(notes);
}
