import { UsageError } from '../errors.js';

const units: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/**
 * Milliseconds of `30s`, `90m`, `24h`, `7d`, `2w`. Throws UsageError for a bare number, since
 * nobody can tell which unit was meant.
 */
export function parseDuration(text: string): number {
  const found = /^(\d+(?:\.\d+)?)(ms|[smhdw])$/.exec(text.trim());
  const length = Number(found?.[1]) * (units[found?.[2] ?? ''] ?? Number.NaN);
  if (Number.isFinite(length)) return Math.round(length);
  if (/^\d+(\.\d+)?$/.test(text.trim()))
    throw new UsageError(`"${text}" has no unit.`, {
      hint: `Write ${text.trim()}s, ${text.trim()}m, ${text.trim()}h or ${text.trim()}d.`,
    });
  throw new UsageError(`"${text}" is no length of time.`, {
    hint: 'Write 30s, 10m, 24h, 7d or 2w.',
  });
}

/** Milliseconds as they are typed: `30s`, `90m`, `7d`; the largest unit that divides them. */
export function formatDuration(ms: number): string {
  const fitting = Object.entries(units).filter(([unit, size]) => unit !== 'w' && ms % size === 0);
  const [unit, size] = ms === 0 ? ['s', 1000] : (fitting.at(-1) ?? ['ms', 1]);
  return `${ms / size}${unit}`;
}
