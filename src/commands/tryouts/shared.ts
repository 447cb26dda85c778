import * as z from 'zod/mini';
import { Id, TryoutStatus } from '../../api/schemas.js';
import { params } from '../../cli/define.js';

const words = { placeholder: 'ID', completes: 'id:tryouts' } as const;

/** The ids of a command that needs at least one. */
export const someIds = params(z.array(Id).check(z.minLength(1)), 'ids of applications', words);

/** The ids of a command that says itself what to do without any. */
export const anyIds = params(z._default(z.array(Id), []), 'ids of applications', words);

/** Ids beside a flag that takes a status: a status among them was meant for the flag. */
export function idsBeside(statusFlag: '--status' | '--to') {
  const id = Id.check(({ value, issues }) => {
    if (!TryoutStatus.safeParse(value).success) return;
    const message = `that is a status, not an id (did you mean ${statusFlag} ${value}?)`;
    issues.push({ code: 'custom', message, input: value });
  });
  return {
    some: params(z.array(id).check(z.minLength(1)), 'ids of applications', words),
    any: params(z._default(z.array(id), []), 'ids of applications', words),
  };
}
