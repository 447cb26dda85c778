/** The cache for completion: ids, names, fields and values that lists have shown, private and bounded. */
import { dirname, join } from 'node:path';
import { isObject, type JsonObject, objectIn } from '../data/json.js';
import { referenceValues } from '../data/references.js';
import {
  type LookedUpKind,
  type Overrides,
  type ResourceName,
  type ResourceWords,
  referenceKindsOf,
  resourceWords,
} from '../data/resources.js';
import { ensurePrivateFolders, readIfOurs, writePrivateFile } from '../files/private.js';
import { originOf, parseBaseUrl } from './base-url.js';
import { sandboxProfile } from './choices.js';
import { cacheFolder, type Paths } from './paths.js';

/** The candidates of one resource: ids with names, fields that the service sent, some values. */
interface CachedWords {
  /** Lines of `id<TAB>name`; one text, since thousands of pairs would take longer to read. */
  readonly ids: string;
  readonly fields: readonly string[];
  /** By path: `ResourceWords.completed`. */
  readonly values: { readonly [path: string]: readonly string[] };
  /** True once a list was read to its end, and not only single records. */
  readonly isListed: boolean;
}

/** The owner of the records: the profile, and the target of its requests. */
interface CachePlace {
  readonly profile: string;
  readonly baseUrl: string;
  readonly organizationId: string;
}

/** The place that the connection of a command reads. */
export function cachePlaceOf({
  api: { baseUrl, organizationId },
  settings: { profile },
}: {
  readonly api: Omit<CachePlace, 'profile'>;
  readonly settings: { readonly profile: { readonly name: string } };
}): CachePlace {
  return { profile: profile.name, baseUrl, organizationId };
}

const mostIds = 5000;
const mostFields = 500;
const mostValues = 200;
/** Longer ids are not completed; longer names are cut when they are shown. */
const longestId = 200;
const longestName = 200;
const longestValue = 100;

/**
 * The file of ids and field names of one organization at one service, in the folder that
 * `auth logout` removes. The sandbox has one of its own, whatever its port.
 */
export function completionCacheFile(paths: Paths, place: CachePlace): string | undefined {
  const folder =
    place.profile === sandboxProfile
      ? cacheFolder(paths, sandboxProfile, sandboxProfile)
      : cacheFolder(paths, originOf(parseBaseUrl(place.baseUrl)), place.organizationId);
  return folder === undefined ? undefined : join(folder, 'completion.json');
}

/**
 * The lines `value<TAB>name` of one kind of reference, from a file of its own, since most TABs need
 * none of it; names are among the ids of `recall`.
 */
export function recallReferences(
  file: string,
  resource: string,
  kind: string,
  owner: number | undefined,
): string {
  const found = readCache(referencesFile(file), owner)[resource];
  const lines = isObject(found) ? found[kind] : undefined;
  return typeof lines === 'string' ? lines : '';
}

/** The file of what references find, in the same folder. */
function referencesFile(file: string): string {
  return join(dirname(file), 'references.json');
}

/** Reads the cache of one resource; empty for a file that is absent, broken or not ours. */
export function recall(
  file: string | undefined,
  resource: string,
  owner: number | undefined,
): CachedWords {
  const found = file === undefined ? undefined : readCache(file, owner)[resource];
  if (!isObject(found)) return emptyCache;
  const { ids, fields, values, isListed } = found;
  const byPath = isObject(values) ? Object.entries(values) : [];
  return {
    ids: typeof ids === 'string' ? ids : '',
    fields: textsOf(fields),
    values: Object.fromEntries(byPath.map(([path, texts]) => [path, textsOf(texts)])),
    isListed: isListed === true,
  };
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((text) => typeof text === 'string') : [];
}

/** The lines of `ids`, as pairs. */
export function* pairsOf(ids: string): Generator<readonly [id: string, name: string]> {
  for (const line of ids.split('\n')) {
    const tab = line.indexOf('\t');
    if (tab > 0) yield [line.slice(0, tab), line.slice(tab + 1)];
  }
}

/**
 * The ids of each name in the lines of `ids`, without the ids given and without names that were cut. One
 * entry for equal names: of two answers, bash puts what they have in common on the line, which includes
 * the beginning of the ids.
 */
export function idsByName(ids: string, given: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [id, name] of pairsOf(ids)) {
    if (name.length >= longestName || given.includes(id)) continue;
    const known = found.get(name);
    found.set(name, known === undefined ? id : `${known}, ${id}`);
  }
  return found;
}

/** The names by id of one resource, and whether a list has shown them; none for a cache that is absent, broken or not ours. */
export function recallNames(paths: Paths, place: CachePlace, resource: string) {
  const { ids, isListed } = recall(completionCacheFile(paths, place), resource, paths.owner);
  const names: ReadonlyMap<string, string> = new Map(pairsOf(ids));
  return { names, isListed };
}

/** Collects what ordinary lists and gets show, a few microseconds a record and never above a cap. */
export interface CacheWriter {
  observe(record: JsonObject): void;
  /** Collects the name of a record of which no more is known; undefined for an id that is not completed. */
  observeName(record: JsonObject): string | undefined;
  /**
   * Writes what was seen; `whole` = it was the complete list, so that ids which are gone are
   * forgotten; `isListed` = it was all that the service sent, which may be incomplete. Never throws: a
   * cache that cannot be written is not a reason to fail.
   */
  write(options: { readonly whole: boolean; readonly isListed?: boolean }): Promise<void>;
}

/** Starts to remember the records of one resource for completion. */
export function rememberRecords(
  paths: Paths,
  place: CachePlace,
  resource: ResourceName,
  overrides: Overrides = {},
): CacheWriter {
  const references = referenceKindsOf(resource)
    .filter((kind) => kind !== 'name')
    .map((kind) => ({
      kind,
      valuesOf: referenceValues(resource, kind, overrides),
      found: new Map<string, string>(),
    }));
  const ids = new Map<string, string>();
  const fields = new Set<string>();
  const { completed = [] }: ResourceWords = resourceWords[resource];
  const values = new Map(completed.map((path) => [path, new Set<string>()]));
  return {
    observeName({ id, name }) {
      if (ids.size >= mostIds) return undefined;
      if (typeof id !== 'string' || id.length > longestId || separators.test(id)) return undefined;
      const label = typeof name === 'string' ? oneLine(name.slice(0, longestName)) : '';
      ids.set(id, label);
      return label;
    },
    observe(record) {
      const label = this.observeName(record);
      if (label === undefined) return;
      for (const { valuesOf, found } of references)
        for (const value of valuesOf(record) ?? [])
          if (found.size < mostIds && value.length <= longestName && !separators.test(value))
            found.set(value, label);
      for (const field of fieldNamesIn(record)) if (fields.size < mostFields) fields.add(field);
      for (const [path, seen] of values)
        for (const value of textsAt(record, path.split('.'))) {
          if (seen.size >= mostValues) break;
          if (value !== '' && value.length <= longestValue) seen.add(value);
        }
    },
    async write({ whole, isListed = whole }) {
      try {
        await writeCachedRecords(paths, place, resource, { ids, fields, values, isListed }, whole);
        await writeReferences(paths, place, resource, references, whole);
      } catch {
        // A folder that cannot be written, a foreign file, a full disk: then a TAB knows less.
      }
    },
  };
}

interface Observed {
  readonly ids: ReadonlyMap<string, string>;
  readonly fields: ReadonlySet<string>;
  readonly values: ReadonlyMap<string, ReadonlySet<string>>;
  readonly isListed: boolean;
}

async function writeCachedRecords(
  paths: Paths,
  place: CachePlace,
  resource: string,
  observed: Observed,
  whole: boolean,
): Promise<void> {
  const file = completionCacheFile(paths, place);
  if (file === undefined || !paths.cache) return;
  const all = readCache(file, paths.owner);
  const before = recall(file, resource, paths.owner);
  const fields = [...new Set([...observed.fields, ...before.fields])].slice(0, mostFields);
  const values = [...observed.values].map(([path, found]) => {
    const known = whole ? [] : (before.values[path] ?? []);
    return [path, [...new Set([...found, ...known])].slice(0, mostValues)] as const;
  });
  const now: CachedWords = {
    ids: mergedLines(observed.ids, whole ? '' : before.ids),
    fields,
    values: Object.fromEntries(values),
    isListed: observed.isListed || before.isListed,
  };
  if (JSON.stringify(now) === JSON.stringify(before)) return;
  await writeCache(paths, file, { ...all, [resource]: now });
}

async function writeReferences(
  paths: Paths,
  place: CachePlace,
  resource: string,
  observed: readonly { readonly kind: LookedUpKind; readonly found: ReadonlyMap<string, string> }[],
  whole: boolean,
): Promise<void> {
  const file = completionCacheFile(paths, place);
  if (file === undefined || observed.length === 0) return;
  const all = readCache(referencesFile(file), paths.owner);
  const lines = observed.map(({ kind, found }) => {
    const before = whole ? '' : recallReferences(file, resource, kind, paths.owner);
    return [kind, mergedLines(found, before)] as const;
  });
  const now = Object.fromEntries(lines);
  if (JSON.stringify(now) === JSON.stringify(all[resource])) return;
  await writeCache(paths, referencesFile(file), { ...all, [resource]: now });
}

/** The lines of what was found, then those of before that were not found again. */
function mergedLines(found: ReadonlyMap<string, string>, before: string): string {
  const older = [...pairsOf(before)].filter(([first]) => !found.has(first));
  const pairs = [...found, ...older].slice(0, mostIds);
  return pairs.map((pair) => pair.join('\t')).join('\n');
}

async function writeCache({ cache, owner }: Paths, file: string, value: JsonObject): Promise<void> {
  if (!cache) return;
  ensurePrivateFolders(cache, [dirname(file)], owner);
  await writePrivateFile(file, JSON.stringify(value), owner);
}

/** The texts at a path, in every element of a list; the keys of an object at its end. */
function textsAt(value: unknown, [key, ...rest]: readonly string[]): readonly string[] {
  if (Array.isArray(value))
    return value.flatMap((item) => textsAt(item, key === undefined ? [] : [key, ...rest]));
  if (key !== undefined) return isObject(value) ? textsAt(value[key], rest) : [];
  if (typeof value === 'string') return [value];
  return isObject(value) ? Object.keys(value) : [];
}

/** Names of fields as --fields and --where read them: top level, and one level of plain objects. */
function* fieldNamesIn(record: JsonObject): Generator<string> {
  for (const [key, value] of Object.entries(record)) {
    if (!isName(key)) continue;
    yield key;
    if (isObject(value))
      for (const inner of Object.keys(value)) if (isName(inner)) yield `${key}.${inner}`;
  }
}

/** A field name that is never misread in a list of fields or before an operator. */
function isName(key: string): boolean {
  return key.length <= 100 && /^[^\s.,:=<>!~-][^\s.,:=<>!~]*$/u.test(key);
}

const separators = /[\t\n]/;

function oneLine(name: string): string {
  return separators.test(name) ? name.replace(/[\t\n]/g, ' ') : name;
}

/** The cache of a resource that was never listed. */
const emptyCache: CachedWords = { ids: '', fields: [], values: {}, isListed: false };

function readCache(file: string, owner: number | undefined): JsonObject {
  return objectIn(readIfOurs(file, owner) ?? '', JSON.parse) ?? {};
}
