/** Filters of documents: their flags, and the tests that they stand for. */

import * as z from 'zod/mini';
import { allowedExtensions, knownExtensions, mediaType, typeByName } from '../api/schemas.js';
import { param, params, type ValuesOf } from '../cli/define.js';
import { type FilterWorld, selectionBy } from '../cli/filters.js';
import { nonEmptyText, parsedBy } from '../cli/schemas.js';
import { parseWhen, resolveWhen } from '../data/dates.js';
import { didYouMean } from '../data/nearest.js';
import { isSameText } from '../data/text.js';
import { type RecordTest, typedField, withinTimes } from '../data/where.js';
import { UsageError } from '../errors.js';
import { tagsIn } from './document-tags.js';

const group = 'selection';

/** The filters apart from `--tag`, for commands where `--tag` is a new value. */
export const untaggedFilters = {
  type: param(
    z.optional(parsedBy(parseType)),
    'only documents of this type, such as pdf or image/png (image/ for all images)',
    { group, completes: 'value:documents:contentType' },
  ),
  since: param(z.optional(parsedBy(parseWhen)), 'created since: 7d, yesterday, monday, 2026-11', {
    placeholder: 'WHEN',
    group,
  }),
};

/** The filters of documents, which rosterctl applies itself (contract 4.4). */
export const documentFilters = {
  tag: params(
    z.optional(z.array(nonEmptyText)),
    'only documents with this tag; if repeated, with all of them',
    { group, completes: 'value:documents:tags' },
  ),
  ...untaggedFilters,
};

type DocumentFilterValues = Partial<ValuesOf<typeof documentFilters>>;

/** Tests for the given filters; ages count back from now. */
function documentTests(
  { tag = [], type, since }: DocumentFilterValues,
  { now }: Pick<FilterWorld, 'now'>,
): readonly RecordTest[] {
  return [
    ...tag.map(hasTag),
    ...(type === undefined ? [] : [isOfType(type)]),
    ...withinTimes('--since', 'createdAt', since && resolveWhen(since, 'start', now()), undefined),
  ];
}

/** The filters of `documents list`, also for bulk commands. */
export const documentSelection = selectionBy(documentFilters, documentTests);

/** The document filters of bulk commands in which `--tag` is a new value. */
export const untaggedSelection = selectionBy(
  untaggedFilters,
  ({ type, since }: DocumentFilterValues, world) => documentTests({ type, since }, world),
);

/** Parses a content type, a prefix of one (`image/` or `image/*`), or the short name shown in tables. Throws UsageError. */
function parseType(text: string): string {
  if (text.includes('/')) return text.toLowerCase().replace(/\/\*$/, '/');
  const short = text.replace(/^\./, '').toLowerCase();
  const type = typeByName(`.${short}`);
  if (type !== undefined) return type;
  throw new UsageError(`"${text}" is not a content type.${didYouMean(short, typeWords)}`, {
    hint: `Use ${allowedExtensions.join(', ')}, a type such as image/png, or image/ for all images.`,
  });
}

const typeWords = [...knownExtensions, 'image/', 'text/', 'application/'];

function hasTag(tag: string): RecordTest {
  return {
    holds: ({ tags }) => tagsIn(tags)?.some((each) => isSameText(each, tag)) ?? false,
    field: typedField('--tag', 'tags', (value) => tagsIn(value) !== undefined),
  };
}

function isOfType(type: string): RecordTest {
  return {
    holds({ contentType }) {
      if (typeof contentType !== 'string') return false;
      const own = mediaType(contentType);
      return type.endsWith('/') ? own.startsWith(type) : own === type;
    },
    field: typedField('--type', 'contentType', (value) => typeof value === 'string'),
  };
}
