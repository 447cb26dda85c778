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
  let encodings: Encodings | undefined;
  const register = (to: Set<string>, secret: string) => {
    if (secret.length < minLength) return;
    to.add(secret);
    encodings = undefined;
  };
  const clean = (text: string) => {
    // Computed lazily: most commands write nothing to stderr.
    encodings ??= allEncodings(keys, others);
    const { complete, escaped, truncatable } = encodings;
    const known = complete.reduce((result, secret) => result.replaceAll(secret, replacement), text);
    const whole = escaped.reduce((result, form) => result.replace(form, replacement), known);
    return truncatable.reduce(withoutPrefixes, whole);
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

interface Encodings {
  /** Longest first, because a secret may contain another one. */
  readonly complete: readonly string[];
  /** Keys in any other escapes of a service. */
  readonly escaped: readonly RegExp[];
  /** Secrets of which a leading part is hidden, too. */
  readonly truncatable: readonly string[];
}

function allEncodings(keys: ReadonlySet<string>, others: ReadonlySet<string>): Encodings {
  const ofKeys = [...keys].flatMap((key) => [...ownEncodings(key), ...serviceEncodings(key)]);
  const all = new Set([...ofKeys, ...[...others].flatMap(ownEncodings)]);
  return {
    complete: longestFirst([...all]),
    escaped: longestFirst([...keys].flatMap((key) => [key, ...base64Of(key)])).map(escapedForm),
    truncatable: [...new Set(ofKeys)].filter(({ length }) => length > minPrefixLength),
  };
}

function longestFirst(texts: readonly string[]): readonly string[] {
  return texts.toSorted((a, b) => b.length - a.length);
}

/** The encodings in which our own code prints a text. */
function ownEncodings(secret: string): readonly string[] {
  return [secret, JSON.stringify(secret).slice(1, -1), percentEncoded(secret)];
}

/** The encodings in which a service may repeat it: other escapes and cases, base64. */
function serviceEncodings(secret: string): readonly string[] {
  return [
    percentEncoded(secret).replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    JSON.stringify(secret).slice(1, -1).replaceAll('/', '\\/'),
    escapedForHtml(secret, (code) => `&#x${code.toString(16).toUpperCase()};`),
    escapedForHtml(secret, (code) => `&#x${code.toString(16)};`),
    escapedForHtml(secret, (code) => `&#${code};`),
    ...base64Of(secret),
  ];
}

function base64Of(secret: string): readonly string[] {
  const base64 = Buffer.from(secret).toString('base64').replace(/=+$/, '');
  return [base64, base64.replaceAll('+', '-').replaceAll('/', '_')];
}

function escapedForHtml(secret: string, codeOf: (code: number) => string): string {
  return secret.replace(/[&<>"'/=`+]/g, (sign) => codeOf(sign.charCodeAt(0)));
}

/** Matches a key as a service may write it: any of its characters may be escaped, for JSON, a URL or HTML. */
function escapedForm(key: string): RegExp {
  return new RegExp(Array.from(key, (character) => `(?:${formsOf(character)})`).join(''), 'g');
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
    // A run of backslashes must match in one way only.
    `${character === '\\' ? '' : '\\\\{0,8}'}\\${character}`,
  ].join('|');
}

/** Matches two hexadecimal digits in either case. */
function hexOf(code: number): string {
  const digits = code.toString(16).padStart(2, '0');
  return digits.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}

/** Hides a leading part of the secret where the text was truncated within it. */
function withoutPrefixes(text: string, secret: string): string {
  const start = secret.slice(0, minPrefixLength);
  let at = text.indexOf(start);
  if (at < 0) return text;
  let clean = '';
  let from = 0;
  for (; at >= 0; at = text.indexOf(start, from)) {
    let end = at + minPrefixLength;
    while (end - at < secret.length && text[end] === secret[end - at]) end += 1;
    const isCut = end >= text.length || text[end] === '…' || end - at > secret.length / 2;
    clean += text.slice(from, at) + (isCut ? replacement : text.slice(at, end));
    from = end;
  }
  return clean + text.slice(from);
}

function percentEncoded(secret: string): string {
  return secret.isWellFormed() ? encodeURIComponent(secret) : secret;
}
