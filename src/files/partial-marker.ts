/** The marker of a resumable download: which file its bytes belong to, and who is writing them. */
import { lstat, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { isObject } from '../data/json.js';
import { GuardError } from '../errors.js';
import type { FileVersion } from './file-version.js';
import {
  describeSelf,
  holderState,
  type LockHolder,
  parseHolder,
  type ThisProcess,
} from './holder.js';
import { attempt } from './writing.js';

/** The document that a partial file belongs to. Contains no URL, no key, nothing secret. */
export interface Marker {
  readonly belongsTo: string;
  readonly version: FileVersion;
  /** The time of its content, according to its record. */
  readonly asOf?: string | undefined;
  /** The process that is writing it; absent after a clean release. */
  readonly holder?: LockHolder | undefined;
}

const schema = 1;

/** Returns the text of a marker file. */
export function markerText({ belongsTo, version, asOf, holder }: Marker): string {
  const marker = { schema, download: belongsTo, version, asOf, holder: holder ?? null };
  return `${JSON.stringify(marker)}\n`;
}

/**
 * Reads the marker at a path; undefined if there is none. Throws GuardError for a file that is not
 * a marker, OutputError for a system error.
 */
export async function readMarker(path: string): Promise<Marker | undefined> {
  const stats = await statPart(path);
  if (!stats) return undefined;
  let text = await readMarkerText(path);
  // Empty: it is being written right now, or its writer or the machine died while writing.
  if (text === '') {
    await sleep(200);
    text = await readMarkerText(path);
  }
  if (text === undefined) return undefined;
  const marker = parseMarker(text);
  if (!marker) throw inTheWay(path);
  return marker;
}

/**
 * Returns the stats of a file, if it exists. Throws GuardError for a link, folder or device,
 * OutputError.
 */
export async function statPart(path: string) {
  const stats = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    return attempt(path, Promise.reject(error));
  });
  if (stats && !stats.isFile()) throw inTheWay(path);
  return stats;
}

/** True if the process that wrote it may still be running. */
export function isHeld({ holder }: Marker, self: ThisProcess): boolean {
  return holder !== undefined && holderState(holder, self) !== 'gone';
}

/** The error for a foreign file in the place of a download's own. */
export function inTheWay(path: string): GuardError {
  return new GuardError(`${path} is in the way and was not made by a download.`, {
    code: 'exists',
    hint: 'Look at it, then move or remove it. A link is never written through.',
  });
}

/**
 * Parses a marker; undefined for a text that no download wrote. A torn one is known only to be
 * ours.
 */
function parseMarker(text: string): Marker | undefined {
  return parseJsonMarker(text) ?? (isTorn(text) ? { belongsTo: '', version: {} } : undefined);
}

const opening = `{"schema":${schema},"download":`;

/** True for what a crash leaves of a marker: its beginning, or zeros. */
function isTorn(text: string): boolean {
  return opening.startsWith(text) || text.startsWith(opening) || text.startsWith('\0');
}

function parseJsonMarker(text: string): Marker | undefined {
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

/** True if the machine rebooted while it was written: then its last bytes may be zeros. */
export function isOfEarlierBoot({ holder }: Marker, self: ThisProcess): boolean {
  const { boot } = describeSelf(self, undefined);
  return holder?.boot !== undefined && boot !== undefined && holder.boot !== boot;
}

/** Returns the text of a file; undefined if its writer has finished meanwhile. */
async function readMarkerText(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) =>
    error.code === 'ENOENT' ? undefined : attempt(path, Promise.reject(error)),
  );
}
