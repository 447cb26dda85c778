import type * as z from 'zod/mini';
import { type ResourceName, resourceWords, type ResourceWords } from '../data/resources.js';
import { BugError } from '../errors.js';
import type { JsonObject } from '../data/json.js';
import type { EndpointName } from './contract.js';
import { AnyRecord, TryoutApplication } from './schemas.js';

/** The calls of a resource, by what they do to its records. */
export type ResourceCall =
  | 'list'
  | 'get'
  | 'create'
  | 'update'
  | 'delete'
  | 'convert'
  | 'download'
  | 'preview';

/** One row of the resource table. */
interface Resource extends ResourceWords {
  /** What a record or a list may be called in an envelope: lower-case letters and digits, best first. */
  readonly envelopes: readonly string[];
  /** Schema of one record: documented fields are checked, all others pass. */
  readonly schema: z.ZodMiniObject;
  /** Without `get`, one record is looked for in the list. */
  readonly calls: { readonly list: EndpointName } & {
    readonly [C in Exclude<ResourceCall, 'list'>]?: EndpointName;
  };
}

/** Every resource once: its words, its calls, its envelopes and its schema. */
export const resources = {
  teams: {
    ...resourceWords.teams,
    envelopes: ['team', 'teams'],
    schema: AnyRecord,
    calls: {
      list: 'listTeams',
      get: 'getTeam',
      create: 'createTeam',
      update: 'updateTeam',
      delete: 'deleteTeam',
    },
  },
  players: {
    ...resourceWords.players,
    envelopes: ['player', 'players'],
    schema: AnyRecord,
    calls: {
      list: 'listPlayers',
      get: 'getPlayer',
      create: 'createPlayer',
      update: 'updatePlayer',
      delete: 'deletePlayer',
    },
  },
  documents: {
    ...resourceWords.documents,
    envelopes: ['document', 'documents'],
    schema: AnyRecord,
    calls: {
      list: 'listDocuments',
      create: 'createDocument',
      update: 'updateDocument',
      delete: 'deleteDocument',
      download: 'downloadDocument',
      preview: 'previewDocument',
    },
  },
  tryouts: {
    ...resourceWords.tryouts,
    envelopes: [
      'application',
      'applications',
      'tryoutapplication',
      'tryoutapplications',
      'tryout',
      'tryouts',
    ],
    schema: TryoutApplication,
    calls: {
      list: 'listTryouts',
      get: 'getTryout',
      update: 'updateTryout',
      convert: 'convertTryout',
    },
  },
} as const satisfies { readonly [R in ResourceName]: Resource };

/** One row, widened to the common type. */
export function resource(name: ResourceName): Resource {
  return resources[name];
}

/**
 * A call about one record, or without an id about none (`create`). Throws BugError where the
 * resource has no such call.
 */
export function callFor(
  name: ResourceName,
  what: ResourceCall,
  id: string | undefined,
  body?: JsonObject,
) {
  const { calls, idName } = resource(name);
  const called = calls[what];
  if (called === undefined) throw new BugError(`The contract has no call to ${what} ${name}.`);
  return {
    endpoint: called,
    ...(id !== undefined && { params: { [idName]: id } }),
    ...(body !== undefined && { body }),
  };
}
