/** The page of one person: each record in full, what links them, and what was not searched. */
import { detailLines } from '../../cli/card.js';
import type { Canvas } from '../../cli/views.js';
import type { JsonObject } from '../../data/json.js';
import { labelOf } from '../../data/path.js';
import { plural } from '../../data/text.js';
import { singleLine } from '../../terminal/safe-text.js';
import { wrap } from '../../terminal/width.js';
import type { PersonReport } from './find-person.js';

const linkWords = {
  email: 'the same e-mail',
  discordUserId: 'the same Discord user id',
  convertedPlayerId: 'the application became the player',
} as const;

/** Renders a person; `now` dates the ages. */
export function personLines(person: PersonReport, now: Date, canvas: Canvas): readonly string[] {
  const { applications, players, links, possibleDocuments, files, notSearched } = person;
  const { paint, columns } = canvas;
  const [first] = [...players, ...applications];
  const name = labelOf(first, person.reference);
  const counts = [plural(applications.length, 'application'), plural(players.length, 'player')];
  const block = (title: string, records: readonly JsonObject[]) =>
    records.flatMap((record) => [
      '',
      paint.bold(`${title} ${singleLine(String(record['id']))}`),
      ...detailLines(record, { columns, paint, now, time: 'local' }),
    ]);
  const section = (title: string, lines: readonly string[]) =>
    lines.length === 0
      ? []
      : ['', paint.bold(title), ...lines.flatMap((line) => wrap(`  ${singleLine(line)}`, columns))];
  return [
    `${paint.bold(singleLine(name))}  ${counts.join(', ')} in ${singleLine(person.organization)}`,
    ...block('Application', applications),
    ...block('Player', players),
    ...section(
      'Linked by',
      links.map(({ from, to, by }) => `${from} and ${to}: ${linkWords[by]}`),
    ),
    ...section(
      'Documents that mention the name, which may be about somebody else',
      (possibleDocuments ?? []).map((each) => `${each.id}  ${each.name}`),
    ),
    ...section('Written', files),
    ...section('Not searched', notSearched),
    '',
    ...wrap(
      'Use this to prepare the answer to a data request; review it before you send it.',
      columns,
    ),
  ];
}
