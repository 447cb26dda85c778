import { UsageError } from '../errors.js';

const units: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** The lengths that are allowed, in milliseconds, both ends included. */
export interface DurationRange {
  readonly least: number;
  readonly most: number;
}

/**
 * Milliseconds of `30s`, `90m`, `24h`, `7d`, `2w`. Throws UsageError for a bare number, since
 * nobody can tell which unit was meant; of those it offers what lies in the range.
 */
export function parseDuration(text: string, range: DurationRange = anyLength): number {
  const found = /^(\d+(?:\.\d+)?)(ms|[smhdw])$/.exec(text.trim());
  const length = Number(found?.[1]) * (units[found?.[2] ?? ''] ?? Number.NaN);
  if (Number.isFinite(length)) return Math.round(length);
  if (/^\d+(\.\d+)?$/.test(text.trim()))
    throw new UsageError(`"${text}" has no unit.`, {
      hint: withUnits(text.trim(), range),
    });
  throw new UsageError(`"${text}" is no length of time.`, {
    hint: 'Write 30s, 10m, 24h, 7d or 2w.',
  });
}

/** `It may be from 1ms to 1d.` */
export function rangeHint({ least, most }: DurationRange): string {
  return `It may be from ${formatDuration(least)} to ${formatDuration(most)}.`;
}

/** Milliseconds as they are typed: `30s`, `90m`, `7d`; the largest unit that divides them. */
export function formatDuration(ms: number): string {
  const fitting = Object.entries(units).filter(([unit, size]) => unit !== 'w' && ms % size === 0);
  const [unit, size] = ms === 0 ? ['s', 1000] : (fitting.at(-1) ?? ['ms', 1]);
  return `${ms / size}${unit}`;
}

const anyLength: DurationRange = { least: 0, most: Infinity };

function withUnits(number: string, range: DurationRange): string {
  // Nothing is nothing in every unit.
  const likely = Number(number) === 0 ? ['s'] : ['s', 'm', 'h', 'd'];
  const lengths = likely.filter((unit) => {
    const ms = Number(number) * (units[unit] ?? Number.NaN);
    return ms >= range.least && ms <= range.most;
  });
  if (lengths.length === 0) return rangeHint(range);
  const all = lengths.map((unit) => `${number}${unit}`);
  return `Write ${[all.slice(0, -1).join(', '), all.at(-1)].filter(Boolean).join(' or ')}.`;
}
