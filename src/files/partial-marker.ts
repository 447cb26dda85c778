import { lstat, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FileVersion } from '../data/file-version.js';
import { isObject } from '../data/json.js';
import { GuardError } from '../errors.js';
import {
  describeSelf,
  holderState,
  type LockHolder,
  parseHolder,
  type ThisProcess,
} from './holder.js';
import { attempt } from './writing.js';

/** What a half file belongs to: no URL, no key, nothing secret. */
export interface Marker {
  readonly belongsTo: string;
  readonly version: FileVersion;
  /** Since when it is what it is, as its record says. */
  readonly asOf?: string | undefined;
  /** Who writes it now; absent once it was left in order. */
  readonly holder?: LockHolder | undefined;
}

const schema = 1;

/** The marker as it stands in its file. */
export function markerText({ belongsTo, version, asOf, holder }: Marker): string {
  const marker = { schema, download: belongsTo, version, asOf, holder: holder ?? null };
  return `${JSON.stringify(marker)}\n`;
}

/**
 * The marker at a path, undefined where there is none. Throws GuardError for what is none of ours,
 * OutputError for what the system refuses.
 */
export async function readMarker(path: string): Promise<Marker | undefined> {
  const found = await inspect(path);
  if (!found) return undefined;
  let text = await textOf(path);
  // Empty: it is being written this moment, or its writer or the machine died in that moment.
  if (text === '') {
    await sleep(200);
    text = await textOf(path);
  }
  if (text === undefined) return undefined;
  const marker = parseMarker(text);
  if (!marker) throw inTheWay(path);
  return marker;
}

/** What stands at a path. Throws GuardError for a link, a folder or a device, OutputError. */
export async function inspect(path: string) {
  const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    return attempt(path, Promise.reject(error));
  });
  if (found && !found.isFile()) throw inTheWay(path);
  return found;
}

/** Whether the process that wrote it is still at it. */
export function isHeld({ holder }: Marker, self: ThisProcess): boolean {
  return holder !== undefined && holderState(holder, self) !== 'gone';
}

/** What stands in a download's way and is none of its own. */
export function inTheWay(path: string): GuardError {
  return new GuardError(`${path} is in the way and was not made by a download.`, {
    code: 'exists',
    hint: 'Look at it, then move or remove it. A link is never written through.',
  });
}

/** Undefined for a text that no download wrote; of a torn one only that it was ours is known. */
function parseMarker(text: string): Marker | undefined {
  return read(text) ?? (isTorn(text) ? { belongsTo: '', version: {} } : undefined);
}

const opening = `{"schema":${schema},"download":`;

/** What a crash leaves of a marker: its beginning, or zeros. */
function isTorn(text: string): boolean {
  return opening.startsWith(text) || text.startsWith(opening) || text.startsWith('\0');
}

function read(text: string): Marker | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(value) || typeof value['download'] !== 'string') return undefined;
  const { etag, lastModified, size } = isObject(value['version']) ? value['version'] : {};
  const version: FileVersion = {
    ...(typeof etag === 'string' && { etag }),
    ...(typeof lastModified === 'string' && { lastModified }),
    ...(typeof size === 'number' && Number.isSafeInteger(size) && size >= 0 && { size }),
  };
  const holder = parseHolder(JSON.stringify(value['holder']));
  const { asOf } = value;
  return {
    belongsTo: value['download'],
    version,
    ...(typeof asOf === 'string' && { asOf }),
    ...(holder && { holder }),
  };
}

/** Whether the machine was started anew while it was written: then its last bytes may be zeros. */
export function isOfEarlierBoot({ holder }: Marker, self: ThisProcess): boolean {
  const { boot } = describeSelf(self, undefined);
  return holder?.boot !== undefined && boot !== undefined && holder.boot !== boot;
}

/** Undefined when its writer has finished meanwhile. */
async function textOf(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) =>
    error.code === 'ENOENT' ? undefined : attempt(path, Promise.reject(error)),
  );
}
