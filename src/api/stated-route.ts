import type { CallSite } from '../errors.js';
import { contract, type Endpoint, endpoint, type EndpointName } from './contract.js';

/** Whether the contract states a call, given as it stands on the wire below the base URL. */
export function statedRoute(method: string, path: string): boolean {
  return rowsOf(method, path).some(({ basis }) => 'stated' in basis);
}

/** The permission that the contract names for a call; undefined where it names none. */
export function permissionFor({ method, path }: CallSite): string | undefined {
  return rowsOf(method, path).find(({ permission }) => permission !== undefined)?.permission;
}

/** The contract's rows for a call as it stands on the wire, or for its template. */
function rowsOf(method: string, path: string): readonly Endpoint[] {
  const [bare = ''] = path.split('?', 1);
  return (Object.keys(contract) as EndpointName[])
    .map((name) => endpoint(name))
    .filter(({ route }) => {
      const [own, template = ''] = route.split(' ');
      return own === method && fits(bare.split('/'), template.split('/'));
    });
}

function fits(parts: readonly string[], template: readonly string[]): boolean {
  return (
    parts.length === template.length &&
    template.every((part, index) => part.startsWith('{') || part === parts[index])
  );
}
