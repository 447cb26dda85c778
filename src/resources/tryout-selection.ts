/** Selection of tryout applications by filters, for bulk commands. */

import { allFlags } from '../bulk/invocation.js';
import { isGiven } from '../cli/check.js';
import type { Filters } from '../cli/filters.js';
import { orList } from '../data/text.js';
import { durationInWords } from '../data/time.js';
import { asRare, listSelectionFlags, selectionBy } from './selection.js';
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
  const given = Object.entries(values).filter(([, value]) => isGiven(value));
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
  ...selectionBy(tryoutFilters, tryoutTests),
  words: tryoutWords,
  query: tryoutQuery,
};

/** The flags of that selection and its guard, in the order of the help; the rare ones appear in --help only. */
export const tryoutSelectionFlags = {
  ...asRare(tryoutFilters, ['status']),
  ...listSelectionFlags,
  ...allFlags,
  ...ifStatusFlag,
};
