/** `rosterctl person`: what the service shows of one person. */
import * as z from 'zod/mini';
import { ValueWithExit } from '../cli/command-output.js';
import { type DryRun, defineCommand, param, params } from '../cli/define.js';
import { fileLines } from '../cli/lines.js';
import { nonEmptyText } from '../cli/schemas.js';
import { linesView } from '../cli/views.js';
import type { Context } from '../context.js';
import { parseReference, withTeamNames } from '../data/references.js';
import { UsageError } from '../errors.js';
import { recordWord } from '../resources/params.js';
import type { PersonReport } from '../resources/person/find-person.js';

export default defineCommand({
  summary: 'Show everything the service has about one person',
  about:
    'Reads applications, players, and the names and tags of documents. Records belong to one person if they share an e-mail address or a Discord user id, or if the application became the player; an equal name alone is not enough. A name: or tag: must find exactly one person, and a Discord name must not be that of two users. ' +
    'Documents that mention the name are listed as possible matches; --with-document fetches one. --out writes person.json and those files to a folder. ' +
    'The last lines say what was not searched. Use this to prepare the answer to a data request; review it before you send it.',
  examples: [
    ['By e-mail', 'email:nilo.mandelkow@example.org'],
    ['By the id of an application or a player', 'app_0001'],
    ['Everything, for a script', 'discord:niloheron_demo --json'],
    ['Into a folder', 'player_0001 --out nimbus --with-document doc_0001'],
  ],
  calls: ['listTryouts', 'listPlayers', 'listDocuments', 'downloadDocument'],
  args: {
    ref: param(recordWord('tryouts'), 'an id, or email:, discord:, tag: or name: with a value', {
      ifMissing: 'Which person?',
      completes: 'id:tryouts',
    }),
  },
  flags: {
    out: param(z.optional(nonEmptyText), 'write person.json and documents into this folder', {
      placeholder: 'FOLDER',
      group: 'output',
      completes: 'directory',
    }),
    withDocument: params(
      z.optional(z.array(recordWord('documents'))),
      'also download this document',
      { placeholder: 'ID', group: 'output', completes: 'id:documents' },
    ),
  },
  hasSideEffects: true,
  view: {
    ...linesView((value: PersonReport | DryRun, canvas) =>
      'dryRun' in value ? fileLines(value, canvas) : [],
    ),
    idRows: (value) => ('dryRun' in value ? [] : [...value.applications, ...value.players]),
  },
  async run(context, { ref, out: folder, withDocument = [] }) {
    if (folder === undefined && withDocument.length > 0)
      throw new UsageError('--with-document needs --out FOLDER.');
    const { findPerson } = await import('../resources/person/find-person.js');
    const found = await findPerson(context, parseReference(ref));
    const { failure } = found;
    let { person } = found;
    if (folder !== undefined) {
      const { planFiles, writeFiles } = await import('../downloads/person-files.js');
      const documents = await planFiles(context, folder, withDocument);
      if (context.settings.dryRun) return documents.dryRun;
      person = await writeFiles(context, person, documents);
    }
    const { personLines } = await import('../resources/person/page.js');
    const now = context.now();
    const shown = context.isInteractive ? await withTeams(context, person) : person;
    return new ValueWithExit<PersonReport | DryRun>(person, failure?.exitName ?? 'done', {
      onlyReads: folder === undefined,
      isPage: folder === undefined,
      failed: () => failure && { error: failure, isUnreported: true },
      lines: (canvas) => personLines(shown, now, canvas),
    });
  },
});

/** Returns the person with the names of the players' teams. Throws CancelledError after a signal. */
async function withTeams(context: Context, person: PersonReport): Promise<PersonReport> {
  const { hasTeam } = await import('../resources/player-filters.js');
  if (!person.players.some(hasTeam)) return person;
  const { teamNames } = await import('../resources/team-names.js');
  const names = await teamNames(context);
  return { ...person, players: person.players.map((player) => withTeamNames(player, names)) };
}
