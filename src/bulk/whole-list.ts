/** Whole lists: every record of a resource, read now, for what a missing record would make wrong. */
import { hasId } from '../api/records.js';
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { type ResourceName, resourceWords } from '../data/resources.js';
import type { Instant } from '../data/time.js';
import { GuardError } from '../errors.js';

/** The consequence, for the command, of a list that may not be whole. */
interface Consequence {
  /** The end of the sentence: `so the template may lack columns`. */
  readonly so: string;
  /** The line that says how to do without the list. */
  readonly instead?: string | undefined;
  /** An answer without a list counts as an empty one. */
  readonly mayBeEmpty?: boolean;
  /** Something is created if the list lacks it. */
  readonly isForCreate?: boolean;
  /** True for a number of records that the caller can account for, if the number is the only doubt. */
  readonly isExpected?: (count: number) => boolean;
}

/**
 * Passes every record of a list to `see`, and returns when its last byte arrived. Throws GuardError (11)
 * if some may be missing, or have no id.
 */
export async function readWholeList(
  { api }: Pick<Context, 'api'>,
  resource: ResourceName,
  see: (record: JsonObject) => void,
  { so, instead, mayBeEmpty = false, isForCreate, isExpected = () => false }: Consequence,
): Promise<Instant> {
  const { plural: many } = resourceWords[resource];
  const list = api.list(resource, undefined, { checksCompleteness: true });
  const refuse = (why: string, fixes: readonly string[] = []) => {
    const hint = [...fixes, instead].filter((line) => line !== undefined).join('\n');
    return new GuardError(`The list of ${many} ${why}, ${so}.`, {
      code: 'incomplete',
      ...(hint !== '' && { hint }),
    });
  };
  let count = 0;
  for await (const batch of list.batches())
    for (const record of batch) {
      count += 1;
      if (!hasId(record))
        throw refuse('holds a record without an id', [`See: rosterctl ${resource} list -o json`]);
      see(record);
    }
  if (isForCreate && list.cachedFor() > 0)
    throw refuse('was answered by an intermediate cache, with older data');
  const completeness = list.completeness();
  if (completeness.state === 'doubtful' && !(completeness.isOnlyCount && isExpected(count)))
    throw refuse(`may be incomplete (${completeness.reason})`, completeness.fixes);
  if (completeness.state === 'assumedEmpty' && !mayBeEmpty)
    throw refuse(`was not recognized (${completeness.reason})`);
  return list.arrivedAt();
}
