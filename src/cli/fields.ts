import type { ResourceName } from '../api/contract.js';
import { resources } from '../api/resources.js';

/** The fields that the contract documents for a resource's records (2.1, 2.6: the id alone for most). */
export function recordFields(resource: ResourceName | undefined): readonly string[] {
  if (resource === undefined) return [];
  return Object.keys(resources[resource].schema.shape);
}
