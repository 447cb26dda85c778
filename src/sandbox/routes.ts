/** Finds the endpoint of a request in the contract, as the shapes route it, and runs its handler. */
import { contract, type Endpoint, type EndpointName, endpoint } from '../api/contract.js';
import { resourceWords } from '../data/resources.js';
import { documentHandlers } from './documents.js';
import {
  checkName,
  checkTeams,
  createRecord,
  deleteRecord,
  type HandlerCall,
  type HandlerReply,
  type Handlers,
  type HandlersOf,
  listResponse,
  ownRecord,
  ownRecords,
  recordReply,
  updateRecord,
} from './handler.js';
import { type StoredRecord, sandboxResources } from './records.js';
import { invalid } from './refusal.js';
import type { Shapes } from './shapes/shapes.js';
import { tryoutHandlers } from './tryouts.js';

export interface ServedRoute {
  readonly name: EndpointName;
  readonly method: string;
  readonly segments: readonly string[];
  /** The parameters that its query must have; a `{param}` or a literal value. */
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly row: Endpoint;
  readonly permission: string;
}

/** The routes of the contract; those that it leaves open as the shapes say. */
export function routesOf(shapes: Shapes): readonly ServedRoute[] {
  return (Object.keys(contract) as EndpointName[])
    .map((name) => routeOf(name, shapes))
    .toSorted((one, other) => other.query.length - one.query.length);
}

function routeOf(name: EndpointName, shapes: Shapes): ServedRoute {
  const stated = endpoint(name);
  const { resource, verb, basis } = stated;
  let [method = '', path = ''] = stated.route.split(' ');
  if ('assumed' in basis) {
    const { idName, path: prefix } = resourceWords[resource];
    method = (shapes.given(`${verb}.method`, resource) ?? method).replace(/-.*/, '');
    path = (shapes.given(`${verb}.path`, resource) ?? path)
      .replaceAll('{id}', `{${idName}}`)
      .replaceAll('/{resource}', prefix);
  }
  const [plain = '', search = ''] = path.split(/\?(.*)/s);
  const row = path.includes('{organizationId}') ? ({ ...stated, org: 'path' } as const) : stated;
  const segments = plain.slice(1).split('/');
  const query = search === '' ? [] : search.split('&').map((pair) => pairOf(pair));
  return { name, method, segments, query, row, permission: permissionOf(stated) };
}

/** The permission that a call needs: the contract's where it names one, else `resource:action`. */
function permissionOf(row: Endpoint): string {
  if (row.permission !== undefined) return row.permission;
  return `${sandboxResources[row.resource].permission}:${actionOf(row)}`;
}

function actionOf({ verb, route }: Endpoint): string {
  if (route.startsWith('GET ')) return 'read';
  return verb === 'create' || verb === 'delete' ? verb : 'update';
}

function pairOf(pair: string): readonly [string, string] {
  const [name = '', value = ''] = pair.split(/=(.*)/s);
  return [name, value];
}

export type Match =
  | { readonly found: true; readonly route: ServedRoute; readonly params: Record<string, string> }
  /** `allow`: the methods of the path; empty for an unknown path. */
  | { readonly found: false; readonly allow: readonly string[] };

/** Finds the route of a method and a path below `/v1`. Throws 400 for broken percent-encoding. */
export function matchRoute(
  routes: readonly ServedRoute[],
  method: string,
  path: string,
  query: URLSearchParams,
): Match {
  const given = path.slice(1).split('/');
  const same = routes.filter((route) => fits(route, given, query));
  const route = same.find((candidate) => candidate.method === method);
  if (!route)
    return { found: false, allow: [...new Set(same.map((candidate) => candidate.method))] };
  return { found: true, route, params: paramsOf(route, given, query) };
}

const isParam = (segment: string) => segment.startsWith('{');

function fits(route: ServedRoute, given: readonly string[], query: URLSearchParams): boolean {
  const { segments } = route;
  return (
    segments.length === given.length &&
    segments.every((segment, at) =>
      isParam(segment) ? given[at] !== '' : segment === given[at],
    ) &&
    route.query.every(([name, value]) =>
      isParam(value) ? (query.get(name) ?? '') !== '' : query.get(name) === value,
    )
  );
}

function paramsOf(
  route: ServedRoute,
  given: readonly string[],
  query: URLSearchParams,
): Record<string, string> {
  const params: Record<string, string> = {};
  for (const [at, segment] of route.segments.entries()) {
    if (isParam(segment)) params[segment.slice(1, -1)] = decode(given[at] ?? '');
  }
  for (const [name, value] of route.query) {
    if (isParam(value)) params[value.slice(1, -1)] = query.get(name) ?? '';
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

/** Players (contract 4.4; update and delete are assumed). */
const playerHandlers: HandlersOf<'players'> = {
  listPlayers: (call) => listResponse(ownRecords(call, 'players')),

  getPlayer: (call) => recordReply(ownRecord(call, 'players', call.params.playerId)),

  createPlayer(call) {
    checkName(call.body, 'required');
    checkTeams(call);
    return createRecord(call, 'players');
  },

  updatePlayer(call) {
    const old = ownRecord(call, 'players', call.params.playerId);
    checkName(call.body, 'optional');
    checkTeams(call);
    return updateRecord(call, 'players', old);
  },

  deletePlayer: (call) => deleteRecord(call, 'players', call.params.playerId),
};

/** The player without that team; undefined for a player who is not in it. */
function withoutTeam(player: StoredRecord, teamId: string): StoredRecord | undefined {
  const teamIds: unknown = player['teamIds'];
  const isMember = Array.isArray(teamIds) && teamIds.includes(teamId);
  if (!isMember && player['teamId'] !== teamId) return undefined;
  return {
    ...player,
    ...(isMember && { teamIds: teamIds.filter((id) => id !== teamId) }),
    ...(player['teamId'] === teamId && { teamId: null }),
  };
}

/** Teams (contract 4.4; update and delete are assumed). */
const teamHandlers: HandlersOf<'teams'> = {
  listTeams: (call) => listResponse(ownRecords(call, 'teams')),

  getTeam: (call) => recordReply(ownRecord(call, 'teams', call.params.teamId)),

  createTeam(call) {
    checkName(call.body, 'required');
    return createRecord(call, 'teams');
  },

  updateTeam(call) {
    const old = ownRecord(call, 'teams', call.params.teamId);
    checkName(call.body, 'optional');
    return updateRecord(call, 'teams', old);
  },

  deleteTeam(call) {
    const { teamId } = call.params;
    const deleted = deleteRecord(call, 'teams', teamId);
    for (const player of ownRecords(call, 'players')) {
      const left = withoutTeam(player, teamId);
      if (left) call.steps.push(['put', 'players', left]);
    }
    return deleted;
  },
};

const handlers: Handlers = {
  ...teamHandlers,
  ...playerHandlers,
  ...documentHandlers,
  ...tryoutHandlers,
};

/** Runs the handler of an endpoint. */
export function runHandler(name: EndpointName, call: HandlerCall): HandlerReply {
  // The matched route has filled the params that its handler names.
  const run: (call: HandlerCall) => HandlerReply = handlers[name];
  return run(call);
}
