import { organization } from '../../support/service.js';
import { type Attack, signature } from './case.js';
import {
  type Action,
  type WireOptions,
  type WireRequest,
  type WireServer,
  wireServer,
} from './wire.js';

/** Ordinary applicants, teams and documents. */
export const application = {
  id: 'app_1',
  organizationId: organization,
  status: 'pending',
  name: 'Ann',
  email: 'ann@example.com',
  discordUserId: null,
  discordUsername: null,
  formResponses: { Why: 'because' },
  internalNotes: null,
  convertedPlayerId: null,
  convertedPlayer: null,
  gamerTags: [],
  submittedAt: '2026-03-01T10:00:00Z',
  createdAt: '2026-03-01T10:00:00Z',
  updatedAt: '2026-03-01T10:00:00Z',
};
export const team = { id: 'team_1', organizationId: organization, name: 'Red' };
export const player = { id: 'player_1', organizationId: organization, name: 'Ann' };
export const file = {
  id: 'doc_1',
  organizationId: organization,
  name: 'rules.txt',
  fileKey: 'documents/org_7/rules.txt',
  contentType: 'text/plain',
  sizeBytes: 5,
  tags: [],
};

export interface World extends WireServer {
  readonly store: WireServer;
  /** How often each write took effect. */
  readonly done: { patches: number; posts: number; converts: number; documents: number };
  /** How many uploads were granted. */
  grants: number;
  /** Ids of records that were deleted. */
  readonly gone: Set<string>;
  /** The current application. */
  application: Record<string, unknown>;
  /** Executes a request as a correct service would, and returns its response. */
  carryOut(request: WireRequest): Action;
}

export interface WorldOptions extends WireOptions {
  /** Returns a special response of the API; undefined = the correct one. */
  readonly api?: (request: WireRequest, world: World) => Action | undefined;
  readonly store?: (request: WireRequest) => Action | undefined;
  readonly storeOptions?: WireOptions;
  /** Returns the URL of a grant or a download, instead of the store's own. */
  readonly url?: string;
}

/** A small correct service with a store, in which single requests can be faulty. */
export async function hostileWorld(options: WorldOptions = {}): Promise<World> {
  const { api, store: ofStore, url, storeOptions, ...wire } = options;
  const store = await wireServer(
    (request) =>
      ofStore?.(request) ??
      (request.method === 'PUT'
        ? { status: 200 }
        : { status: 200, text: 'hello', headers: { 'content-type': 'text/plain' } }),
    storeOptions,
  );
  const signed = url ?? `${store.origin}/files/1?X-Signature=${signature}`;
  const world: Partial<World> & Pick<World, 'done' | 'gone' | 'grants' | 'application'> = {
    grants: 0,
    gone: new Set(),
    done: { patches: 0, posts: 0, converts: 0, documents: 0 },
    application: { ...application },
  };
  const carryOut = (request: WireRequest) => goodAnswer(world as World, request, signed);
  const server = await wireServer(
    (request) => api?.(request, world as World) ?? carryOut(request),
    wire,
  );
  return Object.assign(world, server, { store, carryOut });
}

function goodAnswer(world: World, { method, url, body }: WireRequest, signed: string): Action {
  const [path = ''] = url.split('?');
  const sent = body.length > 0 ? (JSON.parse(body.toString()) as Record<string, unknown>) : {};
  const { done } = world;
  const isGone = world.gone.has(path.split('/').at(-1) ?? '');
  if (isGone && method !== 'POST') return { status: 404, json: { error: 'notFound' } };
  switch (`${method} ${path}`) {
    case `GET /v1/teams/${organization}`:
      return { json: { teams: [team].filter(({ id }) => !world.gone.has(id)) } };
    case `GET /v1/teams/${organization}/team_1`:
    case 'PATCH /v1/teams/team_1':
      return { json: team };
    case 'POST /v1/teams':
      done.posts += 1;
      return { status: 201, json: { ...team, id: 'team_9', name: sent['name'] } };
    case `GET /v1/teams/${organization}/team_9`:
      return { json: { ...team, id: 'team_9' } };
    case 'DELETE /v1/teams/team_1':
    case 'DELETE /v1/players/player_1':
    case 'DELETE /v1/documents/doc_1':
      world.gone.add(path.split('/').at(-1) ?? '');
      return { status: 204 };
    case `GET /v1/players/${organization}`:
      return { json: { players: [player].filter(({ id }) => !world.gone.has(id)) } };
    case `GET /v1/players/${organization}/player_1`:
      return { json: player };
    case `GET /v1/documents/${organization}`:
      return { json: { documents: [file].filter(({ id }) => !world.gone.has(id)) } };
    case 'GET /v1/documents/doc_1/download':
    case 'GET /v1/documents/doc_1/preview':
      return { json: { url: signed, expiresAt: '2099-01-01T00:00:00Z' } };
    case 'POST /v1/uploads/document-file':
      world.grants += 1;
      return { json: { key: keyOf(world.grants), fileRef: 'ref_1', uploadUrl: signed } };
    case 'POST /v1/documents':
      done.documents += 1;
      return { status: 201, json: { ...file, name: sent['name'], fileKey: sent['fileKey'] } };
    case 'GET /v1/tryout-applications':
      return { json: { applications: [world.application] } };
    case 'GET /v1/tryout-applications/app_1':
      return { json: world.application };
    case 'PATCH /v1/tryout-applications/app_1': {
      done.patches += 1;
      const { organizationId: _, ...fields } = sent;
      Object.assign(world.application, fields);
      return { json: world.application };
    }
    case 'POST /v1/tryout-applications/app_1/convert-to-player':
      done.converts += 1;
      world.application['convertedPlayerId'] = 'player_1';
      world.application['convertedPlayer'] = { id: 'player_1', name: 'Ann' };
      return { status: 201, json: { player, application: world.application } };
    default:
      return { status: 404, json: { error: 'notFound' } };
  }
}

/** The key of the n-th upload; the first is the file of the document that is there. */
function keyOf(nth: number): string {
  return nth === 1 ? file.fileKey : `${file.fileKey}.${nth}.txt`;
}

/** One command against a world in which every read is answered like this. */
export async function answered(attack: Attack, line: string, action: Action, env = {}) {
  const world = await hostileWorld({ api: () => action });
  const ran = await attack(line, { env: { ...world.env, ...env } });
  return { ran, world };
}
