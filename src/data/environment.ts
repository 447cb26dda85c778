/** The environment variables of the process, and what they say about who is there. */

/** Environment variables by name. */
export type Environment = { readonly [name: string]: string | undefined };

/** True if the variable `CI` is set and is neither empty, `0` nor `false`. */
export function runsInCi(env: Environment): boolean {
  return !['', '0', 'false'].includes(env['CI'] ?? '');
}

/** True if text may hold letters beyond ASCII: the locale of the process is a UTF-8 one. */
export function isUtf8Locale(env: Environment): boolean {
  return /utf-?8/i.test(env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '');
}

/** Returns true if the terminal reads bytes as characters: it has a locale, and that is not UTF-8. */
export function readsBytes(env: Environment): boolean {
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || env['XTERM_LOCALE'];
  return Boolean(locale) && !/utf-?8/i.test(locale ?? '');
}

/** Returns true if marks and bars are drawn: `TERM=dumb` may be a screen reader, which gets words. */
export function drawsMarks(env: Environment): boolean {
  return isUtf8Locale(env) && env['TERM'] !== 'dumb';
}

/** Variables withheld from other programs: a pager may offer a shell. */
const secretNames = ['ROSTERCTL_API_KEY', 'ROSTERCTL_API_KEY_FILE'];

/** Returns the environment without the key, which other programs and other profiles do not get. */
export function environmentWithoutKey(env: Environment): Environment {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !secretNames.includes(name.toUpperCase())),
  );
}
