import type { ServerResponse } from 'node:http';
import {
  organization,
  type Recorded,
  type Reply,
  recordingService,
  type Service,
} from '../../support/service.js';

/** An application as the contract describes it (2.1), with the fields that a test overrides. */
export function application(id: string, fields: Record<string, unknown> = {}): Application {
  return {
    id,
    organizationId: organization,
    status: 'pending',
    name: `Applicant ${id}`,
    email: `${id}@example.com`,
    formResponses: {},
    internalNotes: null,
    convertedPlayerId: null,
    gamerTags: [],
    submittedAt: '2026-03-01T10:00:00Z',
    createdAt: '2026-03-01T10:00:00Z',
    updatedAt: '2026-03-01T10:00:00Z',
    ...fields,
  };
}

export type Application = {
  readonly id: string;
  readonly organizationId: string;
  readonly status: string;
  readonly name: string | undefined;
  readonly email: string;
  readonly formResponses: object;
  readonly internalNotes: string | null;
  readonly convertedPlayerId: string | null;
  readonly gamerTags: readonly object[];
  readonly submittedAt: string;
  readonly createdAt: string;
  readonly updatedAt: string;
};

/** Replaces the response to one request; undefined lets the service handle it. */
export type Instead = (request: Recorded, step: string) => Reply | undefined;

/** A service with these applications; `step` is `GET app_1`, `PATCH app_1`, `CONVERT app_1` or `LIST`. */
export async function keep(
  applications: readonly Application[],
  instead: Instead = () => undefined,
): Promise<Service & { readonly kept: Map<string, Application> }> {
  const kept = new Map(applications.map((each) => [each.id, each]));
  const service = await recordingService((request) => {
    const step = stepOf(request);
    return instead(request, step) ?? work(kept, step, request);
  });
  return { ...service, kept };
}

/** The requests to the service, in order. */
export function steps(service: Service): readonly string[] {
  return service.requests.map(stepOf);
}

/** The bodies of the writes, in order. */
export function written(service: Service): readonly unknown[] {
  return service.requests
    .filter(({ method }) => method !== 'GET')
    .map(({ body }): unknown => JSON.parse(body.toString()));
}

/** Closes the connection without a response. */
export function cut(_request: Recorded, response: ServerResponse): void {
  response.socket?.destroy();
}

function stepOf({ method, url }: Recorded): string {
  const path = url.replace(/\?.*/, '').replace('/v1/tryout-applications', '');
  const [, id = '', verb] = path.split('/');
  if (id === '') return 'LIST';
  return verb === 'convert-to-player' ? `CONVERT ${id}` : `${method} ${id}`;
}

function work(kept: Map<string, Application>, step: string, { body }: Recorded): Reply {
  const [verb, id = ''] = step.split(' ');
  if (verb === 'LIST')
    return { status: 200, json: { applications: [...kept.values()], total: kept.size } };
  const found = kept.get(id);
  if (!found) return { status: 404, json: { error: 'notFound' } };
  if (verb === 'GET') return { status: 200, json: found };
  if (verb === 'CONVERT') {
    kept.set(id, { ...found, convertedPlayerId: `player_${id}` });
    return { status: 201, json: { player: { id: `player_${id}`, name: found.name } } };
  }
  const { organizationId: _, ...fields } = JSON.parse(body.toString()) as Record<string, unknown>;
  const updated = { ...found, ...fields };
  kept.set(id, updated);
  return { status: 200, json: updated };
}
