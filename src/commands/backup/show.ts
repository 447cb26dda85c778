/** `rosterctl backup show`: prints records of a backup. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Snapshot } from '../../backups/layout.js';
import type { FoundRecord } from '../../backups/records.js';
import { recordLines } from '../../cli/card.js';
import { ValueWithExit } from '../../cli/command-output.js';
import { defineLocalCommand, param } from '../../cli/define.js';
import type { Canvas, View } from '../../cli/views.js';
import type { JsonObject } from '../../data/json.js';
import { meantReference, parseReference, withTeamNames } from '../../data/references.js';
import { resourceWords } from '../../data/resources.js';
import { shellQuote, upperFirst } from '../../data/text.js';
import { NotFoundError } from '../../errors.js';
import { recordWord } from '../../resources/params.js';
import { singleLine } from '../../terminal/safe-text.js';
import { wrapWholeWords } from '../../terminal/whole-words.js';
import { snapshotArgument } from './shared.js';

const view: View<JsonObject | readonly JsonObject[]> = { isNamed: true };

export default defineLocalCommand({
  summary: 'Print a record from a backup',
  about:
    'Looks in the newest complete snapshot of the folder, or in the one that you name, for every record with this id, e-mail, Discord user, gamer tag or name. One is printed as an object, several as a list. It needs no network and no key.',
  examples: [
    ['By id', 'backups player_0001'],
    ['By e-mail', 'backups email:nilo.mandelkow@example.org'],
    ['For a script', 'backups player_0001 --json'],
  ],
  args: {
    dir: snapshotArgument,
    ref: param(recordWord('tryouts'), 'an id, or email:, discord:, tag: or name: with a value', {
      ifMissing: 'Which record? Give an id, or email:, discord:, tag: or name: with a value.',
    }),
  },
  view,
  async run(context, { dir, ref }) {
    const [{ findSnapshot }, { findRecords }, { NearReferences }] = await Promise.all([
      import('../../backups/layout.js'),
      import('../../backups/records.js'),
      import('../../bulk/reference-index.js'),
    ]);
    const snapshot = await findSnapshot(dir);
    const reference = parseReference(ref);
    const { settings, signal } = context;
    const { overrides } = settings;
    const others = new NearReferences(reference, overrides);
    const found = await findRecords(snapshot, reference, { overrides, signal }, (...other) =>
      others.see(...other),
    );
    const [first] = found;
    if (!first)
      throw new NotFoundError(`No record in ${snapshot.name} matches ${ref}.`, {
        isProven: true,
        hint:
          meantReference(ref, 'tryouts') ??
          others.meant ??
          `In another snapshot: rosterctl backup show ${shellQuote(join(snapshot.folder, 'SNAPSHOT'))} ${shellQuote(ref)}`,
      });
    for (const { record, file } of found)
      if (file !== undefined) context.note(`The file of ${String(record['id'])}: ${file}`);
    const value = found.length === 1 ? first.record : found.map(({ record }) => record);
    if (!context.isInteractive || settings.fields) return value;
    const shown = await withTeams(snapshot, found, signal);
    return new ValueWithExit<JsonObject | readonly JsonObject[]>(value, 'done', {
      lines: (canvas) =>
        shown.flatMap((each, index) => [
          ...(index > 0 ? [''] : []),
          ...blockOf(each, snapshot.name, canvas),
        ]),
    });
  },
});

/** Returns the records with the names that their teams have in the snapshot. Throws InputError for a damaged one. */
async function withTeams(
  snapshot: Snapshot,
  found: readonly FoundRecord[],
  signal: AbortSignal,
): Promise<readonly FoundRecord[]> {
  const [{ recordsFile }, { readRecords }, { namesById }] = await Promise.all([
    import('../../backups/layout.js'),
    import('../../backups/records.js'),
    import('../../resources/team-names.js'),
  ]);
  const path = join(snapshot.path, recordsFile('teams'));
  if (!existsSync(path)) return found;
  const teams: JsonObject[] = [];
  for await (const team of readRecords(path, signal)) teams.push(team);
  const names = namesById(teams);
  return found.map((each) => ({ ...each, record: withTeamNames(each.record, names) }));
}

function blockOf(
  { resource, record }: FoundRecord,
  snapshot: string,
  { columns, paint, now }: Canvas,
): readonly string[] {
  const { noun } = resourceWords[resource];
  const title = `${upperFirst(noun)} ${singleLine(String(record['id']))} in ${snapshot}`;
  return [
    ...wrapWholeWords(title, columns).map(paint.bold),
    ...recordLines(record, { columns, paint, now }),
  ];
}
