/** Typed answers: yes or no, and which choices of a list a text finds. */
import { foldCase } from '../data/text.js';

/** One line of a list to choose from. */
export interface Choice<T extends string = string> {
  readonly value: T;
  readonly label: string;
  /** Further text that a search finds, such as an e-mail address. */
  readonly keywords?: string | undefined;
  /** How the answer reads once it is chosen; by default its value. */
  readonly chosen?: string | undefined;
}

/** Returns what was typed at a question whose default is No; undefined for anything else. */
export function readYesNo(typed: string): boolean | undefined {
  if (/^y(es)?$/i.test(typed)) return true;
  return /^(no?)?$/i.test(typed) ? false : undefined;
}

/**
 * Returns the choices that hold every typed word, in any case; all of them if nothing was typed.
 * Those that hold the words side by side, as in a name, come first, so that Enter takes the likely one.
 */
export function matchChoices<C extends Choice>(
  choices: readonly C[],
  typed: string | undefined,
): readonly C[] {
  const words = foldCase(typed ?? '')
    .split(/\s+/)
    .filter((word) => word !== '');
  if (words.length === 0) return choices;
  const phrase = words.join(' ');
  return choices
    .map((choice) => ({ choice, text: searchText(choice) }))
    .filter(({ text }) => words.every((word) => text.includes(word)))
    .map(({ choice, text }) => ({ choice, rank: rankOf(text, phrase) }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ choice }) => choice);
}

function searchText({ value, label, keywords = '' }: Choice): string {
  return ` ${foldCase(`${value} ${label} ${keywords}`).replace(/\s+/g, ' ')} `;
}

/** 0 for whole words side by side, 1 for a part of them, 2 for words apart. */
function rankOf(text: string, phrase: string): number {
  if (text.includes(` ${phrase} `)) return 0;
  return text.includes(phrase) ? 1 : 2;
}
