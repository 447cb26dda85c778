/** Selection of tryout applications by filters, for bulk commands. */
import { allFlags } from '../bulk/invocation.js';
import { type Filters, listFlags } from '../cli/filters.js';
import { orList } from '../data/text.js';
import { durationInWords } from '../data/time.js';
import { ifStatusFlag } from './tryout-edit.js';
import {
  type TryoutFilterValues,
  tryoutFilters,
  tryoutQuery,
  tryoutTests,
} from './tryout-filters.js';

/** The filters that are simple enough to be said in the head of a preview. */
const worded: ReadonlySet<string> = new Set(['status', 'game', 'olderThan']);

function tryoutWords(values: TryoutFilterValues): ReturnType<NonNullable<Filters['words']>> {
  const given = Object.entries(values).filter(
    ([, value]) => value !== undefined && value !== false,
  );
  if (given.some(([name]) => tryoutSelection.names.includes(name) && !worded.has(name)))
    return undefined;
  const { status = [], game = [], olderThan } = values;
  return {
    before: [orList(status), orList(game)].filter((word) => word !== '').join(' '),
    after: olderThan === undefined ? '' : ` older than ${durationInWords(olderThan)}`,
  };
}

/** The filters of `tryouts list`, for bulk commands. */
export const tryoutSelection: Filters = {
  names: [...Object.keys(tryoutFilters), 'where', 'search'],
  tests: (values: TryoutFilterValues, world) => tryoutTests(values, world),
  words: tryoutWords,
  query: (values: TryoutFilterValues, overrides) => tryoutQuery(values, overrides),
};

/** The flags of that selection and its guard, in the order of the help; the rare ones appear in --help only. */
export const tryoutSelectionFlags = {
  ...asRare(tryoutFilters, ['status']),
  ...asRare(listFlags, ['where']),
  ...allFlags,
  ...ifStatusFlag,
};

/** Returns flags of which only `shown` appear on the short help page. */
export function asRare<F extends Record<string, object>>(flags: F, shown: readonly string[]): F {
  return Object.fromEntries(
    Object.entries(flags).map(([name, own]) => [
      name,
      shown.includes(name) ? own : { ...own, rare: true },
    ]),
  ) as F;
}
