/** Times and durations: parsing, formatting, measuring age, waiting and deadlines. */
import { UsageError } from '../errors.js';
import { lazy } from './lazy.js';
import { orList, plural } from './text.js';

/** With a space and `+00` as well, as databases write it. */
const isoTime = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:[Zz]|[+-]\d\d(?::?\d\d)?)$/;

/** Parses a date-time of the service; undefined for any other text. */
export function momentOf(text: string): Date | undefined {
  if (text.length < 17 || text.length > 40 || !isoTime.test(text)) return undefined;
  // A Date reads hours alone as an offset only behind a space.
  const moment = new Date(text.replace(/[+-]\d\d$/, '$&:00'));
  return Number.isNaN(moment.getTime()) ? undefined : moment;
}

const units: readonly (readonly [seconds: number, unit: string])[] = [
  [365 * 86_400, 'y'],
  [30 * 86_400, 'mo'],
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
];

/** Returns `3 h ago`, `in 2 d`, `just now`. */
export function relativeTime(moment: Date, now: Date): string {
  const seconds = (now.getTime() - moment.getTime()) / 1000;
  const distance = Math.abs(seconds);
  const unit = units.find(([length]) => distance >= length);
  if (!unit) return 'just now';
  const amount = `${Math.floor(distance / unit[0])} ${unit[1]}`;
  return seconds < 0 ? `in ${amount}` : `${amount} ago`;
}

/** Returns how long somebody waits: `56 d`, `4 h`, `12 min`. Days say more than `1 mo`. */
export function waitingTime(ms: number): string {
  const minutes = Math.max(0, Math.floor(ms / 60_000));
  if (minutes >= 24 * 60) return `${Math.floor(minutes / (24 * 60))} d`;
  return minutes >= 60 ? `${Math.floor(minutes / 60)} h` : `${minutes} min`;
}

/** Returns `2026-11-21 04:54`, in this machine's time zone (`TZ`). */
export function localTime(moment: Date): string {
  const date = `${moment.getFullYear()}-${twoDigits(moment.getMonth() + 1)}-${twoDigits(moment.getDate())}`;
  return `${date} ${clockTime(moment)}`;
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Returns `22 Nov 2026`, in this machine's time zone. */
export function longDay(moment: Date): string {
  return `${moment.getDate()} ${months[moment.getMonth()]} ${moment.getFullYear()}`;
}

/** Returns `22 Nov`, and the year if it is not the current one. */
export function shortDay(moment: Date, now: Date): string {
  const day = longDay(moment);
  return moment.getFullYear() === now.getFullYear() ? day.slice(0, -5) : day;
}

const withZone = lazy(() => new Intl.DateTimeFormat('en-GB', { timeZoneName: 'short' }));

/** Returns `22 Nov 2026, 10:05 CET`. */
export function longTime(moment: Date): string {
  const parts = withZone().formatToParts(moment);
  const zone = parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
  return `${longDay(moment)}, ${clockTime(moment)} ${zone}`.trimEnd();
}

/** Returns the long time that a text names, or the text if it names none. */
export function longTimeOf(text: string): string {
  const moment = momentOf(text);
  return moment ? longTime(moment) : text;
}

/** Returns `10:05`. */
export function clockTime(moment: Date): string {
  return `${twoDigits(moment.getHours())}:${twoDigits(moment.getMinutes())}`;
}

function twoDigits(amount: number): string {
  return String(amount).padStart(2, '0');
}

/**
 * A moment by the wall clock and by a monotonic clock, in milliseconds: the age of a read must not
 * depend on a clock that is adjusted or suspended.
 */
export interface Instant {
  readonly wall: number;
  readonly mono: number;
}

/**
 * Returns the milliseconds from `at` to `now`, the larger value of both clocks, because the
 * monotonic one may stop while the machine is suspended. Infinity if a clock went backwards.
 */
export function ageMs(at: Instant, now: Instant): number {
  const wall = now.wall - at.wall;
  const mono = now.mono - at.mono;
  return wall < 0 || mono < 0 ? Number.POSITIVE_INFINITY : Math.max(wall, mono);
}

/** How long a write may rely on a read, in milliseconds. */
export const usualFreshMs = 2_000;

/** How far a read may lag behind a write that was answered with the record, in milliseconds. */
export const lagMs = 1_000;
/** The pauses before such a read is repeated, together as long. */
export const lagPauses: readonly number[] = [50, 150, 300, 500];

/** Waits `ms` milliseconds, or until the signal fires. Never throws. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
}

/** Resolves once the signal fires. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Returns what a read finds, or undefined if it is still running a second after the signal, when the outcome has to be recorded. */
export function inTime<T>(read: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const limit = () => {
      timer = setTimeout(() => resolve(undefined), 1_000);
    };
    if (signal.aborted) limit();
    else signal.addEventListener('abort', limit);
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', limit);
    };
    read.finally(end).then(resolve, reject);
  });
}

const unitLengths = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** The allowed durations, in milliseconds, inclusive. */
interface DurationRange {
  readonly least: number;
  readonly most: number;
}

/**
 * Parses `30s`, `90m`, `24h`, `7d`, `2w` to milliseconds. Throws UsageError for a bare number,
 * because its unit is ambiguous; the hint suggests the units that are within the range.
 */
export function parseDuration(text: string, range: DurationRange = anyLength): number {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|[smhdw])$/.exec(text.trim()) ?? [];
  const length = Number(amount) * unitLengths[unit as keyof typeof unitLengths];
  if (Number.isFinite(length)) return Math.round(length);
  if (/^\d+(\.\d+)?$/.test(text.trim()))
    throw new UsageError(`"${text}" has no unit.`, { hint: withUnits(text.trim(), range) });
  throw new UsageError(`"${text}" is not a duration.`, { hint: 'Write 30s, 10m, 24h, 7d or 2w.' });
}

/** Returns `The range is 1ms to 1d.` */
export function rangeHint({ least, most }: DurationRange): string {
  return `The range is ${formatDuration(least)} to ${formatDuration(most)}.`;
}

/** Formats milliseconds for a sentence: `14 days`, `90 minutes`. */
export function durationInWords(ms: number): string {
  const [count, unit] = inLargestUnit(ms);
  return plural(count, unitWords[unit]);
}

const unitWords = { ms: 'millisecond', s: 'second', m: 'minute', h: 'hour', d: 'day' };

/** Formats milliseconds as typed: `30s`, `90m`, `7d`, with the largest unit that divides them. */
export function formatDuration(ms: number): string {
  return inLargestUnit(ms).join('');
}

function inLargestUnit(ms: number): [number, keyof typeof unitWords] {
  if (ms === 0) return [0, 's'];
  const unit = (['d', 'h', 'm', 's'] as const).find((one) => ms % unitLengths[one] === 0);
  return unit ? [ms / unitLengths[unit], unit] : [ms, 'ms'];
}

const anyLength: DurationRange = { least: 0, most: Infinity };

function withUnits(number: string, range: DurationRange): string {
  // Zero is the same in every unit.
  const likely = Number(number) === 0 ? (['s'] as const) : (['s', 'm', 'h', 'd'] as const);
  const lengths = likely.filter((unit) => {
    const ms = Number(number) * unitLengths[unit];
    return ms >= range.least && ms <= range.most;
  });
  if (lengths.length === 0) return rangeHint(range);
  return `Write ${orList(lengths.map((unit) => `${number}${unit}`))}.`;
}

/**
 * A timeout that passes only after everything that has already arrived was read: a process that was
 * stopped (Ctrl-Z, SIGSTOP, a suspended machine) runs its overdue timers before it reads its sockets.
 */
export class Deadline {
  private timer: NodeJS.Timeout | undefined;
  private reading: NodeJS.Immediate | undefined;

  /** Starts, or starts over. */
  start(ms: number, onPassed: () => void): void {
    this.clear();
    this.timer = setTimeout(() => {
      // Node runs this after it has read what the sockets hold.
      this.reading = setImmediate(onPassed);
    }, ms);
  }

  clear(): void {
    clearTimeout(this.timer);
    clearImmediate(this.reading);
  }
}
