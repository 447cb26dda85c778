/** The id arguments of the `tryouts` commands. */
import * as z from 'zod/mini';
import { TryoutStatus } from '../../api/schemas.js';
import { params } from '../../cli/define.js';
import { recordWord } from '../../resources/params.js';

const word = recordWord('tryouts');
const idOptions = { placeholder: 'ID', completes: 'id:tryouts' } as const;

/** The ids of a command that needs at least one. */
export const someIds = params(
  z.array(word).check(z.minLength(1)),
  'ids of applications',
  idOptions,
);

/** The ids of a command that handles missing ids itself. */
export const anyIds = params(z._default(z.array(word), []), 'ids of applications', idOptions);

/**
 * Creates the ids of a command with a status flag; a status among them is rejected with a
 * suggestion to use the flag.
 */
export function idsBeside(statusFlag: '--status' | '--to') {
  const id = word.check(({ value, issues }) => {
    if (!TryoutStatus.safeParse(value).success) return;
    const message = `"${value}" is a status, not an id.\nDid you mean: ${statusFlag} ${value}`;
    issues.push({ code: 'custom', message, input: value });
  });
  return {
    some: params(z.array(id).check(z.minLength(1)), 'ids of applications', idOptions),
    any: params(z._default(z.array(id), []), 'ids of applications', idOptions),
  };
}
