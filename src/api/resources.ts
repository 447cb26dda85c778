/** The resource table: the words of each resource, and its part of the contract table. */
import type * as z from 'zod/mini';
import type { JsonObject } from '../data/json.js';
import {
  perResource,
  type ResourceName,
  type ResourceWords,
  resourceNames,
  resourceWords,
} from '../data/resources.js';
import { BugError } from '../errors.js';
import {
  contract,
  type Endpoint,
  type EndpointName,
  endpoint,
  type ResourceCall,
} from './contract.js';

interface Resource extends ResourceWords {
  /** Names of a record or a list in an envelope, best first. */
  readonly envelopes: readonly string[];
  /** Its rows of the contract table. Without `get`, single records are searched in the list. */
  readonly calls: { readonly list: EndpointName } & {
    readonly [C in Exclude<ResourceCall, 'list'>]?: EndpointName;
  };
  /** Schema of one record: documented fields are checked, all others pass. */
  readonly schema: z.ZodMiniObject;
}

/** Every resource, once. */
export const resources = perResource((name): Resource => {
  const own = Object.entries<Endpoint>(contract).filter(
    ([, { resource, verb }]) => resource === name && verb !== 'other',
  );
  // A test checks that each has a list, and that this has a schema.
  const calls = Object.fromEntries(own.map(([of, { verb }]) => [verb, of])) as Resource['calls'];
  const schema = endpoint(calls.list).result as z.ZodMiniObject;
  const words: ResourceWords = resourceWords[name];
  const envelopes = [words.noun, words.plural, ...(words.otherNames ?? [])];
  return { ...words, envelopes, calls, schema };
});

/** True for a name in an envelope that is of another resource. */
export function isOfAnother(name: string, resource: ResourceName): boolean {
  return resourceNames.some(
    (other) => other !== resource && resources[other].envelopes.includes(name),
  );
}

/** True if no call reads one record (contract 4.4): it is found in the list. */
export function isReadByList(name: ResourceName): boolean {
  return resources[name].calls.get === undefined;
}

/**
 * Returns a call about one record, or about none if there is no id (`create`). Throws BugError if
 * the resource has no such call.
 */
export function callFor(
  name: ResourceName,
  action: ResourceCall,
  id: string | undefined,
  body?: JsonObject,
) {
  const { calls, idName } = resources[name];
  const endpointName = calls[action];
  if (endpointName === undefined)
    throw new BugError(`The contract has no call to ${action} ${name}.`);
  return { endpoint: endpointName, params: id === undefined ? undefined : { [idName]: id }, body };
}
