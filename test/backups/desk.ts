import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  type DocumentStoreOptions,
  documentStore,
  type Stored,
  stored,
} from '../support/document-store.js';
import { inProcess } from '../support/in-process.js';
import { temporaryFolder } from '../support/run.js';
import type { Recorded, Reply } from '../support/service.js';

/** The records of a service, which a test may exchange. */
export interface Records {
  teams: readonly Readonly<Record<string, unknown>>[];
  players: readonly Readonly<Record<string, unknown>>[];
  applications: readonly Readonly<Record<string, unknown>>[];
}

export const player = (number: number, more: Record<string, unknown> = {}) => ({
  id: `player_${number}`,
  name: `Player ${number}`,
  email: `p${number}@example.org`,
  ...more,
});

export const application = (number: number, more: Record<string, unknown> = {}) => ({
  id: `app_${number}`,
  organizationId: 'org_7',
  name: `Applicant ${number}`,
  email: `a${number}@example.org`,
  status: 'pending',
  internalNotes: null,
  formId: 'form_1',
  formResponses: {},
  gamerTags: [],
  convertedPlayerId: null,
  convertedPlayer: null,
  submittedAt: '2026-11-01T10:00:00Z',
  createdAt: '2026-11-01T10:00:00Z',
  updatedAt: '2026-11-01T10:00:00Z',
  ...more,
});

export const paper = (id: string, text: string, more: Record<string, unknown> = {}): Stored =>
  stored(id, Buffer.from(text), { updatedAt: '2026-01-01T00:00:00Z', ...more });

type Special = (request: Recorded) => Reply | undefined;

/** Answers every request whose URL begins so, instead of the service. */
export function answering(start: string, reply: Reply): Special {
  return ({ url }) => (url.startsWith(start) ? reply : undefined);
}

function listIn(url: string): keyof Records | undefined {
  if (url.startsWith('/v1/teams')) return 'teams';
  if (url.startsWith('/v1/players')) return 'players';
  return url.startsWith('/v1/tryout-applications') ? 'applications' : undefined;
}

/** A service with records and documents, and a folder for its backup; `world.special` may answer instead of it. */
export async function desk(
  documents: Stored[] = [paper('doc_1', 'one'), paper('doc_2', 'two')],
  store?: DocumentStoreOptions['store'],
) {
  const records: Records = {
    teams: [{ id: 'team_1', name: 'Lanternfish' }],
    players: [player(2), player(1)],
    applications: [application(3), application(1), application(2)],
  };
  const world: { special: Special | undefined } = { special: undefined };
  const api = await documentStore({
    documents,
    store,
    api(request) {
      const special = world.special?.(request);
      if (special) return special;
      const name = listIn(request.url);
      if (!name) return undefined;
      return { status: 200, json: { [name]: records[name], total: records[name].length } };
    },
  });
  const home = temporaryFolder();
  const folder = join(home, 'backups');
  const run = (line: string, env: Record<string, string> = {}) =>
    inProcess(line, { env: { ...api.env, ...env }, home });
  return {
    api,
    documents,
    records,
    world,
    home,
    folder,
    run,
    create: (more = '') => run(`backup create ${folder} ${more}`),
    /** The names of finished and unfinished snapshots. */
    snapshots: () => readdirSync(folder).filter((name) => /^\d{4}-/.test(name)),
    /** The ids of documents whose files were asked for since the last time. */
    asked: () => {
      const ids = api.asked();
      api.store.requests.length = 0;
      return ids;
    },
    read: (path: string) => readFileSync(join(folder, path), 'utf8'),
    /** All files below the folder, with the bytes that each takes. */
    sizes: () => new Map(filesBelow(folder).map((path) => [path, statSync(path).size])),
  };
}

/** The paths of all files below a folder. */
export function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
}
