/** The detail view of one record for a person. */
import { isObject, type JsonObject } from '../data/json.js';
import type { Paint } from '../terminal/paint.js';
import { cellText } from '../terminal/safe-text.js';
import { pad, truncate, widestOf, wrap } from '../terminal/width.js';
import { type CellOptions, detailOf } from './cells.js';

interface CardStyle extends CellOptions {
  readonly columns: number;
  readonly paint: Paint;
}

/** Renders all fields of a record: keys aligned, nested values indented, no line wider than the terminal. */
export function detailLines(record: JsonObject, style: CardStyle): string[] {
  return recordLines(record, '', style);
}

const maxKeyWidth = 30;
/** With fewer columns than this, a value is put below its key rather than beside it. */
const minValueWidth = 16;
const gap = '  ';

function recordLines(record: JsonObject, margin: string, style: CardStyle): string[] {
  const entries = Object.entries(record);
  const room = style.columns - margin.length;
  const keyRoom = Math.max(2, Math.min(maxKeyWidth, room));
  const keys = entries.map(([key]) => truncate(cellText(key) || '""', keyRoom));
  const width = widestOf(keys);
  return entries.flatMap(([key, value], index) => {
    const name = keys[index] ?? '';
    const nested = nestedLines(value, deeper(margin, style), style);
    if (nested) return [margin + style.paint.bold(name), ...nested];
    const text = detailOf(value, key, style);
    const paint = key === 'status' ? style.paint.status : (line: string) => line;
    const valueWidth = room - width - gap.length;
    if (valueWidth < minValueWidth) {
      const inner = deeper(margin, style);
      const lines = wrap(text, style.columns - inner.length).map((line) => inner + paint(line));
      return [margin + style.paint.bold(name), ...lines];
    }
    const label = style.paint.bold(name) + pad(name, width).slice(name.length) + gap;
    const [first = '', ...more] = wrap(text, valueWidth);
    const indent = margin + ' '.repeat(width + gap.length);
    return [margin + label + paint(first), ...more.map((line) => indent + line)].map((line) =>
      line.trimEnd(),
    );
  });
}

/** The lines of an object or of a list of objects; undefined for a value that fits on its key's line. */
function nestedLines(value: unknown, margin: string, style: CardStyle): string[] | undefined {
  if (isObject(value))
    return Object.keys(value).length > 0 ? recordLines(value, margin, style) : undefined;
  if (!Array.isArray(value) || !value.some((item) => typeof item === 'object' && item !== null))
    return undefined;
  return value.flatMap((item: unknown) => {
    const inner = deeper(margin, style);
    const lines =
      nestedLines(item, inner, style) ??
      wrap(detailOf(item, '', style), style.columns - inner.length).map((line) => inner + line);
    // There is no room for a dash; the repeating keys tell the items apart as well.
    if (inner === margin) return lines;
    const [first = '', ...more] = lines;
    return [`${margin}- ${first.slice(inner.length)}`, ...more];
  });
}

/** Adds two spaces, until half of the width is margin. */
function deeper(margin: string, style: CardStyle): string {
  return margin.length + 2 > style.columns / 2 ? margin : `${margin}${gap}`;
}
