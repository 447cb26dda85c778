import type { Context } from '../context.js';
import type { Failure } from '../errors.js';
import { tellFailure } from './failure.js';

/**
 * An error as the row of a report and of a journal shows it: the service's words in it may repeat
 * the key or a signed URL.
 */
export function rowError(
  { api, flags, streams, table }: Context,
  words: readonly string[],
  error: Failure,
  id: string,
) {
  const told = tellFailure(error, { words, ids: [id], keySource: api.keySource, flags, table });
  const { code, message, ...rest } = told.envelope.error;
  return { code: streams.redacted(code), message: streams.redacted(message), ...rest };
}

/** The same in words alone, for a line on stderr about one of several things, or beside a success. */
export function wordsFor(context: Context, id: string, error: Failure): string {
  return rowError(context, [], error, id).message;
}
