/** The contract table: every endpoint of the service, stated or assumed. */
import * as z from 'zod/mini';
import { type OverrideKey, type ResourceName, resourceWords } from '../data/resources.js';
import {
  AnyRecord,
  TryoutApplication,
  TryoutStatus,
  UploadContentType,
  UploadGrant,
} from './schemas.js';

/**
 * The source of a row: a section of the contract, or an assumption, the reason for it, and the setting
 * that overrides its route; each assumed row has its own.
 */
type Basis =
  | { readonly stated: string }
  | { readonly assumed: string; readonly override: OverrideKey };

/** The calls that change a record that exists. */
export type RecordWrite = 'update' | 'delete' | 'convert';

/** The calls that a resource may have, by what they do to its records. */
export type ResourceCall = RecordWrite | 'list' | 'get' | 'create' | 'download' | 'preview';

export interface Endpoint {
  /** `METHOD /path/{param}`; the path begins below `/v1`. */
  readonly route: string;
  readonly summary: string;
  /** The place of the organization id in the request (contract 4.6). */
  readonly org: 'path' | 'query' | 'body' | 'none';
  readonly basis: Basis;
  readonly resource: ResourceName;
  /** The call of its resource that it is, as no other row; `other` for one that is none. */
  readonly verb: ResourceCall | 'other';
  /** The 2xx body: a list envelope, one record, an upload grant, a signed URL, or not shown. */
  readonly answers: 'list' | 'record' | 'grant' | 'link' | 'unshown';
  /** Schema of the documented response (of one element, for a list). */
  readonly result?: z.core.$ZodType;
  /** Schema of the request body, without organizationId. */
  readonly body?: z.core.$ZodType;
  /** Error statuses that the contract names for this row, in addition to those of all rows. */
  readonly refusals?: readonly string[];
  /** The permission that the key needs, where the contract names it. */
  readonly permission?: string;
}

const size = z.int().check(z.nonnegative());
const fields = z.record(z.string(), z.unknown());
const routeNotShown =
  'method and path are not shown (contract 4.4); resolved from the id, no organizationId';
const { teams, players, documents } = resourceWords;

/** The version of the contract that this table implements. */
export const contractVersion = '1.0.0';

/**
 * Every endpoint, once. Client, sandbox, OpenAPI, help and the list of assumptions derive from it.
 */
export const contract = {
  listTeams: {
    route: 'GET /teams/{organizationId}',
    summary: 'List the teams',
    org: 'path',
    basis: { stated: '4.4' },
    resource: 'teams',
    verb: 'list',
    answers: 'list',
    result: AnyRecord,
  },
  getTeam: {
    route: 'GET /teams/{organizationId}/{teamId}',
    summary: 'Get one team',
    org: 'path',
    basis: { stated: '4.4' },
    resource: 'teams',
    verb: 'get',
    answers: 'record',
    result: AnyRecord,
  },
  createTeam: {
    route: 'POST /teams',
    summary: 'Create a team',
    org: 'body',
    basis: { stated: '4.4' },
    resource: 'teams',
    verb: 'create',
    answers: 'unshown',
    body: fields,
  },
  updateTeam: {
    route: teams.overrides.update,
    summary: 'Change fields of a team',
    org: 'none',
    basis: { assumed: routeNotShown, override: 'endpoints.teams.update' },
    resource: 'teams',
    verb: 'update',
    answers: 'unshown',
    body: fields,
  },
  deleteTeam: {
    route: teams.overrides.delete,
    summary: 'Delete a team',
    org: 'none',
    basis: { assumed: routeNotShown, override: 'endpoints.teams.delete' },
    resource: 'teams',
    verb: 'delete',
    answers: 'unshown',
  },
  listPlayers: {
    route: 'GET /players/{organizationId}',
    summary: 'List the players',
    org: 'path',
    basis: { stated: '4.4' },
    resource: 'players',
    verb: 'list',
    answers: 'list',
    result: AnyRecord,
  },
  getPlayer: {
    route: 'GET /players/{organizationId}/{playerId}',
    summary: 'Get one player',
    org: 'path',
    basis: { stated: '4.4' },
    resource: 'players',
    verb: 'get',
    answers: 'record',
    result: AnyRecord,
  },
  createPlayer: {
    route: 'POST /players',
    summary: 'Create a player',
    org: 'body',
    basis: { stated: '4.4' },
    resource: 'players',
    verb: 'create',
    answers: 'unshown',
    body: fields,
  },
  updatePlayer: {
    route: players.overrides.update,
    summary: 'Change fields of a player',
    org: 'none',
    basis: { assumed: routeNotShown, override: 'endpoints.players.update' },
    resource: 'players',
    verb: 'update',
    answers: 'unshown',
    body: fields,
  },
  deletePlayer: {
    route: players.overrides.delete,
    summary: 'Delete a player',
    org: 'none',
    basis: { assumed: routeNotShown, override: 'endpoints.players.delete' },
    resource: 'players',
    verb: 'delete',
    answers: 'unshown',
  },
  listDocuments: {
    route: 'GET /documents/{organizationId}',
    summary: 'List the documents',
    org: 'path',
    basis: { stated: '4.4' },
    resource: 'documents',
    verb: 'list',
    answers: 'list',
    result: AnyRecord,
  },
  downloadDocument: {
    route: 'GET /documents/{documentId}/download',
    summary: 'Get a signed URL to download a document',
    org: 'none',
    basis: { stated: '4.4' },
    resource: 'documents',
    verb: 'download',
    answers: 'link',
  },
  previewDocument: {
    route: 'GET /documents/{documentId}/preview',
    summary: 'Get a signed URL to preview a document',
    org: 'none',
    basis: { stated: '4.4' },
    resource: 'documents',
    verb: 'preview',
    answers: 'link',
  },
  createDocument: {
    route: 'POST /documents',
    summary: 'Create a document record for an uploaded file',
    org: 'body',
    basis: { stated: '4.3' },
    resource: 'documents',
    verb: 'create',
    answers: 'record',
    body: z.looseObject({
      name: z.optional(z.string()),
      fileUrl: z.string(),
      fileKey: z.string(),
      contentType: UploadContentType,
      sizeBytes: size,
      tags: z.array(z.string()),
    }),
    permission: 'document:create',
  },
  updateDocument: {
    route: documents.overrides.update,
    summary: 'Change fields of a document',
    org: 'none',
    basis: { assumed: routeNotShown, override: 'endpoints.documents.update' },
    resource: 'documents',
    verb: 'update',
    answers: 'unshown',
    body: fields,
  },
  deleteDocument: {
    route: documents.overrides.delete,
    summary: 'Delete a document',
    org: 'none',
    basis: { assumed: routeNotShown, override: 'endpoints.documents.delete' },
    resource: 'documents',
    verb: 'delete',
    answers: 'unshown',
  },
  requestUpload: {
    route: 'POST /uploads/document-file',
    summary: 'Request a presigned upload URL',
    org: 'body',
    basis: { stated: '4.2' },
    resource: 'documents',
    verb: 'other',
    answers: 'grant',
    result: UploadGrant,
    body: z.strictObject({ contentType: UploadContentType, sizeBytes: size }),
    permission: 'document:create',
  },
  listTryouts: {
    route: 'GET /tryout-applications',
    summary: 'List the tryout applications',
    org: 'query',
    basis: { stated: '4.4' },
    resource: 'tryouts',
    verb: 'list',
    answers: 'list',
    result: TryoutApplication,
  },
  getTryout: {
    route: 'GET /tryout-applications/{applicationId}',
    summary: 'Get one tryout application',
    org: 'query',
    basis: { stated: '4.4' },
    resource: 'tryouts',
    verb: 'get',
    answers: 'record',
    result: TryoutApplication,
  },
  updateTryout: {
    route: 'PATCH /tryout-applications/{applicationId}',
    summary: 'Change the status or notes of a tryout application',
    org: 'body',
    basis: { stated: '4.1' },
    resource: 'tryouts',
    verb: 'update',
    answers: 'record',
    result: TryoutApplication,
    refusals: ['409'],
    body: z.strictObject({
      status: z.optional(TryoutStatus),
      internalNotes: z.optional(z.nullable(z.string())),
    }),
  },
  convertTryout: {
    route: 'POST /tryout-applications/{applicationId}/convert-to-player',
    summary: 'Convert a tryout application to a player',
    org: 'body',
    basis: { stated: '4.4' },
    resource: 'tryouts',
    verb: 'convert',
    answers: 'unshown',
    body: fields,
  },
} as const satisfies Record<string, Endpoint>;

export type EndpointName = keyof typeof contract;

/** Returns one row, widened to the common type. */
export function endpoint(name: EndpointName): Endpoint {
  return contract[name];
}
