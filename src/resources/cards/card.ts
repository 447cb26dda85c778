/** Cards: one record for a person, with what is near it and what this machine changed of it. */

import { hiddenChange } from '../../bulk/row-lines.js';
import { detailLines } from '../../cli/card.js';
import { shortValue } from '../../cli/lines.js';
import { fieldLabel } from '../../cli/lists/labels.js';
import type { Canvas } from '../../cli/views.js';
import type { Settings } from '../../config/settings.js';
import type { Context } from '../../context.js';
import { isObject, type JsonObject } from '../../data/json.js';
import { upTo } from '../../data/text.js';
import { clockTime, shortDay } from '../../data/time.js';
import { isHash } from '../../runs/journal.js';
import { isUploadRun } from '../../runs/unfinished.js';
import { alignedLines, type Piece } from '../../terminal/layout.js';
import { type CardPage, type CardStyle, fieldText, pageLines, type Section } from './fields.js';
import type { PastChange } from './history.js';

/** Renders the lines of a card; everything that needs reading was read before. */
export type CardLines = (canvas: Canvas) => readonly string[];

type CardSettings = { readonly settings: Pick<Settings, 'time' | 'verbose'> };

/** Makes the card of a record, with what this machine changed of it. Throws CancelledError after a signal. */
export type CardMaker = (
  context: CardSettings & Pick<Context, 'api' | 'signal' | 'withConnection'>,
  record: JsonObject,
  changes: readonly PastChange[],
) => Promise<CardLines>;

/** The parts of a card that its resource decides. */
export type CardParts = Omit<CardPage, 'name'>;

/** Returns the card of a record from the parts that its resource decides. */
export function cardOf(
  { settings }: CardSettings,
  record: JsonObject,
  changes: readonly PastChange[],
  partsOf: (style: CardStyle) => CardParts,
): CardLines {
  return (canvas) => {
    const style = { ...canvas, time: settings.time };
    const parts = partsOf(style);
    // By the API's names, as in JSON.
    const lines = (columns: number) => detailLines(record, { ...style, columns });
    const sections = [
      ...parts.sections,
      ...historySection(changes, style),
      ...(settings.verbose ? [{ label: 'All fields', isBelow: true, lines }] : []),
    ];
    const names = ['name', 'title', 'id'].map((field) => fieldText(record, field));
    const name = names.find((text) => text !== '') ?? '';
    return pageLines({ ...parts, name, sections }, canvas);
  };
}

const maxChanges = 5;

function historySection(changes: readonly PastChange[], style: CardStyle): readonly Section[] {
  if (changes.length === 0) return [];
  const { now, paint, isUtf8 } = style;
  const arrow = isUtf8 ? '→' : '>';
  const all = changes.map((change): Piece[] => [
    { text: `${shortDay(change.at, now)} ${clockTime(change.at)}`, paint: paint.dim },
    { text: describeChange(change, arrow) },
    { text: `(run ${change.head.run.slice(-6)})`, paint: paint.dim },
  ]);
  const rows = upTo(maxChanges, all, (more) => [{ text: `and ${more} earlier`, paint: paint.dim }]);
  return [{ label: 'Here', lines: (room) => alignedLines(rows, room) }];
}

function describeChange({ head, before, after, isUnknown }: PastChange, arrow: string): string {
  const isNew = after['id'] !== undefined;
  const parts = Object.entries(after).map(([field, to]) =>
    describeField(field, before[field], to, arrow),
  );
  const made = isUploadRun(head) ? 'uploaded' : 'created';
  const text = isNew ? made : parts.join(', ') || 'changed';
  return isUnknown ? `${text} (not known whether it took effect)` : text;
}

/** A change in words. A journal keeps long and private values, such as notes, as hashes only. */
function describeField(field: string, from: unknown, to: unknown, arrow: string): string {
  if (field === 'convertedPlayerId' && typeof to === 'string')
    return `converted to ${shortValue(to)}`;
  const isNotes = field === 'internalNotes';
  const label = isNotes ? (from === null ? 'note' : 'notes') : fieldLabel(field).toLowerCase();
  if (isHash(from) || isHash(to) || isObject(to) || Array.isArray(to))
    return `${label} ${hiddenChange(from, to)}`;
  const change = `${shortValue(from)} ${arrow} ${shortValue(to)}`;
  return field === 'status' ? change : `${label} ${change}`;
}
