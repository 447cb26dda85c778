/** File names: safe ones from untrusted text, and unique ones. */
import { textDigest } from './digest.js';
import { stripTrailing } from './text.js';

/** The longest name, in bytes of UTF-8. File systems take 255; the rest is for what others append. */
const maxBytes = 200;

const deviceName = /^(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])$/i;

/**
 * Returns a file name for untrusted text: a plain name that stays in its folder on every system and
 * is not hidden, an option or a device. Undefined if nothing of the text remains.
 */
export function safeFileName(
  untrusted: string,
  extensions: readonly string[] = [],
): string | undefined {
  const base = untrusted.toWellFormed().split(/[/\\]/).at(-1) ?? '';
  const harmless = base
    .replace(/\p{Cc}/gu, '')
    .replace(/[\p{Cf}\p{Zl}\p{Zp}\uFFFD<>:"|?*]/gu, '_')
    .trim();
  const plain = stripTrailing(harmless, '. ').replace(/^[.~-]+/, '_');
  if (plain === '' || /^_+$/.test(plain)) return undefined;
  const [stem = plain] = plain.split('.');
  const named = deviceName.test(stem.trim()) ? `_${plain}` : plain;
  return shorten(withExtension(named, extensions));
}

/**
 * Inserts `-id` before the extension, within the length limit, for files that would share a name;
 * from the second time on with a number.
 */
export function withId(name: string, id: string, again = 1): string {
  const suffix = again === 1 ? id : `${id}-${again}`;
  const harmless = /^[\w-]{1,64}$/.test(suffix);
  const mark = `-${harmless ? suffix : textDigest(suffix).slice(0, 12)}`;
  const extension = shortExtension(name);
  const stem = name.slice(0, name.length - extension.length);
  return `${cutToBytes(stem, maxBytes - mark.length - extension.length)}${mark}${extension}`;
}

/**
 * Returns a key that is equal for names that some file systems treat as one (case, normalization).
 */
export function nameKey(name: string): string {
  return name.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC');
}

/** Adds the first extension of its content type, unless the name already has one of them. */
function withExtension(name: string, extensions: readonly string[]): string {
  const [first] = extensions;
  if (first === undefined) return name;
  const hasExtension = extensions.some((extension) => name.toLowerCase().endsWith(`.${extension}`));
  return hasExtension ? name : `${name}.${first}`;
}

function shorten(name: string): string {
  if (Buffer.byteLength(name) <= maxBytes) return name;
  const extension = shortExtension(name);
  const stem = cutToBytes(
    name.slice(0, name.length - extension.length),
    maxBytes - extension.length,
  );
  return `${stem.trimEnd().replace(/\.+$/, '')}${extension}`;
}

function shortExtension(name: string): string {
  return /\.[A-Za-z0-9]{1,10}$/.exec(name)?.[0] ?? '';
}

/** Truncates a text to so many bytes, between characters. */
export function cutToBytes(text: string, room: number): string {
  if (Buffer.byteLength(text) <= room) return text;
  let bytes = 0;
  let kept = '';
  for (const letter of text) {
    bytes += Buffer.byteLength(letter);
    if (bytes > room) break;
    kept += letter;
  }
  return kept;
}

/** Returns the name in a Content-Disposition header (RFC 6266), still untrusted. */
export function dispositionName(header: string | undefined): string | undefined {
  if (!header) return undefined;
  const extended = /;\s*filename\*\s*=\s*(?:UTF-8|ISO-8859-1)'[^']*'([^;\s]+)/i.exec(header)?.[1];
  const decoded = extended && decodedParameter(extended);
  if (decoded) return decoded;
  const [, quoted, bare] =
    /;\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(header) ?? [];
  return quoted?.replace(/\\(.)/g, '$1') ?? bare;
}

function decodedParameter(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
