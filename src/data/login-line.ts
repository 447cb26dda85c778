import { shellQuote } from './words.js';

/** The profile of `auth login` without `--profile`. */
export const defaultProfile = 'default';

/** The command that stores a key for a profile: without its name it would be another one. */
export function loginLine(profile = defaultProfile): string {
  return `rosterctl auth login${profile === defaultProfile ? '' : ` --profile ${shellQuote(profile)}`}`;
}
