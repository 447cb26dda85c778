/** Writes the page of `report` to its files. */
import { resolve } from 'node:path';
import { type DryRun, ValueWithExit } from '../../cli/define.js';
import { withSink } from '../../cli/sink.js';
import type { Context } from '../../context.js';
import { UsageError } from '../../errors.js';
import { checkWritable } from '../../files/atomic-write.js';
import { fileOrStdout } from '../../files/own-descriptor.js';
import { singleLine } from '../../terminal/safe-text.js';
import { wrap } from '../../terminal/width.js';
import type { TallyValues } from '../tryout-tally.js';
import { seasonHtml } from './html.js';
import { makeSeasonPage } from './make-page.js';
import { seasonMarkdown } from './markdown.js';
import type { SeasonPage } from './page.js';
import { totalWords } from './words.js';

/** The JSON output of `report`. */
export interface SeasonFiles {
  readonly schema: 1;
  readonly organization: string;
  /** Null for fewer than five applications, unless the page is exact. */
  readonly total: number | null;
  readonly exact: boolean;
  readonly files: readonly string[];
}

/** The files to write, as typed; `-` is stdout. */
interface Targets {
  readonly html: string | undefined;
  readonly md: string | undefined;
}

/**
 * Makes the page and writes it to one or two files. Throws what `makeSeasonPage` throws, UsageError for
 * two targets that are one, OutputError.
 */
export async function writeSeason(
  context: Context,
  typed: Targets,
  values: TallyValues,
  isExact: boolean,
): Promise<ValueWithExit<SeasonFiles | DryRun | undefined>> {
  const [html, md] = await Promise.all([fileOrStdout(typed.html), fileOrStdout(typed.md)]);
  if (html !== undefined && md !== undefined && resolve(html) === resolve(md))
    throw new UsageError('--html and --md name the same file.', {
      hint: 'Give each a name: rosterctl report --html season.html --md season.md',
    });
  const targets = [
    ...(html === undefined ? [] : [{ path: html, render: seasonHtml }]),
    ...(md === undefined ? [] : [{ path: md, render: seasonMarkdown }]),
  ];
  const files = targets.map(({ path }) => path).filter((path) => path !== '-');
  for (const path of files) await checkWritable(path);
  const page = await makeSeasonPage(context, values, isExact);
  if (context.settings.dryRun) {
    const changes = files.map((to) => ({ id: null, field: 'file', from: null, to }));
    return new ValueWithExit({ schema: 1, dryRun: true, requests: [], changes }, 'done');
  }
  // stdout last: its reader may leave.
  for (const { path, render } of targets.toSorted(
    (a, b) => Number(a.path === '-') - Number(b.path === '-'),
  ))
    await withSink(path, context, (sink) => sink.write(render(page)));
  if (files.length < targets.length) return new ValueWithExit(undefined, 'done');
  const { organization, total } = page;
  const written: SeasonFiles = {
    schema: 1,
    organization,
    total: total === 'few' ? null : total,
    exact: isExact,
    files,
  };
  return new ValueWithExit<SeasonFiles>(written, 'done', {
    lines: ({ columns }) =>
      context.settings.quiet ? [] : wrap(writtenWords(page, files), columns),
  });
}

function writtenWords(
  { total, organization, isExact }: SeasonPage,
  files: readonly string[],
): string {
  const small = isExact ? ' It shows small groups: do not publish it.' : '';
  return `Wrote ${files.map(singleLine).join(' and ')}: ${totalWords(total)} of ${singleLine(organization)}.${small}`;
}
