/** Compares two snapshots, or one with what the service has now: by id and field. */

import { TryoutStatus } from '../api/schemas.js';
import type { Api } from '../api/types.js';
import { readWholeList } from '../bulk/whole-list.js';
import { clearWord, csvLine, exportText, forSpreadsheet } from '../data/csv.js';
import { type JsonObject, printJson } from '../data/json.js';
import { flatten, labelOf, locate } from '../data/path.js';
import type { ResourceName } from '../data/resources.js';
import { isUnchanged } from '../data/sorting.js';
import { UsageError } from '../errors.js';
import type { RowChange } from '../runs/report.js';
import { backedUp, hasFiles, type Snapshot } from './layout.js';
import { type Manifest, readSnapshotManifest } from './manifest.js';
import { snapshotRecords } from './records.js';

/** A record that differs. */
export interface Difference {
  readonly resource: ResourceName;
  readonly id: string;
  readonly name: string;
  readonly change: 'added' | 'removed' | 'changed';
  readonly changes: readonly FieldDifference[];
}

/** A field that differs; the value of an absent one is null. */
type FieldDifference = Pick<RowChange, 'field' | 'from' | 'to'>;

/** One of the two that are compared. */
export interface Side {
  readonly label: string;
  readonly organization: string;
  readonly origin: string;
  readonly has: (resource: ResourceName) => boolean;
  /** Why the list of a resource may be incomplete; undefined if it is whole. */
  readonly doubtOf: (resource: ResourceName) => string | undefined;
  /** Yields the records in order of their ids. */
  readonly records: (resource: ResourceName) => AsyncIterable<JsonObject>;
  /** The hash of each document's file; undefined if they are not known. */
  readonly files: ReadonlyMap<string, string> | undefined;
}

/** The result of a comparison. */
export interface BackupDiff {
  readonly differences: readonly Difference[];
  readonly compared: readonly ResourceName[];
  /** Resources that only one of them holds. */
  readonly notCompared: readonly ResourceName[];
}

/** A comparison, with the status of each application that differs on the second side, if a guard can name it. */
interface Comparison extends BackupDiff {
  readonly statuses: ReadonlyMap<string, TryoutStatus>;
}

/** Opens a snapshot to be compared. Throws InputError. */
export async function snapshotSide(snapshot: Snapshot, signal: AbortSignal): Promise<Side> {
  const manifest: Manifest = await readSnapshotManifest(snapshot);
  const { origin, organization, resources, files, missing } = manifest;
  return {
    label: snapshot.name,
    origin,
    organization,
    has: (resource) => resources.some((each) => each.resource === resource),
    doubtOf: (resource) =>
      missing.find((part) => part.resource === resource && part.id === null)?.reason,
    records: (resource) => snapshotRecords(snapshot, resource, manifest, signal),
    files: files ? new Map(files.documents.map(({ id, sha256 }) => [id, sha256])) : undefined,
  };
}

/** Opens what the service has now, each list read whole when it is compared. */
export function liveSide(api: Api): Side {
  return {
    label: 'live',
    origin: api.service,
    organization: api.organizationId,
    has: () => true,
    doubtOf: () => undefined,
    async *records(resource) {
      const records: JsonObject[] = [];
      const onRecord = (record: JsonObject) => records.push(record);
      const doubt = { so: 'so it cannot be compared', mayBeEmpty: true };
      await readWholeList({ api }, resource, onRecord, doubt);
      yield* records.toSorted((a, b) => (String(a['id']) < String(b['id']) ? -1 : 1));
    },
    files: undefined,
  };
}

/** Throws UsageError for sides of different organizations. */
export function checkSides(from: Side, to: Side): void {
  if (from.organization === to.organization && from.origin === to.origin) return;
  throw new UsageError(
    `${from.label} is from organization ${from.organization} at ${from.origin}, ${to.label} from ${to.organization} at ${to.origin}.`,
    { hint: 'Compare backups of one organization. For live, choose its profile with -p.' },
  );
}

/** Compares all resources that both hold. Throws InputError, GuardError and what the service refuses. */
export async function compareSides(from: Side, to: Side): Promise<Comparison> {
  const compared = backedUp.filter((resource) => from.has(resource) && to.has(resource));
  const differences: Difference[] = [];
  const statuses = new Map<string, TryoutStatus>();
  for (const resource of compared)
    for await (const [difference, present] of compareRecords(resource, from, to)) {
      differences.push(difference);
      const { data: status } = TryoutStatus.safeParse(present?.['status']);
      if (resource === setBack && status) statuses.set(difference.id, status);
    }
  const either = backedUp.filter((resource) => from.has(resource) || to.has(resource));
  const notCompared = either.filter((each) => !compared.includes(each));
  return { differences, compared, notCompared, statuses };
}

async function* compareRecords(
  resource: ResourceName,
  from: Side,
  to: Side,
): AsyncGenerator<readonly [Difference, present: JsonObject | undefined]> {
  const before = from.records(resource)[Symbol.asyncIterator]();
  const after = to.records(resource)[Symbol.asyncIterator]();
  let [old, now] = await Promise.all([before.next(), after.next()]);
  try {
    while (!old.done || !now.done) {
      const oldId = old.done ? undefined : String(old.value['id']);
      const newId = now.done ? undefined : String(now.value['id']);
      const isOld = newId === undefined || (oldId !== undefined && oldId <= newId);
      const id = (isOld ? oldId : newId) ?? '';
      const a: JsonObject | undefined = oldId === id ? old.value : undefined;
      const b: JsonObject | undefined = newId === id ? now.value : undefined;
      const changes = a && b ? [...fieldChanges(a, b), ...fileChanges(resource, id, from, to)] : [];
      const change = a ? (b ? 'changed' : 'removed') : 'added';
      if (change !== 'changed' || changes.length > 0)
        yield [{ resource, id, name: labelOf(b ?? a, id), change, changes }, b];
      if (a) old = await before.next();
      if (b) now = await after.next();
    }
  } finally {
    await before.return?.();
    await after.return?.();
  }
}

function fieldChanges(before: JsonObject, after: JsonObject): readonly FieldDifference[] {
  if (isUnchanged(before, after)) return [];
  const [old, now] = [flatten(before), flatten(after)];
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((field) => {
    const [from, to] = [old.get(field) ?? null, now.get(field) ?? null];
    if (!isUnchanged(from, to)) return [{ field, from, to }];
    if (!old.has(field) || !now.has(field)) return [];
    // A list reads like a text with its elements.
    const [was, is] = [valueIn(before, field), valueIn(after, field)];
    return isUnchanged(was, is) ? [] : [{ field, from: was, to: is }];
  });
}

function valueIn(record: JsonObject, field: string): unknown {
  const value = locate(record, field)?.value ?? null;
  return Array.isArray(value) ? printJson(value) : value;
}

/** The content of a document's file, by its hash. */
function fileChanges(
  resource: ResourceName,
  id: string,
  { files: before }: Side,
  { files: after }: Side,
): readonly FieldDifference[] {
  const [from, to] = [before?.get(id), after?.get(id)];
  if (!hasFiles(resource) || from === undefined || to === undefined || from === to) return [];
  return [{ field: 'file (sha256)', from, to }];
}

/** The resource whose records cannot be created again, only set back. */
const setBack: ResourceName = 'tryouts';

/**
 * Returns the CSV with which `tryouts set-status --csv` sets applications back to the first side, each
 * only while it has the status of the second one; and how many lines it has.
 */
export function setBackCsv({
  differences,
  statuses,
}: Pick<Comparison, 'differences' | 'statuses'>): {
  readonly text: string;
  readonly count: number;
} {
  const options = { delimiter: ',', raw: true } as const;
  const rows = differences.flatMap(({ resource, id, name, changes }) => {
    const status = changes.find(({ field }) => field === 'status');
    const notes = changes.find(({ field }) => field === 'internalNotes');
    if (resource !== setBack || (!status && !notes)) return [];
    // A blank cell would leave the notes of B.
    const note = notes && ((notes.from ?? '') === '' ? clearWord : guarded(notes.from));
    const present = status ? status.to : statuses.get(id);
    return [[guarded(id), guarded(name), guarded(status?.from), guarded(present), note ?? '']];
  });
  const header = ['id', 'name', 'status', 'if_status', 'internalNotes'];
  const text = [header, ...rows].map((cells) => csvLine(cells, options)).join('');
  return { text, count: rows.length };
}

function guarded(value: unknown): string {
  return forSpreadsheet(exportText(value ?? ''));
}
