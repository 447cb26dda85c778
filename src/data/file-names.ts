import { createHash } from 'node:crypto';
import { stripTrailing } from './text.js';

/** The longest name in bytes of UTF-8 that is kept; a `.partial.json` still fits beside it. */
const longest = 200;

const deviceName = /^(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])$/i;

/**
 * A file name out of untrusted text: one plain name that stays in its folder on every system, is
 * not hidden, no option and no device. Undefined when nothing of the text is left.
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
  return notPartial(shortened(withExtension(named, extensions)));
}

/** The name with `-suffix` before its extension, still short enough; for files that would share a name. */
export function withSuffix(name: string, suffix: string): string {
  const harmless = /^[\w-]{1,64}$/.test(suffix);
  const mark = `-${harmless ? suffix : createHash('sha256').update(suffix).digest('hex').slice(0, 12)}`;
  const extension = extensionOf(name);
  const stem = name.slice(0, name.length - extension.length);
  return `${cut(stem, longest - mark.length - extension.length)}${mark}${extension}`;
}

/** What two names have in common that are one file on some file systems: case and composition. */
export function nameKey(name: string): string {
  return name.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC');
}

/** Names with this end are those of downloads that are not whole yet. */
function notPartial(name: string): string {
  return /\.partial(\.json)?$/i.test(name) ? `${name}_` : name;
}

/** The name with an extension of its content type, the first one unless it has one of them. */
function withExtension(name: string, extensions: readonly string[]): string {
  const [first] = extensions;
  if (first === undefined) return name;
  const has = extensions.some((extension) => name.toLowerCase().endsWith(`.${extension}`));
  return has ? name : `${name}.${first}`;
}

function shortened(name: string): string {
  if (Buffer.byteLength(name) <= longest) return name;
  const extension = extensionOf(name);
  const stem = cut(name.slice(0, name.length - extension.length), longest - extension.length);
  return `${stem.trimEnd().replace(/\.+$/, '')}${extension}`;
}

function extensionOf(name: string): string {
  return /\.[A-Za-z0-9]{1,10}$/.exec(name)?.[0] ?? '';
}

/** As many whole letters as fit into so many bytes. */
function cut(text: string, room: number): string {
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

/** The name in a Content-Disposition header (RFC 6266), still untrusted. */
export function dispositionName(header: string | undefined): string | undefined {
  if (!header) return undefined;
  const extended = /;\s*filename\*\s*=\s*(?:UTF-8|ISO-8859-1)'[^']*'([^;\s]+)/i.exec(header)?.[1];
  const decoded = extended && percentDecoded(extended);
  if (decoded) return decoded;
  const [, quoted, bare] =
    /;\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(header) ?? [];
  return quoted?.replace(/\\(.)/g, '$1') ?? bare;
}

function percentDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
