import * as z from 'zod/mini';
import { namedKeys } from '../config/keys.js';
import { parseDuration } from '../data/duration.js';
import { parseCondition } from '../data/where.js';
import { UsageError } from '../errors.js';
import { flag, param, type Params, params, type ValuesOf } from '../cli/define.js';
import { parsedBy } from '../cli/filters.js';

const file = (text: string, word?: string) =>
  param(z.optional(z.string().check(z.minLength(1, 'must not be empty'))), text, {
    placeholder: 'FILE|-',
    group: 'selection',
    completes: 'file',
    ...(word !== undefined && { word }),
  });

const count = (least: number) =>
  z.optional(
    z
      .pipe(
        z.string().check(z.regex(/^\d{1,9}$/, 'must be a whole number')),
        z.transform((text: string) => Number(text)),
      )
      .check(z.refine((number) => number >= least, `must be at least ${least}`)),
  );

/** Ids out of a file; the positional ids have the name already. */
export const idsFileFlag = {
  idsFile: file('ids from a file: lines, NDJSON, JSON or CSV', '--ids'),
};

/** Values of their own for each row. */
export const csvFlags = {
  csv: file('rows from a CSV: id and what to set'),
  map: params(z.optional(z.array(parsedBy(parseMapping))), 'rename a column of the CSV', {
    placeholder: "'THEIRS=id'",
    group: 'selection',
    rare: true,
  }),
  ignoreColumns: flag('pass over columns that nobody knows', { group: 'selection', rare: true }),
};

/** Besides filters: every record, and a list that may be incomplete. */
export const allFlags = {
  all: flag('every record of the list', { group: 'selection' }),
  allowPartial: flag('also when the list may be incomplete', { group: 'selection', rare: true }),
};

/** Beyond so many changes a person is asked for the number, a script for a flag. */
export const defaultMaxChanges = 100;

/** What `--concurrency` says of itself: `files at once (default 4)`. */
export function atOnceText(what: string): string {
  return `${what} at once (default ${namedKeys.concurrency.default})`;
}

/** Guards, caps, pace and report: what every command takes that changes many things. */
export const bulkFlags = {
  if: params(z.optional(z.array(parsedBy(parseCondition))), 'change a row only while this holds', {
    placeholder: "'field=value'",
    group: 'safety',
    completes: 'field',
    rare: true,
  }),
  expect: param(count(0), 'refuse unless exactly so many rows are selected', {
    placeholder: 'N',
    group: 'safety',
    rare: true,
  }),
  maxChanges: param(count(0), `refuse if more would change (default ${defaultMaxChanges})`, {
    placeholder: 'N',
    group: 'safety',
  }),
  failFast: flag('stop at the first row that fails', { group: 'safety', rare: true }),
  maxErrors: param(count(1), 'stop when so many rows failed', {
    placeholder: 'N',
    group: 'safety',
    rare: true,
  }),
  concurrency: param(z.optional(parsedBy(namedKeys.concurrency.parse)), atOnceText('requests'), {
    placeholder: 'N',
    group: 'safety',
    rare: true,
  }),
  rate: param(
    z.optional(parsedBy(namedKeys.rate.parse)),
    `requests a second (default ${namedKeys.rate.default})`,
    {
      placeholder: 'N/s',
      group: 'safety',
      rare: true,
    },
  ),
  restart: flag('begin anew although the same run is unfinished', { group: 'safety', rare: true }),
  waitLock: param(z.optional(parsedBy(parseDuration)), 'wait so long for another bulk write', {
    placeholder: '10m',
    group: 'safety',
    rare: true,
  }),
  results: param(
    z.optional(z.string().check(z.minLength(1, 'must not be empty'))),
    'a CSV of what became of each row',
    {
      placeholder: 'FILE.csv',
      group: 'output',
      completes: 'file',
      rare: true,
    },
  ),
  exitCode: flag('with --dry-run: exit 12 if something would change', {
    group: 'output',
    rare: true,
  }),
};

/** For what may have been created by the same command line before. */
export const restartCreateFlag = flag(
  'create it even if the same command may have done so already',
  {
    group: 'safety',
    rare: true,
  },
);

/**
 * What a command takes that changes many things, in the order of its help: where its rows come from
 * with the flags of its own that choose and guard them, and how they are sent.
 */
export function manyFlags<Own extends Params>(own: Own) {
  return { ...idsFileFlag, ...csvFlags, ...own, ...allFlags, ...bulkFlags };
}

/** The values of all of them; each command has those that it spreads into its flags. */
export type BulkValues = ValuesOf<typeof bulkFlags> &
  Partial<ValuesOf<typeof idsFileFlag & typeof csvFlags & typeof allFlags>> & {
    readonly ids?: readonly string[];
    readonly [name: string]: unknown;
  };

function parseMapping(text: string): readonly [string, string] {
  const at = text.lastIndexOf('=');
  if (at > 0 && at < text.length - 1) return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
  throw new UsageError('A renamed column is written as THEIRS=OURS.', {
    hint: 'e.g. "Bewerber=id"',
  });
}
