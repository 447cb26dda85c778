/** A command line as typed, for what keeps it: cursors and plan files. */
import type { ManifestCommand } from '../data/command-manifest.js';
import { shellQuote } from '../data/text.js';
import type { ParsedCommand, RawValues } from './check.js';

/** A command line: its command, and the values of its arguments and flags as typed. */
export type TypedLine = Pick<ParsedCommand, 'command' | 'values'>;

/** Returns the flags of a line in the order of its help, each with its value: `--status pending`. */
export function typedFlags(
  {
    command,
    values,
  }: { readonly command: Pick<ManifestCommand, 'flags'>; readonly values: RawValues },
  isWanted: (name: string) => boolean = () => true,
  arrange: (texts: readonly string[]) => readonly string[] = (texts) => texts,
): readonly string[] {
  return command.flags
    .filter(({ name }) => isWanted(name))
    .flatMap(({ name, word }) => {
      const given = values[name];
      if (given === true) return [word];
      return arrange(textsOf(given)).map((value) => `${word} ${shellQuote(value)}`);
    });
}

/** Returns a line to copy: the command, its arguments and its flags, without the connection. */
export function typedCommand(line: TypedLine, isWanted?: (name: string) => boolean): string {
  const { command, values } = line;
  const args = command.args.flatMap(({ name }) => textsOf(values[name]).map(shellQuote));
  return ['rosterctl', ...command.words, ...args, ...typedFlags(line, isWanted)].join(' ');
}

function textsOf(given: RawValues[string]): readonly string[] {
  if (typeof given === 'string') return [given];
  return typeof given === 'object' ? given : [];
}
