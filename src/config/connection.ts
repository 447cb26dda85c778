import { loginCommand } from '../data/text.js';
import { ConfigError, NoKeyError, UsageError } from '../errors.js';
import { cleanKey, readKeyFile } from './api-key.js';
import { originOf, parseBaseUrl } from './base-url.js';
import type { ConfigData, StoredKey, StoredKeys } from './config-file.js';
import type { GlobalFlags } from './environment.js';
import type { Environment } from './paths.js';
import { chooseOne, requireProfile } from './profiles.js';
import type { Connection, Settings } from './settings.js';

/** What a connection is made of. */
export interface ConnectionInput {
  readonly flags: GlobalFlags;
  readonly env: Environment;
  readonly profile: Settings['profile'];
  readonly file: ConfigData;
  /** Asked for only when a stored key is wanted: an environment key works without the file. */
  readonly keys: () => StoredKeys;
}

/** A value and where it came from: "flag --org", "environment ROSTERCTL_ORG", "profile work". */
interface Found {
  readonly text: string;
  readonly origin: string;
}

/** Where a key would come from; nothing is read or run yet. */
type KeySource =
  | { readonly kind: 'environment'; readonly text: string; readonly origin: string }
  | { readonly kind: 'file'; readonly file: string; readonly origin: string }
  | { readonly kind: 'stored'; readonly stored: StoredKey; readonly origin: string }
  | { readonly kind: 'command'; readonly command: string; readonly origin: string };

/** A connection as far as it is configured. */
interface ConnectionParts {
  readonly baseUrl: Found | undefined;
  readonly organization: Found | undefined;
  readonly key: KeySource | undefined;
  /** Sentences for stderr: what beat what. */
  readonly notes: readonly string[];
}

/** Base URL and organization as configured, not judged yet. */
export type ConnectionTarget = Pick<ConnectionParts, 'baseUrl' | 'organization'>;

/**
 * Finds base URL and organization: flag, environment, profile; but what a profile named with `-p`
 * has beats the environment, and the variables that it beat are added to `beaten`.
 */
export function findTarget(
  { flags, env, profile, file }: Omit<ConnectionInput, 'keys'>,
  beaten: string[],
): ConnectionTarget {
  const stored = file.profiles.get(profile.name);
  const find = (flag: string, word: string | undefined, variable: string, own?: string) => {
    if (word !== undefined) return { text: word, origin: `flag ${flag}` };
    const text = env[variable];
    const fromEnv = text ? { text, origin: `environment ${variable}` } : undefined;
    const fromProfile =
      own === undefined ? undefined : { text: own, origin: `profile ${profile.name}` };
    if (profile.via !== 'flag' || !fromProfile) return fromEnv ?? fromProfile;
    if (fromEnv && fromEnv.text !== own) beaten.push(variable);
    return fromProfile;
  };
  return {
    baseUrl: find('--base-url', flags.baseUrl, 'ROSTERCTL_BASE_URL', stored?.baseUrl),
    organization: find('--org', flags.org, 'ROSTERCTL_ORG', stored?.organization),
  };
}

/** Finds base URL, organization and key without judging them, with a note on what beat what. */
export function findConnection(input: ConnectionInput): ConnectionParts {
  const { env, profile } = input;
  const beaten: string[] = [];
  const place = findTarget(input, beaten);
  const key = findKey(input, beaten);
  const notes =
    beaten.length > 0
      ? [`-p ${profile.name} was named, so ${beaten.join(', ')} in the environment is not used.`]
      : [];
  if (key?.kind === 'environment' && env['ROSTERCTL_API_KEY_FILE'])
    notes.push('ROSTERCTL_API_KEY is used, not ROSTERCTL_API_KEY_FILE.');
  return { ...place, key, notes };
}

/**
 * The connection to use, every rule checked before anything is sent. Throws UsageError, ConfigError,
 * InputError (a key file), CancelledError or NoKeyError; no message holds the key.
 */
export async function resolveConnection(
  input: ConnectionInput & { readonly signal: AbortSignal },
): Promise<{ readonly connection: Connection; readonly notes: readonly string[] }> {
  if (input.profile.via !== 'none') requireProfile(input.file, input.profile);
  const { baseUrl: url, organization, key: found, notes } = findConnection(input);
  const baseUrl = judged(url, parseBaseUrl);
  const organizationId = judged(organization, checkOrganization);
  const { name, via } = input.profile;
  if (!found && via === 'none' && input.file.profiles.size > 0)
    throw new NoKeyError('No profile is active, and the environment has no API key.', {
      hint: chooseOne,
    });
  if (!found)
    throw new NoKeyError(`There is no API key for profile ${name}.`, {
      hint: `Store one: ${loginCommand(name)}`,
    });
  if (baseUrl === undefined) throw missing('base URL', name, '--base-url or ROSTERCTL_BASE_URL');
  if (organizationId === undefined) throw missing('organization', name, '--org or ROSTERCTL_ORG');
  checkBinding(found, baseUrl, organizationId, input);
  const key = await readKey(found, input);
  return { connection: { baseUrl, organizationId, key, keySource: found.origin }, notes };
}

/** For the profile `sandbox`: what cannot stand beside it. Throws UsageError. */
export function checkSandboxFlags(flags: GlobalFlags): void {
  const given = flags.baseUrl !== undefined ? '--base-url' : flags.org !== undefined ? '--org' : '';
  if (given === '') return;
  throw new UsageError(
    `The profile sandbox has its own service and organization; ${given} cannot stand beside it.`,
    {
      hint: `Leave ${given} out, or name another profile with -p.`,
    },
  );
}

/** The key is in the environment or stored; a profile's own beats the environment only with `-p`. */
function findKey(input: ConnectionInput, beaten: string[]): KeySource | undefined {
  const { env, profile } = input;
  const fromEnv = keyOfEnvironment(env);
  if (fromEnv && profile.via !== 'flag') return fromEnv;
  const own = keyOfProfile(input);
  if (own && fromEnv) beaten.push(fromEnv.origin.replace('environment ', ''));
  return own ?? fromEnv;
}

function keyOfEnvironment(env: Environment): KeySource | undefined {
  const text = env['ROSTERCTL_API_KEY'];
  if (text) return { kind: 'environment', text, origin: 'environment ROSTERCTL_API_KEY' };
  const file = env['ROSTERCTL_API_KEY_FILE'];
  return file ? { kind: 'file', file, origin: 'environment ROSTERCTL_API_KEY_FILE' } : undefined;
}

/** The environment as if it held no key. */
export function withoutKey(env: Environment): Environment {
  return { ...env, ROSTERCTL_API_KEY: undefined, ROSTERCTL_API_KEY_FILE: undefined };
}

function keyOfProfile({ profile, file, keys }: ConnectionInput): KeySource | undefined {
  const stored = keys().get(profile.name);
  if (stored) return { kind: 'stored', stored, origin: `stored for profile ${profile.name}` };
  const command = file.profiles.get(profile.name)?.settings.get('key.command');
  return command === undefined
    ? undefined
    : { kind: 'command', command, origin: `key.command of profile ${profile.name}` };
}

/** Reads a value that was found; a bad one is told with where it came from. */
function judged(found: Found | undefined, read: (text: string) => string): string | undefined {
  try {
    return found && read(found.text);
  } catch (error) {
    if (!found || !(error instanceof UsageError)) throw error;
    const { message, hint } = error;
    const told = `${message} (${found.origin})`;
    throw found.origin.startsWith('profile ')
      ? new ConfigError(told, { hint })
      : new UsageError(told, { hint });
  }
}

function missing(what: string, profile: string, means: string): UsageError {
  return new UsageError(`No ${what} is set for profile ${profile}.`, {
    hint: `Store one with: ${loginCommand(profile)}   (or give ${means})`,
  });
}

/** An organization id that can stand in a path; sent as it is. Throws UsageError. */
export function checkOrganization(id: string): string {
  if (id.trim() === '' || ['.', '..'].includes(id.trim()) || /\p{Cc}|\p{Cs}/u.test(id))
    throw new UsageError('The organization id is empty or holds what no id can hold.', {
      hint: 'It comes from --org, ROSTERCTL_ORG or the profile (rosterctl profile show).',
    });
  return id;
}

/**
 * A key goes only to the origin and organization it was stored for (contract 5.2). An environment
 * key belongs to whatever stands beside it.
 */
function checkBinding(
  key: KeySource,
  baseUrl: string,
  organizationId: string,
  input: ConnectionInput,
): void {
  const bound = bindingOf(key, input);
  if (!bound) return;
  const { name } = input.profile;
  if (bound.organization !== organizationId)
    throw new UsageError(
      `The key of profile ${name} belongs to organization ${bound.organization}, not to ${organizationId}.`,
      {
        hint: `${without(input, 'organization')}, or store a key of that organization in a profile of its own: rosterctl auth login --profile NAME`,
      },
    );
  if (bound.origin === originOf(baseUrl)) return;
  throw new UsageError(
    `The key of profile ${name} was stored for ${bound.origin} and is not sent to ${originOf(baseUrl)}.`,
    {
      hint: `${without(input, 'baseUrl')}, or store a key for that service in a profile of its own: rosterctl auth login --profile NAME`,
    },
  );
}

/** How to do without a value that came from elsewhere than the profile. */
function without(input: ConnectionInput, part: keyof ConnectionTarget): string {
  const [from = '', name = ''] = (findTarget(input, [])[part]?.origin ?? '').split(' ', 2);
  return from === 'environment' ? `Unset ${name}` : `Leave ${name} out`;
}

function bindingOf(
  key: KeySource,
  { profile, file }: ConnectionInput,
): { readonly origin: string; readonly organization: string } | undefined {
  if (key.kind === 'stored') return key.stored;
  if (key.kind !== 'command') return undefined;
  const { baseUrl, organization } = file.profiles.get(profile.name) ?? {};
  if (baseUrl === undefined || organization === undefined)
    throw new ConfigError(
      `key.command of profile ${profile.name} needs the profile's own base URL and organization.`,
      {
        hint: `Store them: ${loginCommand(profile.name)}`,
      },
    );
  return { origin: originOf(parseBaseUrl(baseUrl)), organization };
}

async function readKey(
  key: KeySource,
  { env, profile, signal }: ConnectionInput & { signal: AbortSignal },
): Promise<string> {
  switch (key.kind) {
    case 'environment':
      return cleanKey(key.text, 'ROSTERCTL_API_KEY');
    case 'file':
      return readKeyFile(key.file, 'ROSTERCTL_API_KEY_FILE', signal);
    case 'stored':
      return cleanKey(key.stored.key, `The key ${key.origin}`);
    case 'command':
      return (await import('./key-command.js')).runKeyCommand(key.command, profile.name, {
        env,
        signal,
      });
    default:
      return key satisfies never;
  }
}
