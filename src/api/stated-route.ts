import { contract, endpoint, type EndpointName } from './contract.js';

/** Whether the contract states a call, given as it stands on the wire below the base URL. */
export function statedRoute(method: string, path: string): boolean {
  const [bare = ''] = path.split('?', 1);
  return (Object.keys(contract) as EndpointName[])
    .map((name) => endpoint(name))
    .filter(({ basis }) => 'stated' in basis)
    .some(({ route }) => {
      const [stated, template = ''] = route.split(' ');
      return stated === method && fits(bare.split('/'), template.split('/'));
    });
}

function fits(parts: readonly string[], template: readonly string[]): boolean {
  return (
    parts.length === template.length &&
    template.every((part, index) => part.startsWith('{') || part === parts[index])
  );
}
