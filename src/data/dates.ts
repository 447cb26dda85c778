/** Dates and times as typed and as records hold them. */
import { UsageError } from '../errors.js';
import { parseDuration } from './time.js';

/** A point in time as typed: an instant, a whole local day or month, or an age before now. */
export type When =
  | { readonly kind: 'instant'; readonly ms: number }
  | { readonly kind: 'day'; readonly year: number; readonly month: number; readonly day: number }
  | { readonly kind: 'month'; readonly year: number; readonly month: number }
  /** The last day that was a weekday (0 is Sunday), today included; or so many days ago. */
  | { readonly kind: 'weekday'; readonly weekday: number }
  | { readonly kind: 'daysAgo'; readonly days: number }
  | { readonly kind: 'age'; readonly ms: number };

const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

/** Which end of a day or month to use: its first local midnight, or its last millisecond. */
type Edge = 'start' | 'end';

const datePattern = /^(\d{4})-(\d{2})-(\d{2})$/;
const timePattern =
  /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?([Zz]|[+-]\d{2}(?::?\d{2})?)?$/;

/** In milliseconds: a Date reaches little further back. */
const longestAge = 8e15;

/**
 * Parses `2026-03-01`, `2026-03`, `today`, `yesterday`, a weekday (the last one, today included), an
 * ISO date and time (local if it has no zone) or an age such as `7d`. Throws UsageError for anything else, including a day that does not exist.
 */
export function parseWhen(text: string): When {
  const typed = text.trim();
  const parsed = datePattern.test(typed) ? dayOf(typed) : (wordOf(typed) ?? instantOf(typed));
  if (parsed) return parsed;
  const isAge = /^\d+(\.\d+)?(ms|[smhdw])$/.test(typed);
  const ms = isAge ? parseDuration(typed) : Infinity;
  if (ms < longestAge) return { kind: 'age', ms };
  throw new UsageError('Not a date, time or age.', {
    hint: 'Write 2026-03-01, 2026-03, yesterday, monday, 2026-03-01T18:00, 2026-03-01T18:00:00Z or an age such as 24h, 7d, 2w.',
  });
}

/** Returns milliseconds since 1970. A day or month needs an edge, an age or a word the current time. */
export function resolveWhen(when: When, edge: Edge, now: Date): number {
  if (when.kind === 'instant') return when.ms;
  if (when.kind === 'age') return now.getTime() - when.ms;
  if (when.kind === 'month') {
    if (edge === 'start') return localMidnight(when.year, when.month - 1, 1).getTime();
    return localMidnight(when.year, when.month, 1).getTime() - 1;
  }
  if (when.kind === 'day') return dayEdge(when, edge);
  const days = when.kind === 'daysAgo' ? when.days : (now.getDay() + 7 - when.weekday) % 7;
  const [year, month, day] = [now.getFullYear(), now.getMonth() + 1, now.getDate() - days];
  return dayEdge({ year, month, day }, edge);
}

/**
 * Returns the milliseconds since 1970 of an ISO date or date and time in a record, or undefined for
 * any other value. A bare date means the given edge of that local day.
 */
export function timeOf(value: unknown, edge: Edge = 'start'): number | undefined {
  if (typeof value !== 'string') return undefined;
  const when = datePattern.test(value) ? dayOf(value) : instantOf(value);
  if (when?.kind === 'instant') return when.ms;
  return when?.kind === 'day' ? dayEdge(when, edge) : undefined;
}

/** True for an ISO date and time without a zone, which `timeOf` reads as local. */
export function isZoneless(value: unknown): boolean {
  const found = typeof value === 'string' ? timePattern.exec(value) : null;
  return found !== null && found[8] === undefined;
}

/** Returns the local calendar day of an instant: `2026-03-01`. */
export function localDay(date: Date): string {
  return [
    String(date.getFullYear()).padStart(4, '0'),
    String(date.getMonth() + 1).padStart(2, '0'),
    String(date.getDate()).padStart(2, '0'),
  ].join('-');
}

/** Returns the local day of the Monday in the week of an instant. */
export function mondayOf(date: Date): string {
  const sinceMonday = (date.getDay() + 6) % 7;
  return localDay(localMidnight(date.getFullYear(), date.getMonth(), date.getDate() - sinceMonday));
}

/** Returns the Mondays from `first` to `last`, at most `most` of them, the latest. */
export function mondaysBetween(first: string, last: string, most: number): readonly string[] {
  const mondays: string[] = [];
  for (let monday = last; monday >= first && mondays.length < most; ) {
    mondays.push(monday);
    const [year = 0, month = 0, day = 0] = monday.split('-').map(Number);
    monday = localDay(localMidnight(year, month - 1, day - 7));
  }
  return mondays.toReversed();
}

function wordOf(text: string): When | undefined {
  const word = text.toLowerCase();
  if (word === 'today') return { kind: 'daysAgo', days: 0 };
  if (word === 'yesterday') return { kind: 'daysAgo', days: 1 };
  const weekday = weekdays.indexOf(word);
  if (weekday >= 0) return { kind: 'weekday', weekday };
  const [, year, month] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(text) ?? [];
  return year && month ? { kind: 'month', year: Number(year), month: Number(month) } : undefined;
}

function dayOf(text: string): When | undefined {
  const [year = 0, month = 0, day = 0] = text.split('-').map(Number);
  if (!exists(year, month, day)) return undefined;
  return { kind: 'day', year, month, day };
}

function instantOf(text: string): When | undefined {
  const found = timePattern.exec(text);
  if (!found) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = found
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  if (!exists(year, month, day) || hour > 23 || minute > 59 || second > 59) return undefined;
  const fraction = Math.floor(Number(`0.${found[7] ?? 0}`) * 1000);
  const offset = offsetMs(found[8]);
  if (offset === undefined) return undefined;
  if (offset === 'local') {
    const midnight = localMidnight(year, month - 1, day);
    return { kind: 'instant', ms: midnight.setHours(hour, minute, second, fraction) };
  }
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return { kind: 'instant', ms: date.setUTCHours(hour, minute, second, fraction) - offset };
}

function offsetMs(zone: string | undefined): number | 'local' | undefined {
  if (zone === undefined) return 'local';
  if (zone.toUpperCase() === 'Z') return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(3).replace(':', '') || 0);
  if (hours > 23 || minutes > 59) return undefined;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}

function exists(year: number, month: number, day: number): boolean {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

function dayEdge(day: { year: number; month: number; day: number }, edge: Edge): number {
  if (edge === 'start') return localMidnight(day.year, day.month - 1, day.day).getTime();
  return localMidnight(day.year, day.month - 1, day.day + 1).getTime() - 1;
}

/** Returns the beginning of a local day. The constructor of Date would read years below 100 as 19xx. */
function localMidnight(year: number, month: number, day: number): Date {
  const date = new Date(0);
  date.setFullYear(year, month, day);
  date.setHours(0, 0, 0, 0);
  return date;
}
