import * as z from 'zod/mini';
import { linesOf } from '../cli/views.js';
import { singleLine } from '../terminal/safe-text.js';

/** What a delete of one record prints. */
export const deletedView = linesOf(
  z.object({ id: z.string(), deleted: z.literal(true) }),
  ({ id }) => [`Deleted ${singleLine(id)}.`],
);
