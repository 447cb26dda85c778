/** The schemas of flags and arguments: a text, and a value that a parser of ours reads from one. */
import * as z from 'zod/mini';
import { Failure } from '../errors.js';

/** A text that is not empty. */
export const nonEmptyText = z.string().check(z.minLength(1, 'must not be empty'));

/** A whole number above 0. */
export const countingNumber = z.pipe(
  z.string().check(z.regex(/^[1-9]\d{0,8}$/, 'must be a whole number above 0')),
  z.transform(Number),
);

/** Builds a flag's schema from a function that parses its text and throws a Failure. */
export function parsedBy<T>(parse: (text: string) => T) {
  const transform = z.transform((text: string, { issues }): T => {
    try {
      return parse(text);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      // The message is printed after the flag's name and a colon; the hint follows on its own line.
      const what = error.message.replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase());
      const message = error.hint ? `${what}\n${error.hint}` : what;
      issues.push({ code: 'custom', message, input: text });
      return z.NEVER;
    }
  });
  return z.pipe(z.string(), transform);
}
