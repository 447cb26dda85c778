const replacement = '[redacted]';

/** What keeps secrets out of everything that is written to stderr. */
interface Redactor {
  /** Registers a secret of at least four characters in every spelling it may take on. */
  readonly add: (secret: string) => void;
  /** Registers the query of a signed URL and each long value in it. */
  readonly addUrl: (url: string) => void;
  readonly clean: (text: string) => string;
}

/** Shorter texts are no secrets, and hiding them would garble every line. */
const shortest = 4;
/** Values of a signed URL below this are names, dates and counters. */
const shortestValue = 16;
/** So much of a secret's beginning gives it away where a text was cut in the middle of it. */
const beginning = 12;

/** Nothing is known to it yet. */
export function createRedactor(): Redactor {
  const keys = new Set<string>();
  const others = new Set<string>();
  let known: Spellings | undefined;
  const learn = (to: Set<string>, secret: string) => {
    if (secret.length < shortest) return;
    to.add(secret);
    known = undefined;
  };
  return {
    add: (secret) => learn(keys, secret),
    addUrl(url) {
      const at = url.indexOf('?');
      if (at < 0) return;
      const query = url.slice(at + 1);
      learn(others, query);
      for (const [, value] of new URLSearchParams(query))
        if (value.length >= shortestValue) learn(others, value);
    },
    clean(text) {
      // Most commands write nothing to stderr, and their start does not pay for it.
      known ??= spellings(keys, others);
      const { whole, begun } = known;
      return begun.reduce(
        withoutBeginning,
        whole.reduce((left, secret) => left.replaceAll(secret, replacement), text),
      );
    },
  };
}

interface Spellings {
  /** The longest first: a secret may hold another one. */
  readonly whole: readonly string[];
  /** Those of which a beginning is hidden, too. */
  readonly begun: readonly string[];
}

function spellings(keys: ReadonlySet<string>, others: ReadonlySet<string>): Spellings {
  const ofKeys = [...keys].flatMap((key) => [...spellingsOf(key), ...foreignSpellings(key)]);
  const all = new Set([...ofKeys, ...[...others].flatMap(spellingsOf)]);
  return {
    whole: [...all].toSorted((a, b) => b.length - a.length),
    begun: [...new Set(ofKeys)].filter(({ length }) => length > beginning),
  };
}

/** How we print a text ourselves. */
function spellingsOf(secret: string): readonly string[] {
  return [secret, JSON.stringify(secret).slice(1, -1), percentEncoded(secret)];
}

/** How a service may repeat it: other cases and sets of escapes, base64. */
function foreignSpellings(secret: string): readonly string[] {
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

/** Hides as much of the secret as a text begins that was cut. */
function withoutBeginning(text: string, secret: string): string {
  const start = secret.slice(0, beginning);
  let at = text.indexOf(start);
  if (at < 0) return text;
  let clean = '';
  let from = 0;
  for (; at >= 0; at = text.indexOf(start, from)) {
    let end = at + beginning;
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
