/** `rosterctl backup create`: makes a snapshot of all records and files. */
import * as z from 'zod/mini';
import { callFor } from '../../api/resources.js';
import type { BackupOptions, MadeBackup } from '../../backups/create.js';
import { atOnceText, bulkFlags, limitRate } from '../../bulk/invocation.js';
import { ValueWithExit } from '../../cli/command-output.js';
import { type DryRun, defineCommand, flag, param, params } from '../../cli/define.js';
import { fileLines } from '../../cli/lines.js';
import { countingNumber, nonEmptyText } from '../../cli/schemas.js';
import { linesView } from '../../cli/views.js';
import type { Context } from '../../context.js';
import { type CommandManifest, findGroup } from '../../data/command-manifest.js';
import { didYouMean } from '../../data/nearest.js';
import { isUnknownRoute, RunError } from '../../data/outcome-errors.js';
import { type ResourceName, resourceNames, resourceWords } from '../../data/resources.js';
import { andList, countOf, plural } from '../../data/text.js';
import { UsageError } from '../../errors.js';
import { singleLine } from '../../terminal/safe-text.js';
import { fitLine } from './shared.js';

interface Report extends Pick<MadeBackup, 'snapshot' | 'complete' | 'removed'> {
  readonly schema: 1;
  readonly records: { readonly [resource: string]: number };
  readonly files: {
    readonly total: number;
    readonly unchanged: number;
    readonly bytes: number;
  } | null;
  readonly missing: MadeBackup['manifest']['missing'];
}

export default defineCommand({
  summary: 'Back up all records and files to a folder',
  about:
    'Makes a snapshot: a folder named by its time, with one file of records for each resource. Snapshots share the files of the documents; a file is downloaded again only if its document has changed, and --recheck downloads all of them. ' +
    'A snapshot gets its final name only when it is complete. If something is missing, no snapshot is kept and the exit code is 8; --allow-partial keeps it, marked as incomplete. If a list may be incomplete, the backup stops (exit 11). ' +
    'If it is interrupted, run the same command again to continue. A backup holds personal data: see rosterctl help backup',
  examples: [
    ['Everything', 'backups'],
    ['In cron: keep the newest 30, print only problems', 'backups --keep 30 -q'],
    ['Only some, without files', 'backups --only players,teams'],
    ['See what would be read', 'backups --dry-run'],
  ],
  calls: ['listTryouts', 'listPlayers', 'listTeams', 'listDocuments', 'downloadDocument'],
  args: {
    dir: param(nonEmptyText, 'the folder of the backup', {
      completes: 'directory',
    }),
  },
  flags: {
    only: params(
      z.optional(z.array(z.string())),
      `only these resources: ${resourceNames.join(', ')}`,
      {
        commaList: true,
        placeholder: 'RESOURCE[,…]',
        group: 'selection',
        completes: 'resource',
      },
    ),
    noFiles: flag('leave out the files of documents', { group: 'selection' }),
    keep: param(z.optional(countingNumber), 'keep the newest N complete snapshots', {
      placeholder: 'N',
      group: 'safety',
    }),
    recheck: flag('download unchanged files too', { group: 'selection' }),
    allowPartial: flag('keep the snapshot even if something is missing', { group: 'safety' }),
    concurrency: { ...bulkFlags.concurrency, text: atOnceText('files') },
    rate: bulkFlags.rate,
  },
  hasSideEffects: true,
  view: {
    ...linesView((value: Report | DryRun, canvas) =>
      'dryRun' in value ? fileLines(value, canvas) : [],
    ),
    isSentence: (value) => !('dryRun' in value),
  },
  async run(context, values) {
    const { settings } = context;
    const { createBackup, removedAfter, resourcesOf } = await import('../../backups/create.js');
    const only = values.only?.map((word) => resourceCalled(word, context.table));
    const options: BackupOptions = {
      only: resourcesOf(only),
      files: !values.noFiles,
      keep: values.keep,
      recheck: values.recheck,
      allowPartial: values.allowPartial,
      concurrency: values.concurrency ?? settings.concurrency,
    };
    if (settings.dryRun)
      return planned(
        context,
        values.dir,
        options,
        await removedAfter(context, values.dir, options),
      );
    limitRate(context, values);
    const made = await createBackup(context, values.dir, options);
    const report = backupReport(made);
    const error = made.complete ? unremoved(made) : incomplete(made);
    return new ValueWithExit<Report | DryRun>(report, error?.exitName ?? 'done', {
      failed: () => error && { error, isUnreported: true },
      lines: (canvas) => linesFor(made, report).flatMap((line) => fitLine(line, canvas)),
    });
  },
});

/** Returns the resource of a word, as its commands are called: `docs` is documents. */
function resourceCalled(word: string, table: CommandManifest): ResourceName {
  const group = findGroup(word, table);
  const found = resourceNames.find((name) => name === group?.word);
  if (found) return found;
  throw new UsageError(`Unknown value "${word}" for --only.${didYouMean(word, resourceNames)}`, {
    hint: `Use one of: ${resourceNames.join(', ')}`,
  });
}

function planned(
  { api }: Context,
  dir: string,
  { only }: BackupOptions,
  removed: readonly string[],
): DryRun {
  return {
    schema: 1,
    dryRun: true,
    requests: only.map((resource) => api.describe(callFor(resource, 'list', undefined))),
    changes: [
      { id: null, field: 'snapshot', from: null, to: dir },
      ...removed.map((name) => ({ id: null, field: 'snapshot', from: name, to: null })),
    ],
  };
}

function backupReport({ snapshot, complete, manifest, removed }: MadeBackup): Report {
  const { resources, files, missing } = manifest;
  const documents = files?.documents ?? [];
  return {
    schema: 1,
    snapshot,
    complete,
    records: Object.fromEntries(resources.map(({ resource, records }) => [resource, records])),
    files: files && {
      total: documents.length,
      unchanged: documents.filter(({ how }) => how !== 'fetched').length,
      bytes: documents.reduce((sum, { bytes }) => sum + bytes, 0),
    },
    missing,
    removed,
  };
}

/** `64 applications, 31 players, 6 teams, 14 documents (12 unchanged files)`, and where they are. */
function linesFor({ manifest, complete }: MadeBackup, report: Report): readonly string[] {
  const { snapshot, files, removed } = report;
  const counts = manifest.resources.map(({ resource, records }) => countOf(records, resource));
  const unchanged = files?.unchanged ?? 0;
  const note = unchanged > 0 ? ` (${plural(unchanged, 'unchanged file')})` : '';
  return [
    `${counts.join(', ')}${note}`,
    ...(snapshot === null ? [] : [`${singleLine(snapshot)}${complete ? '' : '  incomplete'}`]),
    ...(removed.length === 0 ? [] : [`Removed ${plural(removed.length, 'old snapshot')}`]),
  ];
}

function incomplete({
  snapshot,
  refusals,
  manifest: { missing, resources },
}: MadeBackup): RunError {
  if (snapshot === null && refusals.size === missing.length) {
    const refused = [...refusals];
    const name = ([resource]: (typeof refused)[number]) => resourceWords[resource].plural;
    const absent = refused.filter(([, error]) => isUnknownRoute(error)).map(name);
    const forbidden = refused.filter(([, error]) => !isUnknownRoute(error)).map(name);
    const why = [
      ...(forbidden.length > 0 ? [`this key cannot read ${andList(forbidden)}`] : []),
      ...(absent.length > 0 ? [`this service has no list of ${andList(absent)}`] : []),
    ].join(', and ');
    const others = resources.map(({ resource }) => resource).join(',');
    return new RunError(`No backup was kept: ${why}.`, 'rowsFailed', {
      hint: `Leave them out: --only ${others}\nTo keep what there is, marked as incomplete, add --allow-partial.`,
    });
  }
  const what = plural(missing.length, 'part is', 'parts are');
  return snapshot === null
    ? new RunError(`No backup was kept: ${what} missing.`, 'rowsFailed', {
        hint: 'Run the same command again to continue. To keep what there is, marked as incomplete, add --allow-partial.',
      })
    : new RunError(`The backup is incomplete: ${what} missing.`, 'rowsFailed');
}

/** The error for old snapshots that `--keep` could not remove; undefined if all is well. */
function unremoved({ unremoved: cause }: MadeBackup): RunError | undefined {
  if (!cause) return undefined;
  return new RunError(
    `The backup is complete, but older ones could not be removed: ${cause.message}`,
    'failed',
    { hint: 'See what keeps them there. The next backup with --keep tries again.' },
  );
}
