import type { GlobalFlags } from '../config/environment.js';
import type { PlainTable } from '../data/plain-table.js';
import { shellQuote } from '../data/text.js';
import { topWords } from './resolve-command.js';

/**
 * A message whose commands, pasted, reach the same organization: with the flags by which this line
 * chose it. What the environment says is still there when they are pasted.
 */
export function withConnectionFlags(
  message: string,
  flags: Partial<GlobalFlags>,
  table: PlainTable,
): string {
  const { profile, org, baseUrl } = flags;
  const words = [
    ...(profile === undefined ? [] : ['-p', profile]),
    ...(org === undefined ? [] : ['--org', org]),
    ...(baseUrl === undefined || holdsPassword(baseUrl) ? [] : ['--base-url', baseUrl]),
  ];
  if (words.length === 0) return message;
  const moved = topWords(table).filter((word) => !table.everywhere?.includes(word));
  const bare = `\\brosterctl (?=(?:${moved.join('|')})\\b)(?!.*(?:--profile|--org|--base-url))`;
  return message.replace(
    new RegExp(bare, 'g'),
    `rosterctl ${words.map(shellQuote).join(' ').replaceAll('$', '$$$$')} `,
  );
}

/** It would be refused, and stand in a log. */
function holdsPassword(url: string): boolean {
  return /^\s*[a-z][\w+.-]*:\/\/[^/?#]*@/i.test(url);
}
