/** Colour: bold, dim and the colours of status words. */

/** Adds colour to sanitized text; each function returns it unchanged if colour is off. */
export interface Paint {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  /** Red, for the mark of an error. */
  readonly bad: (text: string) => string;
  /** Colours a word by its meaning: accepted green, rejected red. */
  readonly status: (text: string) => string;
}

/** SGR colours by meaning: good, waiting, bad, in progress, chosen, closed. */
const tones = { good: 32, waiting: 33, bad: 31, moving: 36, chosen: 94, over: 90 } as const;

const toneOf: Readonly<Record<string, keyof typeof tones>> = {
  pending: 'waiting',
  reviewing: 'moving',
  shortlisted: 'chosen',
  accepted: 'good',
  rejected: 'bad',
  withdrawn: 'over',
  '✔': 'good',
  '✘': 'bad',
  'error:': 'bad',
  changed: 'good',
  uploaded: 'good',
  deleted: 'good',
  created: 'good',
  converted: 'good',
  undone: 'good',
  'would change': 'moving',
  unchanged: 'over',
  skipped: 'over',
  failed: 'bad',
  conflict: 'bad',
  unknown: 'bad',
  not_attempted: 'waiting',
  'not sent': 'waiting',
  pass: 'good',
  ok: 'good',
  warn: 'waiting',
  fail: 'bad',
  finished: 'good',
  unfinished: 'waiting',
  replaced: 'over',
};

/** `✔` or `✘`; in ASCII `ok` or `error:`. */
export function markOf(isGood: boolean, isUtf8: boolean): string {
  if (isGood) return isUtf8 ? '✔' : 'ok';
  return isUtf8 ? '✘' : 'error:';
}

/** Creates the painter; without `color` it returns every text unchanged. */
export function createPaint(color: boolean): Paint {
  if (!color) return { bold: identity, dim: identity, bad: identity, status: identity };
  return {
    bold: (text) => sgr(1, text, 22),
    dim: (text) => sgr(2, text, 22),
    bad: (text) => sgr(tones.bad, text, 39),
    status(text) {
      const word = text.trim();
      const tone = Object.hasOwn(toneOf, word) ? toneOf[word] : undefined;
      return tone ? sgr(tones[tone], text, 39) : text;
    },
  };
}

/** Returns a text without its colours. */
export function withoutColor(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replace(/\u001b\[[\d;]*m/g, '');
}

function sgr(on: number, text: string, off: number): string {
  return text === '' ? text : `\u001b[${on}m${text}\u001b[${off}m`;
}

function identity(text: string): string {
  return text;
}
