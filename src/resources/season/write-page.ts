/** The page of `report`: made from the list of applications, and written to its files, as HTML or as Markdown. */
import { ValueWithExit } from '../../cli/command-output.js';
import type { DryRun } from '../../cli/define.js';
import { markdownText } from '../../cli/lists/template.js';
import { refuseResultFlags, withSink } from '../../cli/sink.js';
import { fileOrStdout } from '../../config/parse.js';
import type { Context } from '../../context.js';
import { timeOf } from '../../data/dates.js';
import { incompleteList } from '../../data/resources.js';
import { groupedNumber, percent, plural } from '../../data/text.js';
import { GuardError, UsageError, withShapes } from '../../errors.js';
import { checkWritable } from '../../files/atomic-write.js';
import { realPathOf } from '../../files/same-file.js';
import { singleLine } from '../../terminal/safe-text.js';
import { wrap } from '../../terminal/width.js';
import { type TallyValues, tallyTryouts } from '../tryout-tally.js';
import { checkField, namesApplicant, namesPersons, seasonCharts } from './charts.js';
import { isSmall } from './groups.js';
import { seasonHtml } from './html.js';
import {
  filterWords,
  pageWords,
  type SeasonChart,
  type SeasonPage,
  type SeasonTryout,
} from './page.js';

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
  const [html, md] = [fileOrStdout(typed.html), fileOrStdout(typed.md)];
  const areTwo = html !== undefined && md !== undefined;
  if (areTwo && (await realPathOf(html)) === (await realPathOf(md)))
    throw new UsageError('--html and --md name the same file.', {
      hint: 'Give each a name: rosterctl report --html season.html --md season.md',
    });
  const targets = [
    ...(html === undefined ? [] : [{ path: html, render: seasonHtml }]),
    ...(md === undefined ? [] : [{ path: md, render: seasonMarkdown }]),
  ];
  const files = targets.map(({ path }) => path).filter((path) => path !== '-');
  if (files.length < targets.length && !context.settings.dryRun) {
    const word = html === '-' ? '--html' : '--md';
    refuseResultFlags(context, `${word} - writes the page`, {
      hint: `Write it to a file: ${word} FILE`,
    });
  }
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

function writtenWords({ total, organization, isExact }: SeasonPage, files: readonly string[]) {
  const small = isExact ? ' It shows small groups: do not publish it.' : '';
  const many = total === 'few' ? 'fewer than five applications' : plural(total, 'application');
  return `Wrote ${files.map(singleLine).join(' and ')}: ${many} of ${singleLine(organization)}.${small}`;
}

/** Returns the page as Markdown; data is escaped, so that it stays text. */
export function seasonMarkdown(page: SeasonPage): string {
  const { title, lead, warning, foot } = pageWords(page);
  const all = typeof page.total === 'number' ? page.total : 0;
  const blocks = [
    `# ${markdownText(title)}`,
    markdownText(lead),
    ...(warning === undefined ? [] : [`**${markdownText(warning)}**`]),
    ...page.charts.flatMap((chart) => section(chart, all)),
    '---',
    ...foot.map(markdownText),
  ];
  return `${blocks.join('\n\n')}\n`;
}

function section({ title, note, unit, rows, instead }: SeasonChart, total: number): string[] {
  const lines = rows.map(({ label, count, words = '' }) => {
    const numbers =
      count === undefined
        ? [words, '']
        : [groupedNumber(count), percent(total === 0 ? 0 : count / total)];
    return `| ${[label, ...numbers].map(markdownText).join(' | ')} |`;
  });
  const table = [`| ${unit} | Applications | Share |`, '| :-- | --: | --: |', ...lines].join('\n');
  return [
    `## ${markdownText(title)}`,
    ...(note === undefined ? [] : [markdownText(note)]),
    instead === undefined ? table : markdownText(instead),
  ];
}

/**
 * Reads the applications and returns their page. Throws UsageError for a field that must not or cannot
 * be shown, GuardError if the list may be incomplete.
 */
async function makeSeasonPage(
  context: Context,
  values: TallyValues,
  isExact: boolean,
): Promise<SeasonPage> {
  const { api, table } = context;
  const madeAt = context.now();
  for (const field of values.by ?? []) checkField(field);
  const tryouts: SeasonTryout[] = [];
  const list = api.list('tryouts', {}, { checksCompleteness: true });
  /** The fields, by their index, of which a value names somebody. */
  const naming = new Set<number>();
  const tally = await tallyTryouts(context, list, values, (counted, record) => {
    tryouts.push({ ...counted, updated: timeOf(record['updatedAt']) });
    for (const [index, { ofField, ofQuestion }] of counted.values.entries())
      if ([...ofField, ...ofQuestion].some((value) => namesApplicant(value, record)))
        naming.add(index);
  });
  const completeness = list.completeness();
  if (completeness.state === 'doubtful')
    throw new GuardError(`${incompleteList('tryouts', completeness.reason)} Nothing was written.`, {
      code: 'incomplete',
      hint: withShapes(completeness.fixes),
    });
  const { total } = tally.stats;
  for (const [index, { name }] of tally.fields.entries()) {
    checkField(name);
    if (naming.has(index)) throw namesPersons(name);
  }
  const isFew = isSmall(total) && !isExact;
  return {
    organization: api.organizationId,
    total: isFew ? 'few' : total,
    filters: filterWords(values, madeAt),
    charts: isFew || total === 0 ? [] : seasonCharts(tryouts, tally.fields, isExact),
    isExact,
    madeAt,
    version: table.version,
  };
}
