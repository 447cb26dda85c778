// JSON.stringify escapes C0 and lone surrogates itself; the rest can only stand inside strings.
const unsafeClass = '[\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069]';
const all = new RegExp(unsafeClass, 'g');

/** What in a text of JSON drives a terminal. */
export const unsafeInJson: RegExp = new RegExp(unsafeClass);

/** JSON with the same value and nothing in it that drives a terminal. */
export function escapeJson(json: string): string {
  return json.replace(
    all,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
