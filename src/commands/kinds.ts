import * as z from 'zod/mini';
import type { EndpointName, ResourceName } from '../api/contract.js';
import { resource as rowOf, resources } from '../api/resources.js';
import { Id } from '../api/schemas.js';
import type { Call } from '../api/types.js';
import { param, params } from '../cli/define.js';

/** What reading one record of a kind needs to know. */
export interface Readable {
  readonly resource: ResourceName;
  readonly noun: string;
  /** The id's name in the contract's paths. */
  readonly idName: string;
  /** Undefined where the contract has no call for one record: it is looked for in the list. */
  readonly get: EndpointName | undefined;
}

/** The resources whose records are created, updated and deleted field by field. */
type Editable = {
  [R in ResourceName]: 'delete' extends keyof (typeof resources)[R]['calls'] ? R : never;
}[ResourceName];

/** The calls of a kind of record, and its words. What teams, players and documents share is told apart by this. */
export interface Kind extends Readable {
  readonly resource: Editable;
  readonly create: EndpointName;
  readonly update: EndpointName;
  readonly delete: EndpointName;
}

export const teams = kindOf('teams');
export const players = kindOf('players');
export const documents = kindOf('documents');

function kindOf(name: Editable): Kind {
  const { create, update, delete: remove } = resources[name].calls;
  return { ...readable(name), resource: name, create, update, delete: remove };
}

/** A row of the resource table, as far as reading goes. */
export function readable(name: ResourceName): Readable {
  const { noun, idName, calls } = rowOf(name);
  return { resource: name, noun, idName, get: calls.get };
}

/** A call about one record of the kind. */
export function callOf(kind: Readable, endpoint: EndpointName, id: string): Call {
  return { endpoint, params: { [kind.idName]: id } };
}

/** The positional ids of a kind. */
export function idsOf(kind: Kind) {
  return params(z.array(Id).check(z.minLength(1)), `ids of ${kind.resource}`, {
    placeholder: 'ID',
    completes: `id:${kind.resource}`,
  });
}

/** The ids of a command that takes them from elsewhere too. */
export function anyIdsOf(kind: Kind) {
  return params(z._default(z.array(Id), []), `ids of ${kind.resource}`, {
    placeholder: 'ID',
    completes: `id:${kind.resource}`,
  });
}

/** The one positional id of a kind. */
export function idOf(kind: Kind) {
  return param(Id, `id of the ${kind.noun}`, {
    placeholder: 'ID',
    completes: `id:${kind.resource}`,
  });
}

/** Replaces the guessed route of an update or delete for one call. */
export function routeFlag({ resource }: Kind, method: 'PUT' | 'DELETE') {
  return param(
    z.optional(z.string()),
    `another route than the assumed one, e.g. '${method} /${resource}/{id}'; rosterctl help undocumented`,
    { placeholder: "'METHOD /path'", group: 'change' },
  );
}

/** The one field that a record surely has. */
export function nameFlag(kind: Kind) {
  // A shell variable that is not set; who means an empty name writes -f name=.
  const name = z.string().check(z.regex(/\S/, 'must not be empty'));
  return param(z.optional(name), `name of the ${kind.noun}`, {
    placeholder: 'NAME',
    group: 'change',
  });
}
