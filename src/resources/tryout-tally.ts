/** Counts tryout applications by status, game, week and any field, for `tryouts stats` and `report`. */

import * as z from 'zod/mini';
import { TryoutStatus } from '../api/schemas.js';
import type { RecordList } from '../api/types.js';
import { params, type ValuesOf } from '../cli/define.js';
import { listFlags } from '../cli/filters.js';
import { filterList } from '../cli/lists/filter-list.js';
import { fieldOf } from '../cli/record-fields.js';
import { nonEmptyText } from '../cli/schemas.js';
import type { Context } from '../context.js';
import { mondayOf, timeOf } from '../data/dates.js';
import type { JsonObject } from '../data/json.js';
import { plainText, valuesAt } from '../data/path.js';
import { isEmptyValue, type RecordTest } from '../data/where.js';
import { isConverted } from './converted.js';
import { gamesOf, tryoutFilters, tryoutTests, waitingStatus } from './tryout-filters.js';

/** The flags of a command that counts applications: their filters, and the fields to count by. */
export const tallyFlags = {
  ...tryoutFilters,
  where: { ...listFlags.where, completes: 'field:tryouts' as const },
  search: listFlags.search,
  by: params(z.optional(z.array(nonEmptyText)), 'also count by this field or question', {
    placeholder: 'FIELD',
    group: 'output',
    completes: 'field:tryouts',
  }),
};

export type TallyValues = ValuesOf<typeof tallyFlags>;

/** The JSON output of `tryouts stats`. */
export interface Stats {
  readonly schema: 1;
  readonly total: number;
  readonly byStatus: Counts;
  readonly byGame: Counts;
  readonly byWeek: readonly { readonly week: string; readonly count: number }[];
  readonly converted: number;
  /** The counts of each field of `--by`, by the API's name; only if one was typed. */
  readonly by?: Readonly<Record<string, Counts>>;
}

/** The parts of one application that are counted. */
export interface CountedTryout {
  readonly status: string;
  readonly games: readonly string[];
  readonly isConverted: boolean;
  /** When it was submitted, in milliseconds since 1970; undefined without a readable time. */
  readonly submitted: number | undefined;
  /** The Monday of that week; undefined also for a week that has not begun. */
  readonly week: string | undefined;
  /** The values of each field of `--by`, in their order. */
  readonly values: readonly ValuesOfTryout[];
}

/** Counts the applications that pass the filters, and hands on each; times are in milliseconds since 1970. Throws what `filterList` throws. */
export async function tallyTryouts(
  context: Pick<Context, 'now' | 'note' | 'message'>,
  records: RecordList,
  values: TallyValues,
  onCounted: (counted: CountedTryout, record: JsonObject) => void = () => {},
) {
  const fields = [...new Set(values.by)].map((field) => new FieldCounts(field));
  const filters = { ...values, sort: undefined, limit: undefined };
  // Without it, a misspelt game would look like one that nobody plays.
  const summary = values.game
    ? (await import('./list-summary.js')).tryoutSummary(values)
    : undefined;
  const list = filterList(records, filters, {
    resource: 'tryouts',
    tests: [...tryoutTests(values, context), ...fields.map((field) => field.test())],
    notes: context,
    summary,
    onLabels(nameOf) {
      for (const field of fields) field.rename(nameOf);
    },
  });
  const thisWeek = mondayOf(context.now());
  const statuses = new Map<string, number>(TryoutStatus.options.map((status) => [status, 0]));
  const games = new Map<string, number>();
  const weeks = new Map<string, number>();
  const players = new Map<string, number>();
  let total = 0;
  let oldestPending: number | undefined;
  let first: number | undefined;
  let last: number | undefined;
  for await (const record of list) {
    const counted = countedOf(record, fields, thisWeek);
    const { status, submitted: ms } = counted;
    total += 1;
    add(statuses, status);
    if (counted.isConverted) add(players, status);
    for (const game of counted.games) add(games, game);
    if (counted.week !== undefined) add(weeks, counted.week);
    onCounted(counted, record);
    if (ms === undefined) continue;
    first = Math.min(first ?? ms, ms);
    last = Math.max(last ?? ms, ms);
    if (status === waitingStatus) oldestPending = Math.min(oldestPending ?? ms, ms);
  }
  const none = summary?.none();
  if (none?.isUnknown) context.note(none.text);
  const by = fields.map((field) => [field.name, field.counts()] as const);
  const stats = {
    schema: 1 as const,
    total,
    byStatus: Object.fromEntries(statuses),
    byGame: Object.fromEntries([...games].toSorted(([, a], [, b]) => b - a)),
    byWeek: [...weeks]
      .map(([week, count]) => ({ week, count }))
      .toSorted((a, b) => (a.week < b.week ? -1 : 1)),
    converted: [...players.values()].reduce((sum, count) => sum + count, 0),
    ...(fields.length > 0 && { by: Object.fromEntries(by) }),
  };
  return { stats, fields, players, oldestPending, first, last };
}

function countedOf(record: JsonObject, fields: readonly FieldCounts[], thisWeek: string) {
  const submitted = timeOf(record['submittedAt']);
  const week = submitted === undefined ? undefined : mondayOf(new Date(submitted));
  return {
    status: plainText(record['status']),
    games: gamesOf(record),
    isConverted: isConverted(record),
    submitted,
    week: week !== undefined && week <= thisWeek ? week : undefined,
    values: fields.map((field) => field.add(record)),
  };
}

function add(counts: Map<string, number>, word: string): void {
  counts.set(word, (counts.get(word) ?? 0) + 1);
}

/** How often each value occurs; records without a value count under the empty text. */
export type Counts = Readonly<Record<string, number>>;

/** The fields of `--by` with their counts, without the one that is always counted. */
export function furtherCounts(by: Stats['by'] = {}): readonly (readonly [string, Counts])[] {
  return Object.entries(by).filter(([field]) => field !== 'status');
}

/** The distinct values of one application, as texts: of the field, and of the question of that name. */
export interface ValuesOfTryout {
  readonly ofField: readonly string[];
  readonly ofQuestion: readonly string[];
}

/**
 * Counts applications by a field. Each element of a list counts, once per application. A name that no
 * record has as a field may be a question: `Main role` is then `formResponses.Main role`.
 */
class FieldCounts {
  private readonly ofField = new Map<string, number>();
  private readonly ofQuestion = new Map<string, number>();
  private isAsked = false;
  /** The API's name of the field, which differs from the one typed if that is a label. */
  private field: string;

  constructor(typed: string) {
    this.field = typed;
  }

  /** A test that every record passes; it makes a field that no record has an error. */
  test(): RecordTest {
    const { field } = fieldOf(this.field, 'tryouts');
    const on = (record: JsonObject) => field?.on(record) || isAsked(record, this.field);
    return { holds: () => true, ...(field && { field: { ...field, on } }) };
  }

  /** Translates the name typed, if it is a label; called before the first record is counted. */
  rename(nameOf: (field: string) => string): void {
    this.field = nameOf(this.field);
  }

  /** Counts a record, and returns its values; the empty text for none. */
  add(record: JsonObject): ValuesOfTryout {
    this.isAsked ||= isAsked(record, this.field);
    const ofField = textsOf(valuesAt(record, this.field));
    const ofQuestion = textsOf(valuesAt(record, questionPath(this.field)));
    for (const text of ofField) add(this.ofField, text);
    for (const text of ofQuestion) add(this.ofQuestion, text);
    return { ofField, ofQuestion };
  }

  /** The API's name of the field; known once every record was counted. */
  get name(): string {
    return this.isQuestion ? questionPath(this.field) : this.field;
  }

  /** Returns the counts, the most frequent value first; an object puts whole numbers before the rest. */
  counts(): Counts {
    const found = [...(this.isQuestion ? this.ofQuestion : this.ofField)];
    return Object.fromEntries(found.toSorted(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)));
  }

  /** Returns those values of an application that were counted. */
  valuesIn({ ofField, ofQuestion }: ValuesOfTryout): readonly string[] {
    return this.isQuestion ? ofQuestion : ofField;
  }

  private get isQuestion(): boolean {
    return this.isAsked && ![...this.ofField.keys()].some((value) => value !== '');
  }
}

function questionPath(question: string): string {
  return `formResponses.${question}`;
}

function isAsked(record: JsonObject, question: string): boolean {
  return valuesAt(record, questionPath(question)) !== undefined;
}

function textsOf(values: readonly unknown[] = []): readonly string[] {
  const texts = new Set(values.filter((value) => !isEmptyValue(value)).map(plainText));
  return texts.size > 0 ? [...texts] : [''];
}
