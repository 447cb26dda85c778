/** `rosterctl backup verify`: checks snapshots for damage. */
import { resolve } from 'node:path';
import type { VerifiedBackup } from '../../backups/verify.js';
import { ValueWithExit } from '../../cli/command-output.js';
import { defineLocalCommand } from '../../cli/define.js';
import type { Canvas, View } from '../../cli/views.js';
import { RunError } from '../../data/outcome-errors.js';
import { binarySize, plural, shellQuote } from '../../data/text.js';
import { singleLine } from '../../terminal/safe-text.js';
import { fitLine, snapshotArgument } from './shared.js';

interface Report extends VerifiedBackup {
  readonly schema: 1;
  readonly folder: string;
}

const view: View<Report> = {
  columns: ['snapshot', 'path', 'problem'],
  lines: verifyLines,
  isSentence: ({ problems }) => problems.length === 0,
  rows: ({ problems }) => problems.map((problem) => ({ ...problem })),
};

export default defineLocalCommand({
  summary: 'Check a backup for damage',
  about:
    'Reads every byte of one snapshot, or of all snapshots in a folder, and compares hashes and counts with the manifest. It needs no network and no key, and exits with 1 if anything is damaged or missing. It detects damage, not tampering: anyone who can write to the folder can also replace the manifest.',
  examples: [
    ['All snapshots', 'backups'],
    ['For a script', 'backups --json'],
  ],
  args: {
    dir: snapshotArgument,
  },
  view,
  async run(context, { dir }) {
    const [{ findSnapshots }, { verifySnapshots }] = await Promise.all([
      import('../../backups/layout.js'),
      import('../../backups/verify.js'),
    ]);
    const snapshots = await findSnapshots(dir);
    let files = 0;
    const line = context.progress.start(() => `Verifying, ${plural(files, 'file')} so far`);
    try {
      const found = await verifySnapshots(snapshots, context.signal, (count) => {
        files = count;
      });
      const removed = snapshots.length - found.snapshots.length;
      if (removed > 0)
        context.note(
          `${plural(removed, 'snapshot was', 'snapshots were')} removed in the meantime.`,
        );
      const folder = snapshots[0]?.folder ?? resolve(dir);
      const report: Report = { schema: 1, folder, ...found };
      // Snapshots share their files.
      const { size: damaged } = new Set(found.problems.map(({ path }) => path));
      const error = new RunError(`${plural(damaged, 'file is', 'files are')} damaged.`, 'failed', {
        hint: `Make a new snapshot, with every file fetched again: rosterctl backup create ${shellQuote(folder)} --recheck\nDamaged records cannot be fetched again: move that snapshot's folder away.`,
      });
      return new ValueWithExit(report, damaged === 0 ? 'done' : 'failed', {
        failed: () => (damaged === 0 ? undefined : { error, isUnreported: true }),
      });
    } finally {
      line.stop();
    }
  },
});

function verifyLines({ snapshots, problems, files, bytes }: Report, canvas: Canvas): string[] {
  const { paint } = canvas;
  return [
    ...snapshots.flatMap(({ name, ok, complete, records, documents, assumed }) => {
      const marks = [
        ok ? 'ok' : 'damaged',
        ...(complete || !ok ? [] : ['incomplete']),
        ...(assumed === 0 ? [] : [`${plural(assumed, 'file')} assumed unchanged when it was made`]),
      ];
      const own = problems.filter((problem) => problem.snapshot === name);
      const counts = `${plural(records, 'record')}, ${plural(documents, 'file')}`;
      return [
        ...fitLine(`${name}  ${counts}  ${marks.join(', ')}`, canvas),
        ...own.flatMap(({ path, problem }) =>
          fitLine(`  ${singleLine(`${path} ${problem}`)}`, canvas).map(paint.bad),
        ),
      ];
    }),
    `${plural(files, 'document file')} read, ${binarySize(bytes)}`,
  ];
}
