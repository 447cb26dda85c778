/** The page of one person: each record in full, what links them, and what was not searched. */
import { recordLines } from '../../cli/card.js';
import type { Canvas } from '../../cli/views.js';
import type { JsonObject } from '../../data/json.js';
import { labelOf } from '../../data/path.js';
import { plural } from '../../data/text.js';
import { filledLines } from '../../terminal/layout.js';
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
  const counts = [
    applications.length > 0 && plural(applications.length, 'application'),
    players.length > 0 && plural(players.length, 'player'),
  ].filter((count) => count !== false);
  const block = (title: string, records: readonly JsonObject[]) =>
    records.flatMap((record) => [
      '',
      paint.bold(`${title} ${singleLine(String(record['id']))}`),
      ...recordLines(record, { columns, paint, now }),
    ]);
  const indented = (line: string) => wrap(singleLine(line), columns - 2).map((each) => `  ${each}`);
  const section = (title: string, lines: readonly string[]) =>
    lines.length === 0
      ? []
      : ['', ...wrap(title, columns).map(paint.bold), ...lines.flatMap(indented)];
  const about = { text: `${counts.join(', ')} in ${singleLine(person.organization)}` };
  return [
    ...filledLines([{ text: singleLine(name), paint: paint.bold }, about], '  ', columns),
    ...block('Application', applications),
    ...block('Player', players),
    ...section(
      'Linked by',
      links.map(({ from, to, by }) => `${from} and ${to}: ${linkWords[by]}`),
    ),
    ...section(
      'Documents that mention the name; they may be about someone else',
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
