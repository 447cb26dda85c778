import type { GlobalFlags } from '../config/flags.js';
import { shellQuote } from '../data/words.js';

/** Commands that mean another thing, or another organization, without the flags of this line. */
const named =
  /\brosterctl (?=(?:api|auth|config|docs|documents|doctor|players|runs|teams|tryouts|uploads)\b)(?!.*(?:--profile|--org|--base-url))/g;

/**
 * A message whose commands, pasted, reach the same organization: with the flags by which this line
 * chose it. What the environment says is still there when they are pasted.
 */
export function toSamePlace(message: string, flags: Partial<GlobalFlags>): string {
  const { profile, org, baseUrl } = flags;
  const words = [
    ...(profile === undefined ? [] : ['-p', profile]),
    ...(org === undefined ? [] : ['--org', org]),
    ...(baseUrl === undefined || holdsPassword(baseUrl) ? [] : ['--base-url', baseUrl]),
  ];
  if (words.length === 0) return message;
  return message.replace(
    named,
    `rosterctl ${words.map(shellQuote).join(' ').replaceAll('$', '$$$$')} `,
  );
}

/** It would be refused, and stand in a log. */
function holdsPassword(url: string): boolean {
  return /^\s*[a-z][\w+.-]*:\/\/[^/?#]*@/i.test(url);
}
