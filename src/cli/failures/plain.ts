/** An error where the modules that word it cannot be loaded; needs no other file of the program. */

import { printJson } from '../../data/json.js';
import type { Failure } from '../../errors.js';
import { singleLine } from '../../terminal/safe-text.js';

/** The message and the hint of an error, or its envelope as JSON, with the final line end. */
export function plainFailure(
  { code, kind, message, hint }: Failure,
  exitCode: number,
  isJson: boolean,
): string {
  if (!isJson)
    return [message, hint ?? []]
      .flat()
      .map((line) => `${singleLine(line)}\n`)
      .join('');
  const error = { code, kind, message, ...(hint !== undefined && { hint }), exitCode };
  return `${printJson({ error: { ...error, retryable: false } })}\n`;
}
