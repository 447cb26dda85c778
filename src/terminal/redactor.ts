/** The redactor: removes secrets from everything that is written to stderr. */
import { holdsSignedUrl, withoutSignedQueries } from '../data/signed-urls.js';

const replacement = '[redacted]';

interface Redactor {
  /** Registers a secret of at least four characters, in every encoding it may appear in. */
  readonly add: (secret: string) => void;
  /** Registers the query of a signed URL and each long value in it. */
  readonly addUrl: (url: string) => void;
  readonly clean: (text: string) => string;
  /**
   * Like `clean`, and hides the query of every signed URL, such as a link in a note. The queries stay
   * if only the user sees the text.
   */
  readonly cleanAll: (text: string, isPrivate: () => boolean) => string;
}

/** Shorter texts are not secrets, and hiding them would garble every line. */
const minLength = 4;
/** Values of a signed URL below this are names, dates and counters. */
const minValueLength = 16;
/** The name of a file or a Content-Disposition, which a signed URL may hold: no token looks like it. */
const fileName = /[\s"]|\.[a-z\d]{1,5}$/i;
/** A truncated text that ends with this many leading characters of a secret reveals too much of it. */
const minPrefixLength = 12;

/** Creates a redactor without any secrets. */
export function createRedactor(): Redactor {
  const keys = new Set<string>();
  const others = new Set<string>();
  let secrets: Secrets | undefined;
  const register = (to: Set<string>, secret: string) => {
    if (secret.length < minLength) return;
    to.add(secret);
    secrets = undefined;
  };
  const clean = (text: string) => {
    // Computed lazily: most commands write nothing to stderr.
    secrets ??= {
      exact: longestFirst([...keys, ...others].flatMap(ownEncodings)),
      keys: longestFirst([...keys].flatMap(withBase64)).map(patternOf),
    };
    return secrets.keys.reduce(
      withoutKey,
      secrets.exact.reduce((result, secret) => result.replaceAll(secret, replacement), text),
    );
  };
  return {
    add: (secret) => register(keys, secret),
    addUrl(url) {
      const at = url.indexOf('?');
      if (at < 0) return;
      const query = url.slice(at + 1);
      register(others, query);
      for (const [, value] of new URLSearchParams(query))
        if (value.length >= minValueLength && !fileName.test(value)) register(others, value);
    },
    clean,
    cleanAll(text, isPrivate) {
      const known = clean(text);
      return holdsSignedUrl(known) && !isPrivate()
        ? withoutSignedQueries(known, `?${replacement}`)
        : known;
    },
  };
}

interface Secrets {
  /** In each encoding of our own code. */
  readonly exact: readonly string[];
  /** In those of a service, and where a text was truncated. */
  readonly keys: readonly KeyPattern[];
}

/** A secret may contain another one. */
function longestFirst(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].toSorted((a, b) => b.length - a.length);
}

/** The encodings in which our own code prints a text. */
function ownEncodings(secret: string): readonly string[] {
  const encoded = secret.isWellFormed() ? encodeURIComponent(secret) : secret;
  return [secret, JSON.stringify(secret).slice(1, -1), encoded];
}

function withBase64(key: string): readonly string[] {
  const base64 = Buffer.from(key).toString('base64').replace(/=+$/, '');
  return [key, base64, base64.replaceAll('+', '-').replaceAll('/', '_')];
}

/** A key as a service may write it: any of its characters may be escaped, for JSON, a URL or HTML. */
interface KeyPattern {
  /** Matches its first `minPrefixLength` characters. */
  readonly start: RegExp;
  /** Each matches one of the others. */
  readonly rest: readonly RegExp[];
}

function patternOf(key: string): KeyPattern {
  const forms = Array.from(key, (character) => `(?:${formsOf(character)})`);
  const expressions = new Map([...new Set(forms)].map((form) => [form, new RegExp(form, 'y')]));
  return {
    start: new RegExp(forms.slice(0, minPrefixLength).join(''), 'g'),
    rest: forms.slice(minPrefixLength).flatMap((form) => expressions.get(form) ?? []),
  };
}

const htmlNames: Readonly<Record<string, string>> = {
  '&': 'amp',
  '<': 'lt',
  '>': 'gt',
  '"': 'quot',
  "'": 'apos',
};

/** The source of a regular expression for the forms of a character, also of those that are escaped again. */
function formsOf(character: string): string {
  if (/\w/.test(character)) return character;
  const code = character.charCodeAt(0);
  const bytes = [...Buffer.from(character)].map((byte) => `%(?:25){0,3}${hexOf(byte)}`);
  const html = [`#0{0,4}${code}`, `#[xX]0{0,4}${hexOf(code)}`, htmlNames[character] ?? []].flat();
  return [
    bytes.join(''),
    `\\\\{1,8}u00${hexOf(code)}`,
    `&(?:amp;){0,3}(?:${html.join('|')});`,
    `\\\\{0,8}\\${character}`,
  ].join('|');
}

/** Matches two hexadecimal digits in either case. */
function hexOf(code: number): string {
  const digits = code.toString(16).padStart(2, '0');
  return digits.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}

/** Removes a key, and a leading part of it where the text was truncated within it. */
function withoutKey(text: string, { start, rest }: KeyPattern): string {
  let clean = '';
  let from = 0;
  start.lastIndex = 0;
  for (let found = start.exec(text); found; found = start.exec(text)) {
    let end = start.lastIndex;
    let more = 0;
    for (const next of rest) {
      next.lastIndex = end;
      if (!next.test(text)) break;
      end = next.lastIndex;
      more += 1;
    }
    const isCut =
      end >= text.length || text[end] === '…' || minPrefixLength + more > rest.length - more;
    clean += text.slice(from, found.index) + (isCut ? replacement : text.slice(found.index, end));
    from = end;
    start.lastIndex = end;
  }
  return clean + text.slice(from);
}
