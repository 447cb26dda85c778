/** Our own colour, put around text that is safe already. Each returns it unchanged without colour. */
export interface Paint {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  /** Coloured by what the word means: accepted green, rejected red. */
  readonly status: (text: string) => string;
}

/** What a colour means: done or good, waiting, bad, on its way, of no more concern. */
const tones = { good: 32, waiting: 33, bad: 31, moving: 36, chosen: 34, over: 90 } as const;

const toneOf: Readonly<Record<string, keyof typeof tones>> = {
  pending: 'waiting',
  reviewing: 'moving',
  shortlisted: 'chosen',
  accepted: 'good',
  rejected: 'bad',
  withdrawn: 'over',
  changed: 'good',
  would_change: 'moving',
  unchanged: 'over',
  skipped: 'over',
  failed: 'bad',
  conflict: 'bad',
  unknown: 'bad',
  not_attempted: 'waiting',
  pass: 'good',
  ok: 'good',
  warn: 'waiting',
  fail: 'bad',
  finished: 'good',
  unfinished: 'waiting',
};

/** Bold, dim and the colours of words, or none of them. */
export function createPaint(color: boolean): Paint {
  if (!color) return { bold: same, dim: same, status: same };
  return {
    bold: (text) => sgr(1, text, 22),
    dim: (text) => sgr(2, text, 22),
    status(text) {
      const word = text.trim();
      const tone = Object.hasOwn(toneOf, word) ? toneOf[word] : undefined;
      return tone ? sgr(tones[tone], text, 39) : text;
    },
  };
}

function sgr(on: number, text: string, off: number): string {
  return text === '' ? text : `\u001b[${on}m${text}\u001b[${off}m`;
}

function same(text: string): string {
  return text;
}
