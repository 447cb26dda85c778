/** Command lines to paste: one as typed, and those in a message, which need the connection of this one. */

import { sandboxProfile } from '../config/choices.js';
import type { GlobalFlags } from '../config/environment.js';
import {
  type CommandManifest,
  findGroup,
  type ManifestCommand,
  topWords,
} from '../data/command-manifest.js';
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

/**
 * Adds this command line's connection flags to the commands in a message, so that they reach the same
 * organization when pasted. Environment variables still apply then and are not added.
 */
export function withConnectionFlags(
  message: string,
  flags: Partial<GlobalFlags>,
  table: CommandManifest,
): string {
  const { profile, org, baseUrl } = flags;
  const connection = [
    ...(profile === undefined ? [] : ['-p', profile]),
    ...(org === undefined ? [] : ['--org', org]),
    ...(baseUrl === undefined || holdsPassword(baseUrl) ? [] : ['--base-url', baseUrl]),
  ];
  if (connection.length === 0) return message;
  // The sandbox's profile is never stored, and a login with it is refused.
  const noLogin = profile === sandboxProfile ? '(?!auth login\\b)' : '';
  const nouns = topWords(table).filter(
    (word) => !table.withoutConnection?.includes(findGroup(word, table)?.word ?? word),
  );
  // In quotes, such words are a value.
  const before = `(?:[^'"\\n]|'[^'\\n]*'|"[^"\\n]*")*`;
  const command = `\\brosterctl ${noLogin}(?=(?:${nouns.join('|')})\\b)(?!${before}(?: -p |--profile|--org|--base-url))`;
  return message.replace(
    new RegExp(command, 'g'),
    `rosterctl ${connection.map(shellQuote).join(' ').replaceAll('$', '$$$$')} `,
  );
}

/** A URL with a password is rejected anyway, and must not appear in a log. */
function holdsPassword(url: string): boolean {
  return /^\s*[a-z][\w+.-]*:\/\/[^/?#]*@/i.test(url);
}
