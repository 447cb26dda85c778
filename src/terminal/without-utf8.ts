/** Makes text and data fit for a terminal whose locale is not UTF-8. */
import { type Environment, isUtf8Locale, readsBytes } from '../data/environment.js';
import { escapedUnit } from '../data/text.js';

/** Returns text, or data as bytes, as the terminal of this environment can show it. */
export function forLocale<T extends string | Uint8Array>(shown: T, env: Environment): T | string {
  if (isUtf8Locale(env)) return shown;
  const isText = typeof shown === 'string';
  const marked = isText ? withAsciiMarks(shown) : shown;
  return readsBytes(env) ? withoutControlBytes(marked, isText) : marked;
}

/** Returns a text with our own marks in ASCII: within a line as wide as they were measured, but for ✔. */
function withAsciiMarks(text: string): string {
  return (
    text
      .replaceAll(/^( *)… /gm, '$1... ')
      .replaceAll('…', '~')
      .replaceAll('→', '>')
      .replaceAll(/[·–]/g, '-')
      // The marks of a prompt; every other ✔ is worded by what prints it.
      .replaceAll('✔', 'ok')
      .replaceAll('❯', '>')
      .replaceAll('◉', '*')
      .replaceAll('◯', 'o')
  );
}

/**
 * Replaces the letters with a C1 control among their bytes, which a terminal that reads bytes obeys:
 * there the name `Û2J` clears the screen. Text for a person gets no wider, data get JSON's escapes.
 */
function withoutControlBytes(shown: string | Uint8Array, isText: boolean): string {
  return Buffer.from(shown as string)
    .toString()
    .replace(/[\u0080-\uffff]/g, (unit) => {
      const bytes = unit < '\ud800' || unit > '\udfff' ? Buffer.from(unit) : [0x80];
      if (!bytes.some((byte) => byte >= 0x80 && byte < 0xa0)) return unit;
      if (isText) return /[\p{M}\u200d]/u.test(unit) ? '' : '?';
      return escapedUnit(unit);
    });
}
