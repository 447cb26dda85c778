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

export function createRedactor(): Redactor {
  let secrets: readonly string[] = [];
  const add = (secret: string) => {
    if (secret.length < shortest) return;
    const spellings = [secret, JSON.stringify(secret).slice(1, -1), percentEncoded(secret)];
    // The longest first: a secret may hold another one.
    secrets = [...new Set([...secrets, ...spellings])].toSorted((a, b) => b.length - a.length);
  };
  return {
    add,
    addUrl(url) {
      const at = url.indexOf('?');
      if (at < 0) return;
      const query = url.slice(at + 1);
      add(query);
      for (const [, value] of new URLSearchParams(query))
        if (value.length >= shortestValue) add(value);
    },
    clean: (text) => secrets.reduce((left, secret) => left.replaceAll(secret, replacement), text),
  };
}

function percentEncoded(secret: string): string {
  return secret.isWellFormed() ? encodeURIComponent(secret) : secret;
}
