const replacement = '[redacted]';

/** What keeps secrets out of everything that is written to stderr. */
export interface Redactor {
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
  let secrets: readonly string[] = [];
  const beginnings = new Set<string>();
  const add = (spellings: readonly string[]) => {
    const known = spellings.filter((spelling) => spelling.length >= shortest);
    // The longest first: a secret may hold another one.
    secrets = [...new Set([...secrets, ...known])].toSorted((a, b) => b.length - a.length);
  };
  return {
    add(secret) {
      if (secret.length < shortest) return;
      const spellings = [...spellingsOf(secret), ...foreignSpellings(secret)];
      add(spellings);
      for (const spelling of spellings) if (spelling.length > beginning) beginnings.add(spelling);
    },
    addUrl(url) {
      const at = url.indexOf('?');
      if (at < 0) return;
      const query = url.slice(at + 1);
      const values = [...new URLSearchParams(query)].map(([, value]) => value);
      for (const each of [query, ...values.filter(({ length }) => length >= shortestValue)])
        add(spellingsOf(each));
    },
    clean(text) {
      const whole = secrets.reduce((left, secret) => left.replaceAll(secret, replacement), text);
      return [...beginnings].reduce(withoutBeginning, whole);
    },
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
