import type { ResourceName } from '../api/contract.js';
import { TryoutApplication } from '../api/schemas.js';

/** The fields that the contract documents for a resource's records (2.1, 2.6: none but tryouts). */
export function recordFields(resource: ResourceName | undefined): readonly string[] {
  if (resource === undefined) return [];
  return resource === 'tryouts' ? Object.keys(TryoutApplication.shape) : ['id'];
}
