/** Templates of answers: `STATUS BODY`, in which placeholders stand for what the sandbox would say. */
import { isObject, type JsonObject } from '../../data/json.js';

/** An answer as a template; each part may be missing. */
export interface Template {
  readonly status?: number | undefined;
  /** JSON in which texts and keys may be placeholders; absent for a text. */
  readonly json?: unknown;
  /** A body that is not JSON; empty for none. */
  readonly text?: string | undefined;
}

/**
 * The values of the placeholders of one answer, or functions that make them. A placeholder without a
 * value removes the part that it would fill.
 */
export type PlaceholderValues = Readonly<Record<string, unknown>>;

/** True for a text that is a template, not a name. */
export function isTemplate(text: string): boolean {
  return /^([{["<$]|[1-9]\d\d(\s|$))/.test(text);
}

/** Reads `201 {"player":"$record"}`, `{"data":"$rows"}`, `302 $url`, `200 some text`, `204`. */
export function parseTemplate(text: string): Template {
  const [, status, rest = ''] = /^(?:([1-9]\d\d)(?:\s+|$))?(.*)$/s.exec(text.trim()) ?? [];
  const number = status === undefined ? undefined : Number(status);
  if (rest === '') return { status: number, text: '' };
  try {
    return { status: number, json: JSON.parse(rest) };
  } catch {
    return { status: number, text: rest };
  }
}

/** `$name`, or `$name?`: then null counts as absent. `$$` is a dollar sign. */
const placeholder = /\$(?:\$|([a-zA-Z]+)(\?)?)/g;
const onlyPlaceholder = /^\$([a-zA-Z]+)(\?)?$/;

/** The names of the placeholders in a text. */
export function placeholdersIn(text: string): readonly string[] {
  return [...text.matchAll(placeholder)].flatMap(([, name]) => name ?? []);
}

/**
 * Fills a JSON value. A text that is one placeholder becomes its value, of any type; in a longer
 * text each is printed. The key `...` spreads an object. Undefined when nothing is left.
 */
export function fillJson(value: unknown, values: PlaceholderValues): unknown {
  if (typeof value === 'string') return fillText(value, values);
  if (Array.isArray(value))
    return value.map((each) => fillJson(each, values)).filter((each) => each !== undefined);
  if (!isObject(value)) return value;
  const filled: Record<string, unknown> = {};
  for (const [key, each] of Object.entries(value)) {
    const content = fillJson(each, values);
    if (key === '...') Object.assign(filled, isObject(content) ? content : {});
    else if (content !== undefined) filled[String(fillText(key, values))] = content;
  }
  return filled;
}

/** Fills a text; a placeholder without a value makes all of it null or undefined. */
export function fillText(text: string, values: PlaceholderValues): unknown {
  const [, only, isDropped] = onlyPlaceholder.exec(text) ?? [];
  if (only !== undefined) return valueOf(only, isDropped, values);
  const missing: (null | undefined)[] = [];
  const filled = text.replace(placeholder, (mark, name?: string, dropped?: string) => {
    if (name === undefined) return mark.slice(1);
    const value = valueOf(name, dropped, values);
    if (value === null || value === undefined) missing.push(value);
    return wireText(value);
  });
  if (missing.length === 0) return filled;
  return missing.includes(undefined) ? undefined : null;
}

function valueOf(name: string, isDropped: string | undefined, values: PlaceholderValues): unknown {
  const known = values[name];
  const value: unknown = typeof known === 'function' ? known() : known;
  return value === null && isDropped !== undefined ? undefined : value;
}

/** A value as a text: JSON for what is none, empty for nothing. */
export function wireText(value: unknown): string {
  if (typeof value === 'string') return value;
  return value == null ? '' : JSON.stringify(value);
}

/** Fills a JSON object of headers; one without a value is left out. */
export function fillHeaders(
  headers: JsonObject,
  values: PlaceholderValues,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, each]) => {
      const content = fillJson(each, values);
      return content === undefined || content === null
        ? []
        : [[name.toLowerCase(), wireText(content)]];
    }),
  );
}
