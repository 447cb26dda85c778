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

/** SGR codes by meaning: good, waiting, bad, in progress, chosen, closed. Colour 90 is the background of Solarized. */
const tones = { good: 32, waiting: 33, bad: 31, moving: 36, chosen: 94, over: 2 } as const;

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
    bold: (text) => sgr(1, text),
    dim: (text) => sgr(2, text),
    bad: (text) => sgr(tones.bad, text),
    status(text) {
      const word = text.trim();
      const tone = Object.hasOwn(toneOf, word) ? toneOf[word] : undefined;
      return tone ? sgr(tones[tone], text) : text;
    },
  };
}

/** Returns a text without its colours. */
export function withoutColor(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replace(/\u001b\[[\d;]*m/g, '');
}

/** Adds an attribute: 1 and 2 are intensities, which end by 22; a colour ends by 39. */
function sgr(on: number, text: string): string {
  return text === '' ? text : `\u001b[${on}m${text}\u001b[${on > 2 ? 39 : 22}m`;
}

function identity(text: string): string {
  return text;
}
