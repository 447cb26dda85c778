/** `rosterctl backup diff`: what differs between two snapshots, or since one. */
import * as z from 'zod/mini';
import type { BackupDiff, Difference, Side } from '../../backups/diff.js';
import { ValueWithExit } from '../../cli/command-output.js';
import { defineLocalCommand, flag, param } from '../../cli/define.js';
import { shortValue } from '../../cli/lines.js';
import { fieldLabel } from '../../cli/lists/labels.js';
import { nonEmptyText } from '../../cli/schemas.js';
import type { Canvas, View } from '../../cli/views.js';
import type { JsonObject } from '../../data/json.js';
import { teamKeys, withTeamNames } from '../../data/references.js';
import { type ResourceName, resourceWords } from '../../data/resources.js';
import { plural, shellQuote, upperFirst } from '../../data/text.js';
import { longTimeOf } from '../../data/time.js';
import { UsageError } from '../../errors.js';
import { singleLine } from '../../terminal/safe-text.js';
import { fitLine } from './shared.js';

interface Report extends BackupDiff {
  readonly schema: 1;
  readonly from: string;
  readonly to: string;
}

/** The columns of the field for a record that only one of the two holds. */
const noField = { field: null, from: null, to: null };
const rowFields = ['resource', 'id', 'name', 'change', 'field', 'from', 'to'];

const view: View<Report> = {
  lines: diffLines,
  isSentence: ({ differences }) => differences.length === 0,
  rowFields,
  rows: ({ differences }) =>
    differences.flatMap(({ changes, ...record }): JsonObject[] =>
      (changes.length > 0 ? changes : [noField]).map((change) => ({ ...record, ...change })),
    ),
  idRows: ({ differences }) => differences.map(({ id }) => ({ id })),
};

export default defineLocalCommand({
  summary: 'Compare two backups, or a backup with the service',
  about:
    'Compares records by id and field. A folder stands for its newest complete snapshot, live for the service as it is now. A resource that only one side has is not compared. ' +
    '--csv writes the applications whose status or notes differ, with the values of A. rosterctl tryouts set-status --csv FILE restores them, each only if it still has the status of B.',
  examples: [
    ['What changed since the last backup', 'backups live'],
    ['In a script: 12 if anything differs', 'backups live --exit-code'],
    ['Restore the status of applications', 'backups live --csv back.csv'],
  ],
  calls: ['listTryouts', 'listPlayers', 'listTeams', 'listDocuments'],
  args: {
    a: param(nonEmptyText, 'a folder, or one snapshot', {
      completes: 'directory',
    }),
    b: param(nonEmptyText, 'the other one, or live', {
      placeholder: 'B|live',
      ifMissing: 'Compare with what? Give a second snapshot, or live.',
      completes: 'directory',
    }),
  },
  flags: {
    csv: param(z.optional(nonEmptyText), 'write a CSV that restores the applications to A', {
      placeholder: 'FILE',
      group: 'output',
      completes: 'file',
    }),
    exitCode: flag('exit 12 if anything differs', { group: 'output' }),
  },
  hasSideEffects: true,
  view,
  async run(context, { a, b, csv, exitCode }) {
    const { settings, signal } = context;
    if (csv === '-')
      throw new UsageError('--csv needs a file; the differences themselves go to stdout.', {
        hint: 'For example: --csv back.csv',
      });
    if (a === 'live')
      throw new UsageError('live can only be the second of the two.', {
        hint: b === 'live' ? undefined : `rosterctl backup diff ${shellQuote(b)} live`,
      });
    const [{ findSnapshot }, diff] = await Promise.all([
      import('../../backups/layout.js'),
      import('../../backups/diff.js'),
    ]);
    const names: NamesByResource = new Map();
    const named = (side: Side) => (context.isInteractive ? noting(side, names) : side);
    const open = async (word: string): Promise<Side> =>
      named(await diff.snapshotSide(await findSnapshot(word), signal));
    const from = await open(a);
    const to = b === 'live' ? named(diff.liveSide(await context.connect())) : await open(b);
    diff.checkSides(from, to);
    const { statuses, ...comparison } = await diff.compareSides(from, to);
    const { differences, compared, notCompared } = comparison;
    if (notCompared.length > 0)
      context.message(`Not compared, because only one side has them: ${pluralWords(notCompared)}.`);
    for (const resource of compared)
      for (const { label, doubtOf } of [from, to]) {
        const doubt = doubtOf(resource);
        const many = upperFirst(resourceWords[resource].plural);
        if (doubt !== undefined) context.message(`${many} in ${label}: ${doubt}.`);
      }
    if (csv !== undefined) {
      const { text, count } = diff.setBackCsv({ differences, statuses });
      const { writeAtomically } = await import('../../files/atomic-write.js');
      const many = plural(count, 'application');
      const next = ` Preview ${count === 1 ? 'it' : 'them'}: rosterctl tryouts set-status --csv ${shellQuote(csv)} --dry-run`;
      if (!settings.dryRun) await writeAtomically(csv, text, { mode: 0o600, signal });
      context.note(
        settings.dryRun
          ? `Would write ${many} to ${csv}.`
          : `${many} in ${csv}.${count > 0 ? next : ''}`,
      );
    }
    const report: Report = { schema: 1, from: from.label, to: to.label, ...comparison };
    const exit = exitCode && differences.length > 0 ? 'changesPending' : 'done';
    return new ValueWithExit(report, exit, {
      onlyReads: csv === undefined,
      isPage: csv === undefined,
      lines: (canvas) => diffLines(withTeams(report, names.get('teams')), canvas),
    });
  },
});

type NamesByResource = Map<ResourceName, Map<string, string>>;

/** Returns a side that notes the names of its records by their ids. */
function noting(side: Side, names: NamesByResource): Side {
  return {
    ...side,
    async *records(resource) {
      const own = names.get(resource) ?? new Map<string, string>();
      names.set(resource, own);
      for await (const record of side.records(resource)) {
        const { id, name } = record;
        if (typeof name === 'string') own.set(String(id), name);
        yield record;
      }
    },
  };
}

/** Returns the report with the names of teams beside their ids; a list of ids is one text. */
function withTeams(report: Report, teams: ReadonlyMap<string, string> | undefined): Report {
  const shown = (field: string, value: unknown) => {
    const ids = typeof value === 'string' ? value.split(';') : value;
    const [named] = Object.values(withTeamNames({ [field]: ids }, teams));
    return Array.isArray(named) ? named.join(', ') : named;
  };
  const differences = report.differences.map((each) => ({
    ...each,
    changes: each.changes.map(({ field, from, to }) =>
      teamKeys({ [field]: from }).length > 0
        ? { field, from: shown(field, from), to: shown(field, to) }
        : { field, from, to },
    ),
  }));
  return { ...report, differences };
}

function pluralWords(names: readonly ResourceName[]): string {
  return names.map((name) => resourceWords[name].plural).join(', ');
}

const marks = { added: '+', removed: '-', changed: '~' };

function diffLines(report: Report, canvas: Canvas): readonly string[] {
  const { from, to, differences, compared } = report;
  const { paint } = canvas;
  const arrow = canvas.isUtf8 ? '→' : '>';
  const title = paint.bold(`${from} ${arrow} ${to}`);
  if (differences.length === 0) return [title, 'No differences.'];
  return [
    title,
    ...compared.flatMap((resource) => {
      const own = differences.filter((each) => each.resource === resource);
      if (own.length === 0) return [];
      const head = `${upperFirst(resourceWords[resource].plural)}: ${countsOf(own)}`;
      return ['', paint.bold(head), ...own.flatMap((each) => differenceLines(each, arrow, canvas))];
    }),
  ];
}

function countsOf(differences: readonly Difference[]): string {
  return (['changed', 'added', 'removed'] as const)
    .map((change) => [differences.filter((each) => each.change === change).length, change] as const)
    .filter(([count]) => count > 0)
    .map(([count, change]) => `${count} ${change}`)
    .join(', ');
}

function differenceLines(
  { id, name, change, changes }: Difference,
  arrow: string,
  canvas: Canvas,
): readonly string[] {
  const title = name === id ? id : `${name} (${id})`;
  // The time of a change adds nothing to the change itself.
  const shown = changes.filter(({ field }) => field !== 'updatedAt');
  return [
    ...fitLine(`${marks[change]} ${singleLine(title)}`, canvas),
    ...(shown.length > 0 ? shown : changes).flatMap(({ field, from, to }) =>
      fitLine(`${singleLine(fieldLabel(field))}: ${changed(from, to, arrow)}`, canvas, '    '),
    ),
  ];
}

/** `old → new`; two times as a person reads them, unless they read the same. */
function changed(from: unknown, to: unknown, arrow: string): string {
  const times = [from, to].map((value) => longTimeOf(typeof value === 'string' ? value : ''));
  const areTimes = times[0] !== times[1] && times.every((time) => time !== '');
  const [before, after] = areTimes ? times : [from, to];
  return `${shortValue(before)} ${arrow} ${shortValue(after)}`;
}
