/** The detail view of one record for a person. */
import { isObject, type JsonObject } from '../data/json.js';
import { isNested } from '../data/path.js';
import { type LabelledRow, labelledLines, widestWordOf } from '../terminal/layout.js';
import type { Paint } from '../terminal/paint.js';
import { singleLine } from '../terminal/safe-text.js';
import { wrap } from '../terminal/width.js';
import { type CellOptions, detailOf } from './cells.js';
import { fieldLabel } from './lists/labels.js';

interface DetailStyle extends CellOptions {
  readonly columns: number;
  readonly paint: Paint;
  /** Labels a field; by default fields have the names of the service. */
  readonly labelFor?: ((key: string) => string) | undefined;
}

/** Renders all fields of a record: keys aligned, nested values indented, no line wider than the terminal. */
export function detailLines(record: JsonObject, style: DetailStyle): string[] {
  const { labelFor = (key) => key } = style;
  return labelledLines(
    Object.entries(record).map(([key, value]) => ({
      label: singleLine(labelFor(key)) || '""',
      paint: style.paint.bold,
      ...detailValue(value, key, style),
    })),
    style.columns,
  );
}

/** Renders all fields of a record by their labels, for a person; the questions of a form stay as they are. */
export function recordLines(record: JsonObject, style: Omit<DetailStyle, 'time'>): string[] {
  return detailLines(record, { ...style, time: 'local', labelFor: fieldLabel });
}

/** How a value of any kind is shown beside or below its label. */
export function detailValue(
  value: unknown,
  field: string,
  given: DetailStyle,
): Omit<LabelledRow, 'label' | 'paint'> {
  const style = field === 'formResponses' ? { ...given, labelFor: undefined } : given;
  if (isObject(value) && Object.keys(value).length > 0)
    return { isBelow: true, lines: (columns) => detailLines(value, { ...style, columns }) };
  if (Array.isArray(value) && isNested(value))
    return { isBelow: true, lines: (columns) => itemLines(value, { ...style, columns }) };
  const paint = field === 'status' ? style.paint.status : (line: string) => line;
  const text = detailOf(value, field, style);
  return { lines: (columns) => wrap(text, columns).map(paint), widestWord: widestWordOf(text) };
}

/** The items of a list, each after a dash where there is room for one. */
function itemLines(items: readonly unknown[], style: DetailStyle): string[] {
  const dash = style.columns < 20 ? '' : '- ';
  const columns = style.columns - dash.length;
  return items.flatMap((item) =>
    detailValue(item, '', style)
      .lines(columns)
      .map((line, index) => (index === 0 ? dash : ' '.repeat(dash.length)) + line),
  );
}
