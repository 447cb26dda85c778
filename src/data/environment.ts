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
