import type { FileVersion } from '../data/file-version.js';
import { isObject } from '../data/json.js';
import { describeSelf, type LockHolder, parseHolder, type ThisProcess } from './holder.js';

/** What a half file belongs to: no URL, no key, nothing secret. */
export interface Marker {
  readonly belongsTo: string;
  readonly version: FileVersion;
  /** Who writes it now; absent once it was left in order. */
  readonly holder?: LockHolder | undefined;
}

const schema = 1;

/** The marker as it stands in its file. */
export function markerText({ belongsTo, version, holder }: Marker): string {
  return `${JSON.stringify({ schema, download: belongsTo, version, holder: holder ?? null })}\n`;
}

/** Undefined for a text that no download wrote; of a torn one only that it was ours is known. */
export function parseMarker(text: string): Marker | undefined {
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
  return { belongsTo: value['download'], version, ...(holder && { holder }) };
}

/** Whether the machine was started anew while it was written: then its last bytes may be zeros. */
export function isOfEarlierBoot({ holder }: Marker, self: ThisProcess): boolean {
  const { boot } = describeSelf(self, undefined);
  return holder?.boot !== undefined && boot !== undefined && holder.boot !== boot;
}
