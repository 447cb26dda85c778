/** A command line as typed, for what keeps it: cursors and plan files. */
import type { ManifestCommand } from '../data/command-manifest.js';
import { shellQuote } from '../data/text.js';
import type { RawValues } from './check.js';

/** A command line: its command, and the values of its arguments and flags as typed. */
export interface TypedLine {
  readonly plain: ManifestCommand;
  readonly raw: RawValues;
}

/** Returns the flags of a line in the order of its help, each with its value: `--status pending`. */
export function typedFlags(
  { plain, raw }: TypedLine,
  isWanted: (name: string) => boolean,
  arrange: (values: readonly string[]) => readonly string[] = (values) => values,
): readonly string[] {
  return plain.flags
    .filter(({ name }) => isWanted(name))
    .flatMap(({ name, word }) => {
      const given = raw[name];
      if (given === true) return [word];
      return arrange(textsOf(given)).map((value) => `${word} ${shellQuote(value)}`);
    });
}

/** Returns a line to copy: the command, its arguments and its flags, without the connection. */
export function typedCommand(line: TypedLine, isWanted: (name: string) => boolean): string {
  const { plain, raw } = line;
  const args = plain.args.flatMap(({ name }) => textsOf(raw[name]).map(shellQuote));
  return ['rosterctl', ...plain.words, ...args, ...typedFlags(line, isWanted)].join(' ');
}

function textsOf(given: RawValues[string]): readonly string[] {
  if (typeof given === 'string') return [given];
  return typeof given === 'object' ? given : [];
}
