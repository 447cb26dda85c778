/** `rosterctl report`: a page about the applications of a season, for people who do not use this tool. */
import * as z from 'zod/mini';
import { type DryRun, defineCommand, flag, param } from '../cli/define.js';
import { fileLines } from '../cli/lines.js';
import { nonEmptyText } from '../cli/schemas.js';
import { linesView } from '../cli/views.js';
import type { SeasonFiles } from '../resources/season/write-page.js';
import { tryoutExcludes } from '../resources/tryout-filters.js';
import { tallyFlags } from '../resources/tryout-tally.js';

const file = (kind: string) =>
  param(z.optional(nonEmptyText), `write the report as ${kind}; - is stdout`, {
    placeholder: 'FILE|-',
    group: 'output',
    completes: 'file',
  });

export default defineCommand({
  summary: 'Write a report on the applications, with charts',
  about:
    'Writes one file to share with people who do not use rosterctl: the applications by status, week and game, the funnel as of today, and the time to the last change; --by adds a chart. The page loads nothing, runs no script, and names no person. ' +
    'Groups of fewer than five are counted as "other" or joined with their neighbours, so that their size cannot be read or computed from a report. Two reports with different filters can still be compared, so publish only one. ' +
    '--by refuses a field with more than 20 different values. --exact lifts both limits, and the page says so. ' +
    'An existing file is replaced; only you can read a new one. If the list may be incomplete, nothing is written (exit 11). The numbers are those of rosterctl tryouts stats.',
  examples: [
    ['The season, to open in a browser or to print', '--html season.html'],
    ['Since September, and by an answer', "--html season.html --since 2026-09-01 --by 'Main role'"],
    ['One game as Markdown', '--md valorant.md --game Valorant'],
    ['Every number, for the admins only', '--html internal.html --exact'],
  ],
  calls: ['listTryouts'],
  flags: {
    html: file('HTML'),
    md: file('Markdown'),
    ...tallyFlags,
    // The short help page has room only for the usual ones.
    updatedSince: { ...tallyFlags.updatedSince, rare: true },
    withNotes: { ...tallyFlags.withNotes, rare: true },
    withoutNotes: { ...tallyFlags.withoutNotes, rare: true },
    exact: flag('show small groups, and fields with many values', { group: 'output' }),
  },
  needsOneOf: [['html', 'md']],
  excludes: tryoutExcludes,
  hasSideEffects: true,
  view: linesView((value: SeasonFiles | DryRun, canvas) =>
    'dryRun' in value ? fileLines(value, canvas) : [],
  ),
  async run(context, { html, md, exact, ...values }) {
    const season = await import('../resources/season/write-page.js');
    return season.writeSeason(context, { html, md }, values, exact);
  },
});
