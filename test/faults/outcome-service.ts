/**
 * A service of all resources. The test decides each response to a write, and the service records
 * the writes that took effect.
 */
import { application } from '../commands/tryouts/service.js';
import {
  organization,
  type Recorded,
  type Reply,
  recordingService,
  type Service,
} from '../support/service.js';

export type Verb = 'update' | 'delete' | 'create' | 'convert';
export type Fields = Record<string, unknown>;

/** A write as it arrives. */
export interface Write {
  readonly verb: Verb;
  /** The id of the record, or the name of the new one. */
  readonly target: string;
  /** How often this write of this target arrived, counted from 1. */
  readonly time: number;
  /** Applies it and returns the usual response. */
  readonly apply: () => Reply;
  /** The current record; undefined for a create. */
  readonly record: Fields | undefined;
  /** Changes the record as another admin. */
  readonly change: (fields: Fields) => void;
  /** Deletes the record as another admin. */
  readonly remove: () => void;
}

/** Returns the response to a write instead of the usual one, which `apply` returns. */
export type Instead = (write: Write) => Reply | undefined;

export interface OutcomeService extends Service {
  /** Every write that arrived, as `update app_1`. */
  readonly sent: string[];
  /** The writes that took effect. */
  readonly applied: string[];
  record(id: string): Fields | undefined;
  /** Changes every record as another admin. */
  put(fields: Fields): void;
  /** The records that were created. */
  readonly created: Fields[];
}

const kinds = ['tryout-applications', 'teams', 'players', 'documents'] as const;

/** Two applications, teams, players and documents: `app_1`, `team_2`, `player_1`, `doc_2`. */
export async function outcomeService(instead: Instead): Promise<OutcomeService> {
  const books = new Map<string, Map<string, Fields>>(
    kinds.map((kind) => [kind, new Map(recordsOf(kind).map((each) => [String(each['id']), each]))]),
  );
  const sent: string[] = [];
  const applied: string[] = [];
  const created: Fields[] = [];
  const find = (id: string) => [...books.values()].map((kept) => kept.get(id)).find(Boolean);

  const write = (kind: string, id: string | undefined, verb: Verb, body: Fields): Reply => {
    const kept = books.get(kind) ?? new Map<string, Fields>();
    const target = id ?? String(body['name']);
    const entry = `${verb} ${target}`;
    sent.push(entry);
    const change = (fields: Fields) => {
      if (id !== undefined) kept.set(id, { ...kept.get(id), ...fields });
    };
    const record = id === undefined ? undefined : kept.get(id);
    const apply = (): Reply => {
      applied.push(entry);
      if (verb === 'delete') {
        kept.delete(target);
        return { status: 204 };
      }
      const { organizationId: _, ...fields } = body;
      if (verb === 'create') {
        const made = { id: `new_${kept.size + 1}`, organizationId: organization, ...fields };
        kept.set(made.id, made);
        created.push(made);
        return { status: 201, json: made };
      }
      if (verb === 'convert') {
        const player = { id: `player_of_${target}_${applied.length}`, name: target };
        change({ convertedPlayerId: player.id });
        return { status: 201, json: { player } };
      }
      change(fields);
      return { status: 200, json: kept.get(target) };
    };
    const time = sent.filter((each) => each === entry).length;
    const remove = () => kept.delete(target);
    return instead({ verb, target, time, apply, record, change, remove }) ?? apply();
  };

  const service = await recordingService((request: Recorded): Reply => {
    const { method } = request;
    const [path = ''] = request.url.replace(/^\/v1/, '').split('?');
    const [, kind = '', ...rest] = path.split('/').map(decodeURIComponent);
    if (kind === 'store') return { status: 200 };
    const body =
      request.body.length > 0 && method !== 'PUT'
        ? (JSON.parse(request.body.toString()) as Fields)
        : {};
    if (kind === 'uploads') return grant(service, service.requests.length);
    const kept = books.get(kind);
    if (!kept) return { status: 404, json: { error: 'notFound' } };
    const [id, verb] = rest[0] === organization ? rest.slice(1) : rest;
    if (method === 'POST' && verb === undefined) return write(kind, undefined, 'create', body);
    if (id === undefined)
      return { status: 200, json: { [kind]: [...kept.values()], total: kept.size } };
    const record = kept.get(id);
    if (!record) return { status: 404, json: { error: 'notFound' } };
    if (method === 'GET') return { status: 200, json: record };
    if (method === 'DELETE') return write(kind, id, 'delete', body);
    return write(kind, id, verb === 'convert-to-player' ? 'convert' : 'update', body);
  });
  const put = (fields: Fields) => {
    for (const kept of books.values())
      for (const [id, record] of kept) kept.set(id, { ...record, ...fields });
  };
  return { ...service, sent, applied, created, put, record: find };
}

function grant({ origin }: Service, number: number): Reply {
  const key = `documents/${organization}/${number}.txt`;
  const json = { key, fileRef: `ref ${number}`, uploadUrl: `${origin}/store/${number}?sig=canary` };
  return { status: 200, json };
}

function recordsOf(kind: (typeof kinds)[number]): Fields[] {
  return [1, 2].map((number) => {
    if (kind === 'tryout-applications')
      return application(`app_${number}`, { internalNotes: 'Seen on Monday.' });
    const word = kind.slice(0, -1).replace('document', 'doc');
    return {
      id: `${word}_${number}`,
      organizationId: organization,
      name: `${word} ${number}`,
      role: 'sub',
      ...(kind === 'documents' && {
        contentType: 'text/plain',
        sizeBytes: number,
        fileKey: `documents/${organization}/old_${number}.txt`,
        tags: [],
      }),
    };
  });
}
