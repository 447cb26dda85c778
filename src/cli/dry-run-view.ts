/** How the requests and changes of a dry run are shown. */
import * as z from 'zod/mini';
import type { DryRun } from './define.js';
import { changeLines } from './lines.js';
import { linesOf, type View } from './views.js';

export const dryRunView: View<DryRun> = linesOf(
  z.looseObject({
    schema: z.literal(1),
    dryRun: z.literal(true),
    requests: z.array(z.looseObject({ method: z.string(), path: z.string() })),
    changes: z.array(z.looseObject({ field: z.string() })),
  }),
  (value, canvas) => changeLines(value as unknown as DryRun, canvas),
) as unknown as View<DryRun>;
