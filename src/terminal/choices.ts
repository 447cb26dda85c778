/** Lists to choose from: which choices a typed text finds. */

/** One line of a list to choose from. */
export interface Choice<T extends string = string> {
  readonly value: T;
  readonly label: string;
  /** Further text that a search finds, such as an e-mail address. */
  readonly keywords?: string | undefined;
}

/** Returns the choices that hold every typed word, in any case; all of them if nothing was typed. */
export function matchChoices<C extends Choice>(
  choices: readonly C[],
  typed: string | undefined,
): readonly C[] {
  const words = folded(typed ?? '')
    .split(/\s+/)
    .filter((word) => word !== '');
  if (words.length === 0) return choices;
  return choices.filter(({ value, label, keywords = '' }) => {
    const text = folded(`${value}\n${label}\n${keywords}`);
    return words.every((word) => text.includes(word));
  });
}

function folded(text: string): string {
  return text.normalize('NFC').toLowerCase();
}
