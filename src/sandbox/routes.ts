/** Finds the endpoint of a request in the contract, and runs its handler. */
import { contract, type Endpoint, type EndpointName, endpoint } from '../api/contract.js';
import { documentHandlers } from './documents.js';
import type { HandlerCall, HandlerReply, Handlers } from './handler.js';
import { permissionOf } from './keys.js';
import { invalid } from './refusal.js';
import { playerHandlers, teamHandlers } from './rosters.js';
import { tryoutHandlers } from './tryouts.js';

interface Route {
  readonly name: EndpointName;
  readonly method: string;
  readonly segments: readonly string[];
  readonly row: Endpoint;
  readonly permission: string;
}

const routes: readonly Route[] = (Object.keys(contract) as EndpointName[]).map((name) => {
  const row = endpoint(name);
  const [method = '', path = ''] = row.route.split(' ');
  return { name, method, segments: path.slice(1).split('/'), row, permission: permissionOf(row) };
});

export type Match =
  | { readonly found: true; readonly route: Route; readonly params: Record<string, string> }
  /** `allow`: the methods of the path; empty for an unknown path. */
  | { readonly found: false; readonly allow: readonly string[] };

/** Finds the route of a method and a path below `/v1`. Throws 400 for broken percent-encoding. */
export function matchRoute(method: string, path: string): Match {
  const given = path.slice(1).split('/');
  const same = routes.filter((route) => fits(route.segments, given));
  const route = same.find((candidate) => candidate.method === method);
  if (!route)
    return { found: false, allow: [...new Set(same.map((candidate) => candidate.method))] };
  return { found: true, route, params: paramsOf(route.segments, given) };
}

const isParam = (segment: string) => segment.startsWith('{');

function fits(segments: readonly string[], given: readonly string[]): boolean {
  return (
    segments.length === given.length &&
    segments.every((segment, at) => (isParam(segment) ? given[at] !== '' : segment === given[at]))
  );
}

function paramsOf(segments: readonly string[], given: readonly string[]): Record<string, string> {
  const params: Record<string, string> = {};
  for (const [at, segment] of segments.entries()) {
    if (isParam(segment)) params[segment.slice(1, -1)] = decode(given[at] ?? '');
  }
  return params;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw invalid('the path is not percent-encoded UTF-8');
  }
}

const handlers: Handlers = {
  ...teamHandlers,
  ...playerHandlers,
  ...documentHandlers,
  ...tryoutHandlers,
};

/** Runs the handler of an endpoint. */
export function handle(name: EndpointName, call: HandlerCall): HandlerReply {
  // The matched route has filled the params that its handler names.
  const run: (call: HandlerCall) => HandlerReply = handlers[name];
  return run(call);
}
