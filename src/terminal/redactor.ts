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
    const { complete, truncatable } = encodings;
    return truncatable.reduce(
      withoutPrefixes,
      complete.reduce((result, secret) => result.replaceAll(secret, replacement), text),
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

interface Encodings {
  /** Longest first, because a secret may contain another one. */
  readonly complete: readonly string[];
  /** Secrets of which a leading part is hidden, too. */
  readonly truncatable: readonly string[];
}

function allEncodings(keys: ReadonlySet<string>, others: ReadonlySet<string>): Encodings {
  const ofKeys = [...keys].flatMap((key) => [...ownEncodings(key), ...serviceEncodings(key)]);
  const all = new Set([...ofKeys, ...[...others].flatMap(ownEncodings)]);
  return {
    complete: [...all].toSorted((a, b) => b.length - a.length),
    truncatable: [...new Set(ofKeys)].filter(({ length }) => length > minPrefixLength),
  };
}

/** The encodings in which our own code prints a text. */
function ownEncodings(secret: string): readonly string[] {
  return [secret, JSON.stringify(secret).slice(1, -1), percentEncoded(secret)];
}

/** The encodings in which a service may repeat it: other escapes and cases, base64. */
function serviceEncodings(secret: string): readonly string[] {
  const base64 = Buffer.from(secret).toString('base64').replace(/=+$/, '');
  return [
    percentEncoded(secret).replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    JSON.stringify(secret).slice(1, -1).replaceAll('/', '\\/'),
    escapedForHtml(secret, (code) => `&#x${code.toString(16).toUpperCase()};`),
    escapedForHtml(secret, (code) => `&#x${code.toString(16)};`),
    escapedForHtml(secret, (code) => `&#${code};`),
    base64,
    base64.replaceAll('+', '-').replaceAll('/', '_'),
  ];
}

function escapedForHtml(secret: string, codeOf: (code: number) => string): string {
  return secret.replace(/[&<>"'/=`+]/g, (sign) => codeOf(sign.charCodeAt(0)));
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
