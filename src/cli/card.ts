import { isObject, type JsonObject } from '../data/json.js';
import type { Paint } from '../terminal/paint.js';
import { cellText } from '../terminal/safe-text.js';
import { pad, truncate, widestOf, wrap } from '../terminal/width.js';
import { detailOf, type CellOptions } from './cells.js';

interface CardStyle extends CellOptions {
  readonly columns: number;
  readonly paint: Paint;
}

/** One record for a person: all fields, keys aligned, what is nested indented, no line too wide. */
export function detailLines(record: JsonObject, look: CardStyle): string[] {
  return linesOf(record, '', look);
}

const widestKey = 30;
/** Below this a value has a line of its own rather than a narrow column beside its key. */
const leastRoom = 16;
const gap = '  ';

function linesOf(record: JsonObject, margin: string, look: CardStyle): string[] {
  const entries = Object.entries(record);
  const room = look.columns - margin.length;
  const keyRoom = Math.max(2, Math.min(widestKey, room));
  const keys = entries.map(([key]) => truncate(cellText(key) || '""', keyRoom));
  const width = widestOf(keys);
  return entries.flatMap(([key, value], index) => {
    const name = keys[index] ?? '';
    const nested = nestedLines(value, deeper(margin, look), look);
    if (nested) return [margin + look.paint.bold(name), ...nested];
    const text = detailOf(value, key, look);
    const paint = key === 'status' ? look.paint.status : (line: string) => line;
    const beside = room - width - gap.length;
    if (beside < leastRoom) {
      const inner = deeper(margin, look);
      const lines = wrap(text, look.columns - inner.length).map((line) => inner + paint(line));
      return [margin + look.paint.bold(name), ...lines];
    }
    const label = look.paint.bold(name) + pad(name, width).slice(name.length) + gap;
    const [first = '', ...more] = wrap(text, beside);
    const indent = margin + ' '.repeat(width + gap.length);
    return [margin + label + paint(first), ...more.map((line) => indent + line)].map((line) =>
      line.trimEnd(),
    );
  });
}

/** An object's or a list of objects' own lines; undefined for what fits into a value. */
function nestedLines(value: unknown, margin: string, look: CardStyle): string[] | undefined {
  if (isObject(value))
    return Object.keys(value).length > 0 ? linesOf(value, margin, look) : undefined;
  if (!Array.isArray(value) || !value.some((item) => typeof item === 'object' && item !== null))
    return undefined;
  return value.flatMap((item: unknown) => {
    const inner = deeper(margin, look);
    const lines =
      nestedLines(item, inner, look) ??
      wrap(detailOf(item, '', look), look.columns - inner.length).map((line) => inner + line);
    // No room for a dash any more: the keys repeat, which tells the items apart as well.
    if (inner === margin) return lines;
    const [first = '', ...more] = lines;
    return [`${margin}- ${first.slice(inner.length)}`, ...more];
  });
}

/** Two more spaces, until half of the width is margin. */
function deeper(margin: string, look: CardStyle): string {
  return margin.length + 2 > look.columns / 2 ? margin : `${margin}${gap}`;
}
