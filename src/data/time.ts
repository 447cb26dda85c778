const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)$/;

/** The moment that a date-time of the service names, or undefined for any other text. */
export function momentOf(text: string): Date | undefined {
  if (text.length < 17 || text.length > 40 || !isoTime.test(text)) return undefined;
  const moment = new Date(text);
  return Number.isNaN(moment.getTime()) ? undefined : moment;
}

const units: readonly (readonly [seconds: number, unit: string])[] = [
  [365 * 86_400, 'y'],
  [30 * 86_400, 'mo'],
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
];

/** `3 h ago`, `in 2 d`, `just now`. */
export function relativeTime(moment: Date, now: Date): string {
  const seconds = (now.getTime() - moment.getTime()) / 1000;
  const distance = Math.abs(seconds);
  const unit = units.find(([length]) => distance >= length);
  if (!unit) return 'just now';
  const amount = `${Math.floor(distance / unit[0])} ${unit[1]}`;
  return seconds < 0 ? `in ${amount}` : `${amount} ago`;
}

/** `2026-11-21 04:54`, in the zone of this machine (`TZ`). */
export function localTime(moment: Date): string {
  const date = `${moment.getFullYear()}-${two(moment.getMonth() + 1)}-${two(moment.getDate())}`;
  return `${date} ${two(moment.getHours())}:${two(moment.getMinutes())}`;
}

/** `2026-11-21 04:54:07 +01:00`. */
export function zonedTime(moment: Date): string {
  const offset = -moment.getTimezoneOffset();
  const size = Math.abs(offset);
  const zone = `${offset < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
  return `${localTime(moment)}:${two(moment.getSeconds())} ${zone}`;
}

function two(amount: number): string {
  return String(amount).padStart(2, '0');
}
