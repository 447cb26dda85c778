import { UsageError } from '../errors.js';

/** The built-in profile: the service of the sandbox, never stored. */
export const sandboxProfile = 'sandbox';

/** A name under which a profile may be stored. Throws UsageError. */
export function checkProfileName(name: string): string {
  if (name === sandboxProfile)
    throw new UsageError('The profile sandbox is built in and cannot be stored.', {
      hint: 'Choose another name. The sandbox needs no login: rosterctl -p sandbox tryouts list',
    });
  if (name === '' || name !== name.trim() || name.startsWith('-'))
    throw new UsageError('A profile name is not empty and begins with no space or dash.');
  if (/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(name))
    throw new UsageError('A profile name has no control characters.');
  if (name.length > 100) throw new UsageError('A profile name has at most 100 characters.');
  return name;
}
