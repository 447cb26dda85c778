import type { PlainCommand, PlainParam } from '../data/plain-table.js';
import { didYouMean } from '../data/nearest.js';
import { orList } from '../data/words.js';
import { UsageError } from '../errors.js';
import type { RawValues } from './parsed.js';

/** Choices, required flags and flags that exclude each other: told without loading the command. */
export function checkAgainstTable(command: PlainCommand, values: RawValues): void {
  const help = `See: rosterctl ${command.words.join(' ')} --help`;
  const given = (name: string) => {
    const value = values[name];
    return value !== undefined && value !== false && !(Array.isArray(value) && value.length === 0);
  };
  const wordOf = (name: string) =>
    [...command.args, ...command.flags].find((entry) => entry.name === name)?.word ?? name;
  for (const flag of [...command.args, ...command.flags]) {
    if (flag.required && !given(flag.name) && flag.word.startsWith('--'))
      throw new UsageError(`${flag.word} is missing.`, { hint: help });
    if (flag.choices) for (const word of [values[flag.name]].flat()) checkChoice(flag, word, help);
  }
  for (const set of command.needsOneOf)
    if (!set.some(given))
      throw new UsageError(`Say what to do: ${orList(set.map(wordOf))}.`, { hint: help });
  for (const set of command.excludes) {
    const both = set.filter(given);
    if (both.length > 1)
      throw new UsageError(`${both.map(wordOf).join(' and ')} cannot be given together.`, {
        hint: help,
      });
  }
}

/** A word of a fixed set; UsageError with the nearest right one, naming all. */
export function checkChoice(
  flag: Pick<PlainParam, 'word' | 'choices'>,
  word: unknown,
  hint: string,
): void {
  if (typeof word !== 'string' || !flag.choices || flag.choices.includes(word)) return;
  const meant = didYouMean(word, flag.choices);
  throw new UsageError(
    `${flag.word} cannot be "${word}".${meant} It is one of: ${flag.choices.join(', ')}.`,
    { hint },
  );
}
