/** Suggestions for mistyped words. */
import type { JsonObject } from './json.js';
import { quotedIfSpaced } from './text.js';

/**
 * Returns the candidate that `word` was most likely meant to be, or undefined if none is near: at
 * most two letters may differ, of short words one and of long ones a quarter (a swap of neighbours
 * counts once). Ignores case and the dashes of flags.
 */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const typed = lettersOf(word);
  let best: string | undefined;
  let bestDistance = Infinity;
  for (const candidate of candidates) {
    const distance = fewOtherLetters(typed, lettersOf(candidate), mostTypos);
    if (distance === undefined || distance >= bestDistance) continue;
    best = candidate;
    bestDistance = distance;
  }
  if (best !== undefined || typed.length < 2) return best;
  // A prefix differs in more letters than a typo, but still shows what was meant.
  return candidates.find((candidate) => lettersOf(candidate).startsWith(typed));
}

/** Returns ` Did you mean accepted?`, or nothing; a suggestion with spaces is quoted. */
export function didYouMean(word: string, known: readonly string[]): string {
  const near = nearest(
    word,
    known.filter((name) => name !== word),
  );
  return near === undefined ? '' : ` Did you mean ${quotedIfSpaced(near)}?`;
}

/** Fields to set, as far as no record has such a field (whose name may have dots). */
export class AbsentFields {
  private readonly unseen: Set<string>;
  private readonly fields = new Set<string>();

  constructor(private readonly all: ReadonlySet<string>) {
    this.unseen = new Set(all);
  }

  observe(record: JsonObject): void {
    if (this.unseen.size === 0) return;
    for (const field of Object.keys(record)) {
      this.unseen.delete(field.split('.', 1)[0] ?? field);
      if (!this.all.has(field)) this.fields.add(field);
    }
  }

  /** The fields that are probably misspelt, each with the one that was meant. */
  misspelt(): readonly (readonly [field: string, meant: string])[] {
    return [...this.unseen].flatMap((field) => {
      const near = nearest(field, [...this.fields]);
      return near === undefined ? [] : [[field, near] as const];
    });
  }
}

/** Above this many candidates, only those that begin like the word are compared letter by letter. */
const mostCompared = 20_000;

/**
 * Returns the candidates nearest to a word, best first, at most `count`: those that contain it, then
 * those with few other letters. Ignores case.
 */
export function nearestFew(
  word: string,
  candidates: readonly string[],
  count: number,
): readonly string[] {
  const typed = word.toLowerCase();
  const start = candidates.length > mostCompared ? typed.slice(0, 2) : '';
  const best: { readonly candidate: string; readonly distance: number }[] = [];
  for (const candidate of candidates) {
    const letters = candidate.toLowerCase();
    const distance = letters.startsWith(start)
      ? fewOtherLetters(typed, letters, mostOthers)
      : undefined;
    const rank = typed.length > 1 && letters.includes(typed) ? 0 : distance;
    const last = best[count - 1];
    if (rank === undefined || (last && rank >= last.distance)) continue;
    if (best.some((other) => other.candidate === candidate)) continue;
    const place = best.findIndex((other) => rank < other.distance);
    best.splice(place < 0 ? best.length : place, 0, { candidate, distance: rank });
    best.length = Math.min(best.length, count);
  }
  return best.map(({ candidate }) => candidate);
}

/** A name that somebody remembers may differ in a third of its letters. */
const mostOthers = (length: number) => Math.floor(length / 3);

/** A third of ten letters would make `--no-pager` of `--to-player`. */
const mostTypos = (length: number) => Math.max(Math.min(2, length / 3), Math.floor(length / 4));

/** The distance of two words; undefined if more than so many of their letters differ, one at least. */
function fewOtherLetters(
  typed: string,
  letters: string,
  mostOf: (length: number) => number,
): number | undefined {
  const limit = Math.max(1, Math.floor(mostOf(Math.max(typed.length, letters.length))));
  // Long words are not typos. This also bounds the work.
  if (typed.length > 100 || Math.abs(letters.length - typed.length) > limit) return undefined;
  const distance = editDistance(typed, letters, limit);
  // A word without a single letter in common is not a suggestion.
  return distance > limit || distance >= letters.length ? undefined : distance;
}

function lettersOf(word: string): string {
  return word.toLowerCase().replace(/^--?/, '');
}

/**
 * Counts insertions, deletions, replacements and swaps of neighbours (restricted
 * Damerau-Levenshtein); Infinity once they are more than `limit`.
 */
function editDistance(a: string, b: string, limit: number): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (same ? 0 : 1),
      );
      const swapped =
        row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) cost = Math.min(cost, at(beforeLast, column - 2) + 1);
      current.push(cost);
    }
    // A row is made from the two before it.
    if (Math.min(...last) > limit && Math.min(...current) > limit) return Infinity;
    beforeLast = last;
    last = current;
  }
  return at(last, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Infinity;
}
