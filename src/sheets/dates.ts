/** Dates in a workbook: numbers of days whose format makes them dates. */

const dayMs = 86_400_000;
/** Days from the start of each calendar to 1970. A sheet of 1900 counts a 29 February that never was. */
const days1900 = 25_569;
const days1904 = 24_107;

/** Returns the number that a sheet shows as this time in UTC; undefined before March 1900 or after 9999. */
export function serialOf(moment: Date): number | undefined {
  const serial = moment.getTime() / dayMs + days1900;
  return serial >= 61 && serial < 2_958_466 ? serial : undefined;
}

/**
 * Returns a date cell as text in UTC: `2026-03-01`, or `2026-03-01T10:00:00.000Z` if it has a time;
 * undefined for a number that is no date, such as a duration.
 */
export function dateText(serial: number, is1904: boolean): string | undefined {
  const least = is1904 ? 0 : 61;
  if (!(serial >= least && serial < 2_958_466)) return undefined;
  const ms = Math.round((serial - (is1904 ? days1904 : days1900)) * dayMs);
  const text = new Date(ms).toISOString();
  return ms % dayMs === 0 ? text.slice(0, 10) : text;
}

/** True if a number format shows a date or a time: `yyyy-mm-dd`, `[$-409]d. mmm`, not `0.00` or `"day" 0`. */
export function isDateFormat(id: number, format: string | undefined): boolean {
  if (format === undefined)
    return (id >= 14 && id <= 22) || (id >= 27 && id <= 36) || (id >= 45 && id <= 58);
  const bare = format
    .replace(/"[^"]*"|\\.|_.|\*./g, '')
    .replace(/\[(?!h+\]|m+\]|s+\])[^\]]*\]/gi, '')
    .split(';', 1)[0];
  return /[ymdhs]/i.test((bare ?? '').replace(/general/i, ''));
}
