/** Arguments and flags that the commands of several resources share, and what a delete prints. */
import * as z from 'zod/mini';
import { Id } from '../api/schemas.js';
import { param, params } from '../cli/define.js';
import { linesOf } from '../cli/views.js';
import { type ResourceName, resourceWords } from '../data/resources.js';
import { singleLine } from '../terminal/safe-text.js';

/** The positional ids of a resource. */
export function idsOf(resource: ResourceName) {
  return params(z.array(Id).check(z.minLength(1)), `ids of ${resource}`, {
    placeholder: 'ID',
    completes: `id:${resource}`,
  });
}

/** The ids of a command that takes them from elsewhere too. */
export function anyIdsOf(resource: ResourceName) {
  return params(z._default(z.array(Id), []), `ids of ${resource}`, {
    placeholder: 'ID',
    completes: `id:${resource}`,
  });
}

/** The one positional id of a resource. */
export function idOf(resource: ResourceName) {
  return param(Id, `id of the ${resourceWords[resource].noun}`, {
    placeholder: 'ID',
    completes: `id:${resource}`,
  });
}

/** Replaces the guessed route of an update or delete for one call. */
export function routeFlag(resource: ResourceName, method: 'PUT' | 'DELETE') {
  return param(
    z.optional(z.string()),
    `another route than the assumed one, e.g. '${method} /${resource}/{id}'; rosterctl help undocumented`,
    { placeholder: "'METHOD /path'", group: 'change' },
  );
}

/** The one field that a record surely has. */
export function nameFlag(resource: ResourceName) {
  // A shell variable that is not set; who means an empty name writes -f name=.
  const name = z.string().check(z.regex(/\S/, 'must not be empty'));
  return param(z.optional(name), `name of the ${resourceWords[resource].noun}`, {
    placeholder: 'NAME',
    group: 'change',
  });
}

/** What a delete of one record prints. */
export const deletedView = linesOf(({ id }: { id: string; deleted: true }) => [
  `Deleted ${singleLine(id)}.`,
]);

/** A number of bytes as typed. */
export const sizeBytesSchema = z.pipe(
  z.string().check(z.regex(/^\d{1,15}$/, 'must be a whole number of bytes')),
  z.transform(Number),
);
