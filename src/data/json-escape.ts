/** Escapes characters in JSON that control a terminal. */

// JSON.stringify escapes C0 and lone surrogates itself; the rest can only occur inside strings.
const unsafeClass = '[\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069]';
const allUnsafe = new RegExp(unsafeClass, 'g');

/** Matches characters in JSON that control a terminal. */
export const unsafeInJson: RegExp = new RegExp(unsafeClass);

/** Returns JSON with the same value and without characters that control a terminal. */
export function escapeJson(json: string): string {
  return json.replace(
    allUnsafe,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
