/** The card of a tryout application: state, contact, games, answers, notes, and other applications of the person. */

import { detailValue } from '../../cli/card.js';
import { longTimeOr } from '../../cli/cells.js';
import { isObject, type JsonObject } from '../../data/json.js';
import { inUsualOrder } from '../../data/sorting.js';
import { foldCase, upTo } from '../../data/text.js';
import { isEmptyValue } from '../../data/where.js';
import { alignedLines, labelledLines, type Piece, widestWordOf } from '../../terminal/layout.js';
import { multiLine, singleLine } from '../../terminal/safe-text.js';
import { wrap } from '../../terminal/width.js';
import { playerIdOf } from '../converted.js';
import { type CardMaker, type CardParts, cardOf } from './card.js';
import {
  ageOf,
  type CardStyle,
  contactOf,
  fieldText,
  furtherFields,
  gamesSection,
  type Section,
} from './fields.js';
import { type Nearby, recordsNearby } from './nearby.js';

const drawn = ['formResponses', 'internalNotes'];
const player = ['convertedPlayerId', 'convertedPlayer'];

/** Makes the card of an application. Throws CancelledError after a signal. */
export const applicationCard: CardMaker = async (context, record, changes) => {
  const nearby = await recordsNearby(context, 'tryouts', (other) => isSamePerson(other, record));
  return cardOf(context, record, changes, (style) => applicationParts(record, style, nearby));
};

/** Returns the parts of an application's card; `nearby`: other applications of the person. */
export function applicationParts(record: JsonObject, style: CardStyle, nearby: Nearby): CardParts {
  const { paint } = style;
  const updated = fieldText(record, 'updatedAt');
  const isChanged = updated !== '' && updated !== fieldText(record, 'submittedAt');
  const submitted = longTimeOr(fieldText(record, 'submittedAt'), style);
  return {
    state: [
      { text: fieldText(record, 'status'), paint: paint.status },
      { text: ageOf(record, 'submittedAt', style) },
    ],
    contact: [
      contactOf(record, style),
      [
        { text: submitted === '' ? '' : `Submitted ${submitted}` },
        { text: isChanged ? `updated ${ageOf(record, 'updatedAt', style)}` : '' },
      ],
    ],
    sections: [
      ...playerSection(record, style),
      ...gamesSection(record, style),
      ...answersSection(record, style),
      ...notesSection(record),
      ...furtherFields(record, style, {
        drawn: playerIdOf(record) === undefined ? drawn : [...drawn, ...player],
        texts: ['submittedAt'],
      }),
      ...otherSection(record, style, nearby),
    ],
    ...('reason' in nearby && {
      remarks: [`Other applications were not looked for: ${nearby.reason}.`],
    }),
  };
}

function playerSection(record: JsonObject, { paint }: CardStyle): readonly Section[] {
  const id = playerIdOf(record);
  if (id === undefined) return [];
  const { convertedPlayer } = record;
  const name = isObject(convertedPlayer) ? fieldText(convertedPlayer, 'name') : '';
  const row: readonly Piece[] = [{ text: name }, { text: singleLine(id), paint: paint.dim }];
  const pieces = row.filter(({ text }) => text !== '');
  return [{ label: 'Player', lines: (room) => alignedLines([pieces], room) }];
}

/** The answers in the order of the form, each question with its answer beside or below it. */
function answersSection(record: JsonObject, style: CardStyle): readonly Section[] {
  const { formResponses } = record;
  if (isEmptyValue(formResponses)) return [];
  if (!isObject(formResponses))
    return [{ label: 'Answers', ...detailValue(formResponses, 'formResponses', style) }];
  const rows = Object.entries(formResponses).map(([question, answer]) => ({
    label: singleLine(question) || '""',
    ...detailValue(answer === '' ? null : answer, question, style),
  }));
  return [{ label: 'Answers', isBelow: true, lines: (room) => labelledLines(rows, room) }];
}

function notesSection({ internalNotes: notes }: JsonObject): readonly Section[] {
  if (isEmptyValue(notes)) return [];
  const text = typeof notes === 'string' ? notes : JSON.stringify(notes);
  const safe = multiLine(text.trimEnd());
  return [{ label: 'Notes', lines: (room) => wrap(safe, room), widestWord: widestWordOf(safe) }];
}

// --- other applications of the same person ---

/** Returns true if the other application seems to be of the same person. */
export function isSamePerson(other: JsonObject, record: JsonObject): boolean {
  return other['id'] !== record['id'] && sharedKeys(other, record).length > 0;
}

/** Returns the identity that two applications share: the e-mail address in any case, or the Discord user. */
function sharedKeys(a: JsonObject, b: JsonObject): readonly string[] {
  const keys = [
    ['email', 'e-mail'],
    ['discordUserId', 'Discord'],
  ] as const;
  return keys
    .filter(([field]) => {
      const [own, other] = [fieldText(a, field), fieldText(b, field)];
      return own.trim() !== '' && foldCase(own.trim()) === foldCase(other.trim());
    })
    .map(([, word]) => word);
}

const maxOthers = 5;

function otherSection(record: JsonObject, style: CardStyle, nearby: Nearby): readonly Section[] {
  if ('reason' in nearby || nearby.records.length === 0) return [];
  const { paint } = style;
  const sorted = inUsualOrder(nearby.records, 'tryouts');
  const all = sorted.map((other): Piece[] => [
    { text: fieldText(other, 'id') },
    { text: fieldText(other, 'status'), paint: paint.status },
    { text: ageOf(other, 'submittedAt', style) },
    { text: `(same ${sharedKeys(other, record).join(' and ')})`, paint: paint.dim },
  ]);
  const rows = upTo(maxOthers, all, (more) => [{ text: `and ${more} more`, paint: paint.dim }]);
  return [{ label: 'Other', lines: (room) => alignedLines(rows, room) }];
}
