/** Arguments, flags and a CSV column shared by the commands of several resources, and the view of a delete. */
import * as z from 'zod/mini';
import { idProblem } from '../api/schemas.js';
import { param, params } from '../cli/define.js';
import type { View } from '../cli/views.js';
import type { Column } from '../data/csv-columns.js';
import { parseReference, referenceProblem } from '../data/references.js';
import { type ResourceName, resourceWords } from '../data/resources.js';

/** A word that names a record of a resource: its id, or a reference such as `email:ann@example.org`. */
export function recordWord(resource: ResourceName) {
  return z.string().check(({ value, issues }) => {
    const reference = parseReference(value);
    const problem =
      reference.kind === 'id' ? idProblem(reference.value) : referenceProblem(reference, resource);
    if (problem !== undefined) issues.push({ code: 'custom', message: problem, input: value });
  });
}

/** The positional ids of a resource; at least one. */
export function idsArg(resource: ResourceName) {
  return params(z.array(recordWord(resource)).check(z.minLength(1)), ...idsText(resource));
}

/** The positional ids of a command that can also take them from another source; `word`: what it accepts as one. */
export function anyIdsArg(resource: ResourceName, word = recordWord(resource)) {
  return params(z._default(z.array(word), []), ...idsText(resource));
}

function idsText(resource: ResourceName) {
  const { plural: many } = resourceWords[resource];
  return [`ids of ${many}`, { placeholder: 'ID', completes: `id:${resource}` }] as const;
}

/** The one positional id of a resource. */
export function idArg(resource: ResourceName) {
  return param(recordWord(resource), `id of the ${resourceWords[resource].noun}`, {
    completes: `id:${resource}`,
  });
}

/** `--route`, which replaces the assumed route of an update or delete in one invocation. */
export function routeFlag(resource: ResourceName, method: 'PUT' | 'DELETE') {
  return param(
    z.optional(z.string()),
    `a route other than the assumed one, e.g. '${method} /${resource}/{id}'`,
    { placeholder: "'METHOD /path'", group: 'change' },
  );
}

/** `--name`, the one field that every record has. */
export function nameFlag(resource: ResourceName) {
  // Refuses empty text, as from an unset shell variable; -f name= sets an empty name.
  const name = z.string().check(z.regex(/\S/, 'must not be empty'));
  return param(z.optional(name), `name of the ${resourceWords[resource].noun}`, {
    group: 'change',
  });
}

/** The output of deleting one record. */
export const deletedView: View<{ id: string; deleted: true }> = {
  rowFields: ['id', 'deleted'],
};

/** A number of bytes as typed. */
export const sizeBytesSchema = z.pipe(
  z.string().check(z.regex(/^\d{1,15}$/, 'must be a whole number of bytes')),
  z.transform(Number),
);

/** The time since which a record must not have changed; part of every export. */
export const exportTime: Column = { name: 'updatedAt', read: (cell) => cell.trim() };
