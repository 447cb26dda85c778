/** The service's words in a refusal: lines for a person, its body for a script. */

import { mapTexts, printJson } from '../../data/json.js';
import { serviceSays, wordsIn } from '../../data/refusal-words.js';
import { groupedNumber } from '../../data/text.js';
import { ApiError, type Failure, UnknownOutcomeError } from '../../errors.js';
import { singleLine } from '../../terminal/safe-text.js';

/** Removes the secrets of this process from a text. */
export type Redact = (text: string) => string;

const mostLines = 10;
/** In characters. */
const maxLineLength = 200;
/** A text that is cut anyway is sanitized only up to this length, since it may be a megabyte. */
const maxRawLength = 4 * maxLineLength;
const maxMessageLength = 500;

/** The words of a refusal, in safe text. */
interface ServiceWords {
  /** For a person: at most ten words on a line each, and a count of the rest; with `isVerbose` all. */
  readonly lines: readonly string[];
  /** Those words on one line, for a message; undefined if the service said nothing but its code. */
  readonly sentence: string | undefined;
}

/** Returns the refusal of the service that an error is, or that left its outcome unknown. */
export function refusalBehind(error: Failure): ApiError | undefined {
  if (error instanceof ApiError) return error;
  return error instanceof UnknownOutcomeError && error.cause instanceof ApiError
    ? error.cause
    : undefined;
}

/** Returns the words of a refusal: redacted first, so that no secret is cut in two, then sanitized. */
export function serviceWords(
  error: ApiError,
  { redacted, isVerbose }: { readonly redacted: Redact; readonly isVerbose: boolean },
): ServiceWords {
  const all = [...errorWords(error)];
  const shown = (isVerbose ? all : all.slice(0, mostLines)).map((word) => {
    const text = hideQueries(redacted(word));
    return isVerbose ? singleLine(text) : cut(singleLine(cut(text, maxRawLength)), maxLineLength);
  });
  const more = all.length - shown.length;
  const [first, ...others] = shown;
  if (first === undefined) return { lines: [], sentence: undefined };
  const rest = more > 0 ? [`… ${groupedNumber(more)} more`] : [];
  const sentence = cut([...shown.slice(0, mostLines), ...rest].join('; '), maxMessageLength);
  const lines =
    others.length === 0
      ? [`${serviceSays} ${first}`]
      : [
          serviceSays,
          ...shown.map((word) => `  ${word}`),
          ...rest.map((count) => `  ${count} (-v shows all)`),
        ];
  return { lines, sentence: `${serviceSays} ${sentence}` };
}

function errorWords({ details, serviceCode }: ApiError): Iterable<string> {
  const body = bodyIn(details);
  if (body !== undefined) return wordsIn(body, serviceCode);
  return details.message === undefined ? [] : [details.message];
}

function bodyIn({ service, body }: ApiError['details']): unknown {
  return service === undefined ? body : service;
}

/**
 * Returns the body of a refusal for a script, redacted: its JSON or text, as a text that is cut if
 * it is longer than `maxLength`; undefined if it had none.
 */
export function serviceBody(
  { details }: ApiError,
  redacted: Redact,
  maxLength: number,
): { readonly service?: unknown } {
  const body = bodyIn(details);
  if (body === undefined) return {};
  const clean = (text: string) => hideQueries(redacted(text));
  const text = typeof body === 'string' ? body : printJson(body);
  if (text.length > maxLength) return { service: cut(clean(text), maxLength) };
  return { service: mapTexts(body, clean, clean) };
}

/** Hides the query of each URL, which may hold a signature. */
function hideQueries(text: string): string {
  // Word by word: one pattern for all of it would take minutes for a long untrusted text.
  return text.replace(/[^\s"'<>]+/g, (word) => {
    const query = word.indexOf('?', word.indexOf('://') + 3);
    const isUrl = word.includes('://') && query > 0 && query < word.length - 1;
    return isUrl ? `${word.slice(0, query + 1)}[redacted]` : word;
  });
}

/** Cuts a text, never inside a character. */
function cut(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  return `${text.slice(0, maxLength - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
