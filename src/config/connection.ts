/** The connection: which base URL, organization and key to use, and if they belong together. */

import type { Environment } from '../data/environment.js';
import { andList, controlCharacter, loginCommand } from '../data/text.js';
import { ConfigError, NoKeyError, UsageError } from '../errors.js';
import { cleanKey, readKeyFile } from './api-key.js';
import { originOf, parseBaseUrl } from './base-url.js';
import type { ConfigData, StoredKey, StoredKeys } from './config-file.js';
import type { GlobalFlags } from './environment.js';
import { noBase, setConfigFolder } from './paths.js';
import { chooseOne, requireProfile } from './profiles.js';
import type { Connection, Settings } from './settings.js';
import type { ConfigStore } from './store.js';

/** The sources of a connection. */
export interface ConnectionInput {
  readonly flags: GlobalFlags;
  readonly env: Environment;
  readonly profile: Settings['profile'];
  readonly file: ConfigData;
  /** Called only if a stored key is needed: an environment key works without the file. */
  readonly keys: () => StoredKeys;
}

/** Returns the sources of the connection in force. */
export function connectionSources(context: {
  readonly flags: GlobalFlags;
  readonly env: Environment;
  readonly settings: Pick<Settings, 'profile'>;
  readonly config: ConfigStore;
}): ConnectionInput {
  const { flags, env, settings, config } = context;
  const file = config.config();
  return { flags, env, profile: settings.profile, file, keys: () => config.keys() };
}

/** A value and where it came from: "flag --org", "environment ROSTERCTL_ORG", "profile work". */
interface ConfiguredValue {
  readonly text: string;
  readonly origin: string;
}

/** The source of a key. Nothing has been read or run yet. */
type KeySource =
  | { readonly kind: 'environment'; readonly text: string; readonly origin: string }
  | { readonly kind: 'file'; readonly file: string; readonly origin: string }
  | { readonly kind: 'stored'; readonly stored: StoredKey; readonly origin: string }
  | { readonly kind: 'command'; readonly command: string; readonly origin: string };

interface ConnectionParts {
  readonly baseUrl: ConfiguredValue | undefined;
  readonly organization: ConfiguredValue | undefined;
  readonly key: KeySource | undefined;
  /** Notes for stderr about which source took precedence. */
  readonly notes: readonly string[];
}

/** Base URL and organization as configured, not yet checked. */
type ConnectionTarget = Pick<ConnectionParts, 'baseUrl' | 'organization'>;

interface TargetInput extends Pick<ConnectionInput, 'env' | 'profile' | 'file'> {
  readonly flags: Pick<GlobalFlags, 'baseUrl' | 'org'>;
}

/**
 * Finds base URL and organization: flag, then environment, then profile. The values of a profile
 * named with `-p` take precedence over the environment; the overridden variables are added to
 * `overridden`.
 */
export function findTarget(
  { flags, env, profile, file }: TargetInput,
  overridden: string[],
): ConnectionTarget {
  const stored = file.profiles.get(profile.name);
  const find = (flag: string, flagValue: string | undefined, variable: string, own?: string) => {
    if (flagValue !== undefined) return { text: flagValue, origin: `flag ${flag}` };
    const text = env[variable];
    const fromEnv = text ? { text, origin: `environment ${variable}` } : undefined;
    const fromProfile =
      own === undefined ? undefined : { text: own, origin: `profile ${profile.name}` };
    if (profile.via !== 'flag' || !fromProfile) return fromEnv ?? fromProfile;
    if (fromEnv && fromEnv.text !== own) overridden.push(variable);
    return fromProfile;
  };
  return {
    baseUrl: find('--base-url', flags.baseUrl, 'ROSTERCTL_BASE_URL', stored?.baseUrl),
    organization: find('--org', flags.org, 'ROSTERCTL_ORG', stored?.organization),
  };
}

/** Finds base URL, organization and key without checking them, with notes on precedence. */
export function findConnection(input: ConnectionInput): ConnectionParts {
  const { env, profile } = input;
  const overridden: string[] = [];
  const target = findTarget(input, overridden);
  const key = findKey(input, overridden);
  const notes =
    overridden.length > 0
      ? [`-p ${profile.name} overrides ${andList(overridden)} in the environment.`]
      : [];
  if (key?.kind === 'environment' && env['ROSTERCTL_API_KEY_FILE'])
    notes.push('ROSTERCTL_API_KEY overrides ROSTERCTL_API_KEY_FILE.');
  return { ...target, key, notes };
}

/**
 * Returns the connection to use, with every rule checked before anything is sent. Throws
 * UsageError, ConfigError, InputError (a key file), CancelledError or NoKeyError; no message
 * contains the key.
 */
export async function resolveConnection(
  input: ConnectionInput & { readonly signal: AbortSignal },
): Promise<{ readonly connection: Connection; readonly notes: readonly string[] }> {
  if (input.profile.via !== 'none') requireProfile(input.file, input.profile);
  const { baseUrl: url, organization, key: source, notes } = findConnection(input);
  const baseUrl = parseConfigured(url, parseBaseUrl);
  const organizationId = parseConfigured(organization, checkOrganization);
  const { name, via } = input.profile;
  if (!source && via === 'none' && input.file.profiles.size > 0)
    throw new NoKeyError('No profile is active, and the environment has no API key.', {
      hint: chooseOne,
    });
  if (!source && input.file.file === undefined)
    throw new NoKeyError(`No stored key can be read, because ${noBase('config')}.`, {
      hint: setConfigFolder(),
    });
  if (!source && via === 'none')
    throw new NoKeyError('No API key is stored.', {
      hint: `Log in: ${loginCommand()}\nOr try it on demo data: rosterctl -p sandbox tryouts list`,
    });
  if (!source)
    throw new NoKeyError(`Profile ${name} has no API key.`, {
      hint: `Store one: ${loginCommand(name)}`,
    });
  if (baseUrl === undefined) throw missing('base URL', name, '--base-url or ROSTERCTL_BASE_URL');
  if (organizationId === undefined) throw missing('organization', name, '--org or ROSTERCTL_ORG');
  checkBinding(source, baseUrl, organizationId, input);
  const key = await readKey(source, input);
  return { connection: { baseUrl, organizationId, key, keySource: source.origin }, notes };
}

/** Throws UsageError for flags that cannot be combined with the profile `sandbox`. */
export function checkSandboxFlags(flags: GlobalFlags): void {
  const given = flags.baseUrl !== undefined ? '--base-url' : flags.org !== undefined ? '--org' : '';
  if (given === '') return;
  throw new UsageError(
    `The profile sandbox has its own service and organization; ${given} cannot be combined with it.`,
    { hint: `Leave ${given} out, or name another profile with -p.` },
  );
}

/**
 * Finds the key: the environment first, but the profile's own key first if it was named with `-p`.
 */
function findKey(
  input: Omit<ConnectionInput, 'flags'>,
  overridden: string[],
): KeySource | undefined {
  const { env, profile } = input;
  const fromEnv = keyOfEnvironment(env);
  if (fromEnv && profile.via !== 'flag') return fromEnv;
  const own = keyOfProfile(input);
  if (own && fromEnv) overridden.push(fromEnv.origin.replace('environment ', ''));
  return own ?? fromEnv;
}

/** True if a key is stored, or if something is configured that yields one, which is neither read nor run. */
export function hasKey(input: Omit<ConnectionInput, 'flags'>): boolean {
  return findKey(input, []) !== undefined;
}

function keyOfEnvironment(env: Environment): KeySource | undefined {
  const text = env['ROSTERCTL_API_KEY'];
  if (text) return { kind: 'environment', text, origin: 'environment ROSTERCTL_API_KEY' };
  const file = env['ROSTERCTL_API_KEY_FILE'];
  return file ? { kind: 'file', file, origin: 'environment ROSTERCTL_API_KEY_FILE' } : undefined;
}

function keyOfProfile({
  profile,
  file,
  keys,
}: Omit<ConnectionInput, 'flags'>): KeySource | undefined {
  const stored = keys().get(profile.name);
  if (stored) return { kind: 'stored', stored, origin: `stored for profile ${profile.name}` };
  const command = file.profiles.get(profile.name)?.settings.get('key.command');
  return command === undefined
    ? undefined
    : { kind: 'command', command, origin: `key.command of profile ${profile.name}` };
}

/** Parses a configured value. Adds the origin of a bad value to the error. */
export function parseConfigured(
  source: ConfiguredValue | undefined,
  read: (text: string) => string,
): string | undefined {
  try {
    return source && read(source.text);
  } catch (error) {
    if (!source || !(error instanceof UsageError)) throw error;
    const { message, hint } = error;
    const text = `${message.replace(/\.$/, '')} (${source.origin}).`;
    throw source.origin.startsWith('profile ')
      ? new ConfigError(text, { hint })
      : new UsageError(text, { hint });
  }
}

function missing(what: string, profile: string, flags: string): UsageError {
  return new UsageError(`No ${what} is set for profile ${profile}.`, {
    hint: `Store one: ${loginCommand(profile)}\nOr add ${flags}.`,
  });
}

/** Returns an organization id unchanged if it can be part of a path. Throws UsageError. */
export function checkOrganization(id: string): string {
  const isImpossible = ['', '.', '..'].includes(id.trim());
  if (isImpossible || controlCharacter.test(id) || !id.isWellFormed())
    throw new UsageError(
      'The organization id is empty or contains characters that no id can have.',
      { hint: 'It comes from --org, ROSTERCTL_ORG or the profile (rosterctl profile show).' },
    );
  return id;
}

/**
 * Checks that a stored key is used only for its own origin and organization (contract 5.2). An
 * environment key belongs to whatever base URL and organization are in use.
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
        hint: `${dropHint(input, 'organization')}\nOr store a key of that organization: rosterctl auth login --profile NAME`,
      },
    );
  if (bound.origin === originOf(baseUrl)) return;
  throw new UsageError(
    `The key of profile ${name} was stored for ${bound.origin} and is not sent to ${originOf(baseUrl)}.`,
    {
      hint: `${dropHint(input, 'baseUrl')}\nOr store a key for that service: rosterctl auth login --profile NAME`,
    },
  );
}

/** Says how to drop a value that came from a flag or the environment, or from an edited profile. */
function dropHint(input: ConnectionInput, part: keyof ConnectionTarget): string {
  const [from = '', name = ''] = (findTarget(input, [])[part]?.origin ?? '').split(' ', 2);
  if (from === 'profile')
    return `Correct profile ${input.profile.name} in the file of: rosterctl config path`;
  return from === 'environment' ? `Unset ${name}.` : `Leave ${name} out.`;
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
      { hint: `Store them: ${loginCommand(profile.name)}` },
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
