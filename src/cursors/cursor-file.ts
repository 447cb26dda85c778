/** Cursors on disk: what a name of --since-last has printed already, per service, organization and resource. */
import { existsSync, promises as fs } from 'node:fs';
import { dirname, join } from 'node:path';
import { originOf, parseBaseUrl } from '../config/base-url.js';
import { sandboxProfile } from '../config/choices.js';
import { connectionSources, findTarget, parseConfigured } from '../config/connection.js';
import { type Paths, placeFolder, requireFolder } from '../config/paths.js';
import { requireProfile } from '../config/profiles.js';
import type { LocalContext } from '../context.js';
import { stringOf } from '../data/json.js';
import { systemReason } from '../data/system-errors.js';
import { GuardError, OutputError, UsageError } from '../errors.js';
import { syncPath } from '../files/atomic-write.js';
import {
  ensurePrivateFolders,
  inspectPrivateFile,
  listStateFolder,
  readOwnText,
  writePrivateFile,
} from '../files/private.js';
import { sealLine, unsealLine } from '../files/synced-lines.js';

/** The service and organization that cursors belong to. */
interface CursorPlace {
  /** The origin of the service, or `sandbox`, whose port changes. */
  readonly origin: string;
  readonly organization: string;
}

/** Identifies a cursor within a place. */
export interface CursorKey {
  readonly name: string;
  /** Its subject: a resource, or another list whose entries have ids. */
  readonly resource: string;
}

/** Entries by id, each with the hash of the watched field; an empty text where none is watched. */
type Entries = ReadonlyMap<string, string>;

/** The state of a cursor: ids and hashes, never values or times of records. */
export interface CursorState extends CursorKey {
  /** The filter of its first use, as typed; undefined until then. */
  readonly filter: string | undefined;
  /** The field whose changes count. */
  readonly changed: string | undefined;
  /** When it was last committed, in ISO form. */
  readonly lastAt: string | undefined;
  readonly seen: Entries;
  /** The entries that the last --peek printed, until `cursors commit`. */
  readonly pending: Entries | undefined;
  /** Set by `cursors reset --at`: the first use prints what is not older, in milliseconds. */
  readonly since: number | undefined;
}

/** The state of a cursor that was never used. */
export function unusedCursor(key: CursorKey): CursorState {
  return {
    ...key,
    filter: undefined,
    changed: undefined,
    lastAt: undefined,
    seen: new Map(),
    pending: undefined,
    since: undefined,
  };
}

const format = 1;
const filePattern = /^([a-z]+)\.(.+)\.json$/;

/** Returns the place of a connection's cursors; `service` is its base URL, or `sandbox`. */
export function cursorPlace(service: string, organization: string): CursorPlace {
  if (service === sandboxProfile) return { origin: sandboxProfile, organization: sandboxProfile };
  return { origin: originOf(service), organization };
}

/** Returns the place of the cursors in use; no key is needed. Throws UsageError, ConfigError. */
export function placeInUse(context: LocalContext): CursorPlace {
  const { profile } = context.settings;
  if (profile.name === sandboxProfile) return cursorPlace(sandboxProfile, '');
  const sources = connectionSources(context);
  if (profile.via !== 'none') requireProfile(sources.file, profile);
  const { baseUrl, organization } = findTarget(sources, []);
  const service = parseConfigured(baseUrl, parseBaseUrl);
  if (service && organization) return cursorPlace(service, organization.text);
  throw new UsageError('No service and organization are chosen, so there are no cursors.', {
    hint: 'Name a profile with -p, or log in: rosterctl auth login',
  });
}

/** Returns the folder of a place's cursors; undefined if there is no state folder. */
export function cursorFolder(
  { state }: Pick<Paths, 'state'>,
  { origin, organization }: CursorPlace,
): string | undefined {
  return state && placeFolder(join(state.path, 'cursors'), origin, organization);
}

/** Creates the folder of a place's cursors and returns it. Throws ConfigError. */
export function ensureCursorFolder(paths: Paths, place: CursorPlace): string {
  const state = requireFolder(paths, 'state');
  const { owner } = paths;
  const cursors = join(state.path, 'cursors');
  const folder = placeFolder(cursors, place.origin, place.organization);
  ensurePrivateFolders(state, [cursors, folder], owner);
  return folder;
}

/** Lists the cursors of a place by the names of their files, sorted; opens none. Throws OutputError. */
export function cursorKeys(folder: string | undefined): readonly CursorKey[] {
  if (folder === undefined) return [];
  return listStateFolder(folder, 'cursors')
    .toSorted()
    .flatMap((file) => {
      const [, resource = '', name = ''] = filePattern.exec(file) ?? [];
      return name === '' ? [] : [{ resource, name }];
    });
}

/**
 * Reads a cursor; undefined if there is none. Throws GuardError (`damaged`, 11) for a file that was cut
 * or edited or that another version wrote, ConfigError for another owner's, OutputError if it cannot be
 * read.
 */
export function readCursor(
  folder: string,
  key: CursorKey,
  owner: number | undefined,
): CursorState | undefined {
  const file = cursorFile(folder, key);
  if (inspectPrivateFile(file, owner).state === 'absent') return undefined;
  const state = parseState(readCursorText(file), key);
  if (state) return state;
  throw new GuardError(`The state of the cursor ${key.name} (${key.resource}) cannot be used.`, {
    code: 'damaged',
    hint: `Its file was cut off or edited, or another version wrote it. To start over: rosterctl cursors reset ${key.resource}/${key.name}`,
  });
}

/** Writes a cursor, whole or not at all, with mode 0600. Throws OutputError, ConfigError for a link in its place. */
export async function writeCursor(
  folder: string,
  state: CursorState,
  owner: number | undefined,
): Promise<void> {
  const file = cursorFile(folder, state);
  const isNew = !existsSync(file);
  await writePrivateFile(file, printState(state), owner, { singleWriter: true });
  // The file's own folder is synced with it.
  if (isNew) await syncPath(dirname(folder));
}

/** Deletes the file of a cursor. Throws OutputError. */
export async function removeCursor(folder: string, key: CursorKey): Promise<void> {
  await fs.rm(cursorFile(folder, key), { force: true }).catch((error: unknown) => {
    throw new OutputError(`The cursor ${key.name} cannot be removed: ${systemReason(error)}.`, {
      cause: error,
    });
  });
}

function cursorFile(folder: string, { resource, name }: CursorKey): string {
  return join(folder, `${resource}.${name}.json`);
}

function readCursorText(file: string): string {
  try {
    return readOwnText(file);
  } catch (error) {
    throw new OutputError(`${file} cannot be read: ${systemReason(error)}.`, {
      cause: error,
      hint: 'Check the file and its permissions, or set ROSTERCTL_STATE_DIR.',
    });
  }
}

function printState({ seen, pending, ...head }: CursorState): string {
  const all = { format, ...head, pending: pending && idPairs(pending), seen: idPairs(seen) };
  return sealLine(all);
}

function parseState(text: string, key: CursorKey): CursorState | undefined {
  const value = text.endsWith('\n') ? unsealLine(text.slice(0, -1)) : undefined;
  // On a file system that ignores case, the file may be that of another name.
  if (value?.['format'] !== format) return undefined;
  if (value['name'] !== key.name || value['resource'] !== key.resource) return undefined;
  const { filter, changed, lastAt, since, seen, pending } = value;
  return {
    ...key,
    filter: stringOf(filter),
    changed: stringOf(changed),
    lastAt: stringOf(lastAt),
    since: typeof since === 'number' ? since : undefined,
    seen: entriesOf(seen),
    pending: pending === undefined ? undefined : entriesOf(pending),
  };
}

/** An id alone where no field is watched. */
function idPairs(entries: Entries): unknown[] {
  return [...entries].map(([id, hash]) => (hash === '' ? id : [id, hash]));
}

function entriesOf(pairs: unknown): Entries {
  const list = Array.isArray(pairs) ? (pairs as unknown[]) : [];
  return new Map(
    list.map((pair) => {
      const [id, hash = ''] = Array.isArray(pair) ? (pair as unknown[]) : [pair];
      return [String(id), String(hash)];
    }),
  );
}
