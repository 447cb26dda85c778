/** The longest name in bytes of UTF-8 that is kept; a `.partial` still fits beside it. */
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
  const plain = base
    .replace(/\p{Cc}/gu, '')
    .replace(/[\p{Cf}\p{Zl}\p{Zp}\uFFFD<>:"|?*]/gu, '_')
    .trim()
    .replace(/[. ]+$/, '')
    .replace(/^[.~-]+/, '_');
  if (plain === '' || /^_+$/.test(plain)) return undefined;
  const [stem = plain] = plain.split('.');
  const named = deviceName.test(stem.trim()) ? `_${plain}` : plain;
  return shortened(withExtension(named, extensions));
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
  const extension = /\.[A-Za-z0-9]{1,10}$/.exec(name)?.[0] ?? '';
  const room = longest - extension.length;
  let stem = '';
  for (const letter of name.slice(0, name.length - extension.length)) {
    if (Buffer.byteLength(stem) + Buffer.byteLength(letter) > room) break;
    stem += letter;
  }
  return `${stem.trimEnd().replace(/\.+$/, '')}${extension}`;
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
