/** The tables of a sandbox, and the steps that change them. */

import type { JsonObject } from '../data/json.js';
import { perResource, type ResourceName } from '../data/resources.js';

/** A stored record; only its id and organization are certain. */
export type StoredRecord = JsonObject & { readonly id: string; readonly organizationId: string };

/** One emitted event (contract section 6). */
export type SandboxEvent = {
  readonly kind: 'tryout.status_changed' | 'tryout.accepted' | 'tryout.declined';
  readonly applicationId: string;
  readonly at: string;
};

/** An upload from its grant to its document (contract 4.5). */
export interface Upload {
  readonly key: string;
  readonly organizationId: string;
  readonly fileRef: string;
  readonly contentType: string;
  readonly sizeBytes: number;
  /** SHA-256 of the bytes, once they have arrived. */
  readonly sha256?: string;
  /** The document made of it. */
  readonly documentId?: string;
}

/** The smallest part of a change, as the log keeps it. */
export type LogStep =
  | readonly ['put', ResourceName, StoredRecord]
  | readonly ['delete', ResourceName, string]
  | readonly ['upload', Upload]
  | readonly ['event', SandboxEvent];

/** Which demo data a sandbox starts with. */
export interface SeedChoice {
  readonly size: SeedSize;
  /** The moment that the demo data's times count back from, ISO. */
  readonly at: string;
}

export const seedSizes = ['small', 'large'] as const;
export type SeedSize = (typeof seedSizes)[number];

export interface Tables {
  readonly records: { readonly [R in ResourceName]: Map<string, StoredRecord> };
  readonly uploads: Map<string, Upload>;
  readonly events: SandboxEvent[];
  /** The highest number of an id so far, deleted ones included. */
  readonly lastNumber: { [R in ResourceName]: number };
}

interface SandboxResource {
  /** The beginning of its ids: `app_0042`. */
  readonly idPrefix: string;
  /** The first word of its permissions, where the contract names none: `tryout:read`. */
  readonly permission: string;
}

/** The sandbox's own columns of each resource. */
export const sandboxResources: { readonly [R in ResourceName]: SandboxResource } = {
  teams: { idPrefix: 'team_', permission: 'team' },
  players: { idPrefix: 'player_', permission: 'player' },
  documents: { idPrefix: 'doc_', permission: 'document' },
  tryouts: { idPrefix: 'app_', permission: 'tryout' },
};

const idPrefixes = perResource((name) => sandboxResources[name].idPrefix);

/** `app_0042`; beyond 9999 it grows. */
export function recordId(resource: ResourceName, number: number): string {
  return `${idPrefixes[resource]}${String(number).padStart(4, '0')}`;
}

/** The number of an id; undefined for another text. */
export function numberOfId(text: string): number | undefined {
  const [, prefix, digits] = /^([a-z]+_)(\d{4,9})$/.exec(text) ?? [];
  return Object.values(idPrefixes).includes(prefix ?? '') ? Number(digits) : undefined;
}

/** The id of the next new record; deleted ids are not used again. */
export function nextId(tables: Tables, resource: ResourceName): string {
  return recordId(resource, tables.lastNumber[resource] + 1);
}

/** Empty tables. */
export function emptyTables(): Tables {
  return {
    records: perResource(() => new Map<string, StoredRecord>()),
    uploads: new Map(),
    events: [],
    lastNumber: perResource(() => 0),
  };
}

export function applyStep(tables: Tables, step: LogStep): void {
  if (step[0] === 'put') putRecord(tables, step[1], step[2]);
  else if (step[0] === 'delete') tables.records[step[1]].delete(step[2]);
  else if (step[0] === 'upload') tables.uploads.set(step[1].key, step[1]);
  else tables.events.push(step[1]);
}

/** Stores a record and remembers its number. */
export function putRecord(tables: Tables, resource: ResourceName, record: StoredRecord): void {
  tables.records[resource].set(record.id, record);
  const number = Number(record.id.slice(idPrefixes[resource].length));
  if (number > tables.lastNumber[resource]) tables.lastNumber[resource] = number;
}
