/** The parts of a card and how they are laid out: contact, games, times, and every further field by its label. */

import { detailValue } from '../../cli/card.js';
import type { CellOptions } from '../../cli/cells.js';
import { fieldLabel } from '../../cli/lists/labels.js';
import type { Canvas } from '../../cli/views.js';
import { isObject, type JsonObject, wholeNumberOf } from '../../data/json.js';
import { normalName, plainText } from '../../data/path.js';
import { binarySize } from '../../data/text.js';
import { momentOf, relativeTime } from '../../data/time.js';
import { isEmptyValue } from '../../data/where.js';
import {
  alignedLines,
  dotOf,
  filledLines,
  type LabelledRow,
  labelledLines,
  type Piece,
  paintedLine,
} from '../../terminal/layout.js';
import { singleLine } from '../../terminal/safe-text.js';
import { displayWidth, wrap } from '../../terminal/width.js';

/** How a card is drawn: the canvas, and `--time`. */
export type CardStyle = Canvas & Pick<CellOptions, 'time'>;

/** Returns a text field as one sanitized line; empty if there is no text. */
export function fieldText(record: JsonObject, field: string): string {
  const value = record[field];
  if (isEmptyValue(value) || isObject(value) || Array.isArray(value)) return '';
  return singleLine(plainText(value));
}

/** Returns the age of a time in a record, `4 h ago`; what the service sent if that is not a time. */
export function ageOf(record: JsonObject, field: string, { now, time }: CardStyle): string {
  const text = fieldText(record, field);
  const moment = momentOf(text);
  return moment && time !== 'iso' ? relativeTime(moment, now) : text;
}

/** The ways to reach a person, and the id to type. */
export function contactOf(record: JsonObject, { paint }: Canvas): readonly Piece[] {
  const discord = fieldText(record, 'discordUsername');
  const discordId = fieldText(record, 'discordUserId');
  const name = discord === '' && discordId !== '' ? `user ${discordId}` : discord;
  return [
    { text: fieldText(record, 'email') },
    { text: name === '' ? '' : `Discord ${name}` },
    { text: fieldText(record, 'id'), paint: paint.dim },
  ];
}

/** The games of a person with their gamer tags; nothing if there are none. */
export function gamesSection(record: JsonObject, style: CardStyle): readonly Section[] {
  const { gamerTags } = record;
  if (isEmptyValue(gamerTags)) return [];
  const tags: readonly unknown[] = Array.isArray(gamerTags) ? gamerTags : [];
  const rows = tags
    .filter(isObject)
    .map((tag) => [{ text: fieldText(tag, 'game') }, { text: fieldText(tag, 'gamerTag') }]);
  const isAsStated = rows.length > 0 && rows.length === tags.length;
  const label = 'Games';
  if (isAsStated) return [{ label, lines: (room) => alignedLines(rows, room) }];
  return [{ label, ...detailValue(gamerTags, 'gamerTags', style) }];
}

/** Fields with a section of their own, or that tell a person nothing: the organization, references to private files. */
const leftOut = ['organizationId', 'gamerTags', 'fileUrl', 'fileKey', 'fileRef'];

/** Fields that every card shows in a line of its own, which has room for plain text alone. */
const inLine = [
  ...['id', 'name', 'status', 'createdAt', 'updatedAt'],
  ...['email', 'discordUsername', 'discordUserId'],
];

/**
 * Every further field that holds something, by its label and in the service's order. `drawn`: those of
 * the card that have a section; `texts`: those that are shown in a line, if they are plain text.
 */
export function furtherFields(
  record: JsonObject,
  style: CardStyle,
  { drawn = [], texts = [] }: { drawn?: readonly string[]; texts?: readonly string[] } = {},
): readonly Section[] {
  const isInLine = (field: string) => inLine.includes(field) || texts.includes(field);
  return Object.entries(record)
    .filter(([field]) => !leftOut.includes(field) && !drawn.includes(field))
    .filter(([field]) => !isInLine(field) || fieldText(record, field) === '')
    .filter(([, value]) => !isEmptyValue(value))
    .map(([field, value]) => ({
      label: singleLine(fieldLabel(field)) || '""',
      ...detailValue(value, field, style),
    }));
}

/** Returns the size of a document, `79.2 KiB`; empty if its record does not tell. */
export function sizeOf(record: JsonObject): string {
  const key = Object.keys(record).find((name) => ['sizebytes', 'size'].includes(normalName(name)));
  if (key === undefined) return '';
  const value = record[key];
  const bytes = typeof value === 'number' ? value : wholeNumberOf(value);
  return bytes === undefined ? fieldText(record, key) : binarySize(bytes);
}

/** One labelled part of a card. */
export type Section = Omit<LabelledRow, 'paint'>;

/** The content of a card, as sanitized text. */
export interface CardPage {
  readonly name: string;
  /** The text to the right of the name: status and age. */
  readonly state: readonly Piece[];
  /** Paragraphs below the name, each of pieces between dots. */
  readonly contact: readonly (readonly Piece[])[];
  readonly sections: readonly Section[];
  /** Dim remarks at the end, as sentences. */
  readonly remarks?: readonly string[];
}

/** Wider, the eye loses the line. */
const maxWidth = 120;
/** The widest that name and state are drawn apart. */
const maxHeadWidth = 80;

/** Renders a card as lines of at most `canvas.columns`. */
export function pageLines(page: CardPage, canvas: Canvas): readonly string[] {
  const { paint } = canvas;
  const columns = Math.min(canvas.columns, maxWidth);
  const dot = dotOf(canvas.isUtf8);
  const sections = labelledLines(
    page.sections.map((section) => ({ ...section, paint: paint.bold })),
    columns,
  );
  return [
    ...headLines(page, paint, columns, dot),
    ...page.contact.flatMap((pieces) => filledLines(pieces, dot, columns)),
    ...(sections.length > 0 ? ['', ...sections] : []),
    ...(page.remarks ?? []).flatMap((text) => ['', ...wrap(text, columns).map(paint.dim)]),
  ];
}

function headLines(
  { name, state }: CardPage,
  paint: Canvas['paint'],
  columns: number,
  dot: string,
): readonly string[] {
  const right = paintedLine(state, dot);
  const free = Math.min(columns, maxHeadWidth) - displayWidth(name) - right.width;
  if (free >= 2) return [`${paint.bold(name)}${' '.repeat(free)}${right.text}`.trimEnd()];
  return [...wrap(name, columns).map(paint.bold), ...filledLines(state, dot, columns)];
}
