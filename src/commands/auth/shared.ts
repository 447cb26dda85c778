/** Checks an API key with one documented read. */
import type { Api } from '../../api/types.js';
import type { ConnectionInput } from '../../config/connection.js';
import type { LocalContext } from '../../context.js';
import { ApiError, Failure } from '../../errors.js';

export interface KeyStatus {
  readonly profile: string;
  readonly organization: string | null;
  readonly baseUrl: string | null;
  readonly keySource: string | null;
  readonly keyStored: boolean;
  /** `unreachable` includes responses that say nothing about the key. */
  readonly check: 'ok' | '401' | '403' | 'unreachable' | 'skipped';
}

type KeyCheck =
  | { readonly check: 'ok' }
  | { readonly check: '401' | '403'; readonly error: ApiError }
  | { readonly check: 'unreachable'; readonly error: Failure };

/** Checks a key by listing the teams, a documented read (contract 4.4). */
export async function checkKey(api: Api): Promise<KeyCheck> {
  try {
    await api.send({ endpoint: 'listTeams' });
    return { check: 'ok' };
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return { check: '401', error };
    if (error instanceof ApiError && error.status === 403) return { check: '403', error };
    if (error instanceof Failure && error.kind !== 'bug') return { check: 'unreachable', error };
    throw error;
  }
}

/** Explains a 403, which does not prove that a key is invalid (contract 5.3, 5.4, 7). */
export function explainForbidden(error: ApiError): string {
  return error.serviceCode === 'featureNotAvailable'
    ? "The service knows the key, but the organization's plan does not include API access (403 featureNotAvailable)."
    : 'The service refused the list of teams (403): the key may lack that permission, or belong to another organization.';
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
