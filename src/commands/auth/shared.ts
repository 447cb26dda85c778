/** Shared by the `auth` commands: the status of a key, and the connection in force. */
import type { ConnectionInput } from '../../config/connection.js';
import type { LocalContext } from '../../context.js';

export interface KeyStatus {
  readonly profile: string;
  readonly organization: string | null;
  readonly baseUrl: string | null;
  readonly keySource: string | null;
  readonly keyStored: boolean;
  /** `unreachable` includes responses that say nothing about the key. */
  readonly check: 'ok' | '401' | '403' | 'unreachable' | 'skipped';
}

/** Returns the unresolved connection of the profile in force. */
export function connectionOf(context: LocalContext): ConnectionInput {
  return {
    flags: context.flags,
    env: context.env,
    profile: context.settings.profile,
    file: context.config.config(),
    keys: () => context.config.keys(),
  };
}
