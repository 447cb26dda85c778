/** Connection flags in messages: commands in a hint name the same profile, organization and service. */

import { sandboxProfile } from '../config/choices.js';
import type { GlobalFlags } from '../config/environment.js';
import { type CommandManifest, topWords } from '../data/command-manifest.js';
import { shellQuote } from '../data/text.js';

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
  const nouns = topWords(table).filter((word) => !table.everywhere?.includes(word));
  const command = `\\brosterctl ${noLogin}(?=(?:${nouns.join('|')})\\b)(?!.*(?:--profile|--org|--base-url))`;
  return message.replace(
    new RegExp(command, 'g'),
    `rosterctl ${connection.map(shellQuote).join(' ').replaceAll('$', '$$$$')} `,
  );
}

/** A URL with a password is rejected anyway, and must not appear in a log. */
function holdsPassword(url: string): boolean {
  return /^\s*[a-z][\w+.-]*:\/\/[^/?#]*@/i.test(url);
}
