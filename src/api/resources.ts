/** The resource table: words, calls, envelopes and schema of each resource. */
import type * as z from 'zod/mini';
import type { JsonObject } from '../data/json.js';
import {
  type ResourceName,
  type ResourceWords,
  resourceNames,
  resourceWords,
} from '../data/resources.js';
import { BugError } from '../errors.js';
import type { EndpointName } from './contract.js';
import { AnyRecord, TryoutApplication } from './schemas.js';

/** The calls that change a record that exists. */
export type RecordWrite = 'update' | 'delete' | 'convert';

/** The calls that a resource may have, by what they do to its records. */
export type ResourceCall = RecordWrite | 'list' | 'get' | 'create' | 'download' | 'preview';

interface Resource extends ResourceWords {
  /** Names of a record or a list in an envelope: lower-case letters and digits, best first. */
  readonly envelopes: readonly string[];
  /** Schema of one record: documented fields are checked, all others pass. */
  readonly schema: z.ZodMiniObject;
  /** Without `get`, single records are searched in the list. */
  readonly calls: { readonly list: EndpointName } & {
    readonly [C in Exclude<ResourceCall, 'list'>]?: EndpointName;
  };
}

/** Every resource, once. */
export const resources: { readonly [R in ResourceName]: Resource } = {
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
};

/** Returns one row. */
export function resourceRow(name: ResourceName): Resource {
  return resources[name];
}

/** True for a name in an envelope that is of another resource. */
export function isOfAnother(name: string, resource: ResourceName): boolean {
  return resourceNames.some(
    (other) => other !== resource && resources[other].envelopes.includes(name),
  );
}

/** True if no call reads one record (contract 4.4): it is found in the list. */
export function isReadByList(name: ResourceName): boolean {
  return resources[name].calls.get === undefined;
}

/**
 * Returns a call about one record, or about none if there is no id (`create`). Throws BugError if
 * the resource has no such call.
 */
export function callFor(
  name: ResourceName,
  action: ResourceCall,
  id: string | undefined,
  body?: JsonObject,
) {
  const { calls, idName } = resourceRow(name);
  const endpointName = calls[action];
  if (endpointName === undefined)
    throw new BugError(`The contract has no call to ${action} ${name}.`);
  return { endpoint: endpointName, params: id === undefined ? undefined : { [idName]: id }, body };
}
