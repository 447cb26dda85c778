/** Errors of flags that come before their command, or without its verb. */
import type { CommandManifest } from '../../data/command-manifest.js';
import { shellQuote } from '../../data/text.js';
import { UsageError } from '../../errors.js';
import { commandNamed, isGlobal } from '../resolve-command.js';

/** Throws UsageError, with the line that was meant, if the first flag belongs to the command after it. */
export function refuseEarlyFlag(words: readonly string[], table: CommandManifest): void {
  const at = words.findIndex((word) => /^-./.test(word) && word !== '--' && !isGlobal(word));
  if (at < 0) return;
  const before = words.slice(0, at);
  if (commandNamed(before, table)) return;
  const name = words[at]?.split('=')[0];
  for (const end of [at + 2, at + 1]) {
    const others = [...before, ...words.slice(end)];
    const flag = commandNamed(others, table)?.flags.find(
      ({ word, short }) => word === name || `-${short}` === name,
    );
    const takesNext = flag?.takes !== 'nothing' && !words[at]?.includes('=');
    if (flag === undefined || takesNext !== (end === at + 2)) continue;
    const line = ['rosterctl', ...others, ...words.slice(at, end)];
    throw new UsageError(`${name} must come after the command.`, {
      hint: `Did you mean: ${line.map(shellQuote).join(' ')}`,
    });
  }
  refuseMissingVerb(before, words.slice(at), table);
}

/** Throws UsageError if all flags after a noun alone are those of its list: `tryouts --status pending`. */
function refuseMissingVerb(
  before: readonly string[],
  flags: readonly string[],
  table: CommandManifest,
): void {
  const typed = [...before, 'list'];
  const list = commandNamed(typed, table);
  const isKnown = (flag: string) =>
    isGlobal(flag) || list?.flags.some(({ word, short }) => [word, `-${short}`].includes(flag));
  const [first = '', ...others] = flags.map((word) => word.split('=')[0] ?? word);
  if (!list || ![first, ...others.filter((word) => word.startsWith('-'))].every(isKnown)) return;
  throw new UsageError(`${first} belongs to ${list.words.join(' ')}.`, {
    hint: `Did you mean: ${['rosterctl', ...typed, ...flags].map(shellQuote).join(' ')}`,
  });
}
