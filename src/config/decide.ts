/** Resolves each setting from flags, environment, profile, defaults and the built-in default. */

import type { Environment } from '../data/environment.js';
import { didYouMean } from '../data/nearest.js';
import { kebab } from '../data/text.js';
import { ConfigError, UsageError } from '../errors.js';
import type { ConfigData } from './config-file.js';
import type { GlobalFlags } from './environment.js';
import { isOverride, requireKey, settingKeys } from './keys.js';
import { type DefaultedKey, namedKeys, type SettingKey } from './named-keys.js';
import type { Parse } from './parse.js';

/** One setting, as `config list` shows it. */
export interface SettingOrigin {
  readonly key: string;
  /** The normalized text; null = not set. */
  readonly value: string | null;
  /** "flag --output", "environment ROSTERCTL_OUTPUT", "profile work", "defaults" or "default". */
  readonly origin: string;
}

/** The sources of settings. */
export interface KeysInput {
  readonly flags: GlobalFlags;
  readonly env: Environment;
  readonly file: ConfigData;
  readonly profile: string;
  /**
   * Turns a bad value in the file into a note and uses the default, instead of an error: for the
   * `config` commands, which must run to fix it.
   */
  readonly tolerant?: boolean;
}

/** One place that a setting may come from. */
interface SettingSource {
  readonly text: string;
  readonly origin: string;
  readonly fail: (problem: UsageError) => UsageError | ConfigError;
}

/**
 * Resolves the named settings and the overrides in the file: flag, environment, profile, defaults,
 * built-in default. Throws UsageError or ConfigError that says where a bad value is.
 */
export function resolveKeys(input: KeysInput) {
  const notes: string[] = [];
  const origins: SettingOrigin[] = [];
  const values = new Map<string, unknown>();
  const overrides = namesInFile(input.file, input.profile).filter(isOverride).map(requireKey);
  for (const key of [...Object.values<SettingKey>(namedKeys), ...overrides]) {
    const { value, text, origin } = resolveKey(key, input, notes);
    values.set(key.name, value);
    const normalized = typeof value === 'string' ? value : text;
    origins.push({ key: key.name, value: normalized ?? null, origin });
  }
  return {
    value: valueIn(values),
    origins,
    notes,
  };
}

/** Returns the settings that the profile or the defaults hold, each once. */
function namesInFile({ profiles, defaults }: ConfigData, profile: string): readonly string[] {
  return [...new Set([...(profiles.get(profile)?.settings.keys() ?? []), ...defaults.keys()])];
}

/** Returns a typed reader of the resolved values. A key with a default always has a value. */
function valueIn(values: ReadonlyMap<string, unknown>) {
  function value<T>(key: DefaultedKey<T>): T;
  function value<T>(key: SettingKey<T>): T | undefined;
  function value(key: SettingKey): unknown {
    return values.get(key.name);
  }
  return value;
}

/**
 * Returns a note for each setting in the file that has no effect: one that is unknown, such as a typo, and
 * one of a profile among the defaults.
 */
export function ineffectiveKeys(file: ConfigData, profile: string): string[] {
  const places: readonly (readonly [string, ReadonlyMap<string, string> | undefined])[] = [
    [`profile ${profile}`, file.profiles.get(profile)?.settings],
    ['defaults', file.defaults],
  ];
  const misplaced = Object.values<SettingKey>(namedKeys)
    .filter(({ name, profileOnly }) => profileOnly && file.defaults.has(name))
    .map(
      ({ name }) =>
        `${file.file}: ${name} has no effect in the defaults, because it belongs to one profile.`,
    );
  const unknown = places.flatMap(([place, settings]) =>
    [...(settings?.keys() ?? [])]
      .filter((name) => !Object.hasOwn(namedKeys, name) && !isOverride(name))
      .map((name) => {
        const suggestion = didYouMean(name, [...settingKeys().keys()]);
        return `${file.file}: unknown setting "${name}" (${place}); it has no effect.${suggestion}`;
      }),
  );
  return [...unknown, ...misplaced];
}

/** Parses the value of a flag or variable. Throws UsageError that starts with its name. */
export function readFlag<T>(name: string, text: string, parse: Parse<T>): T {
  try {
    return parse(text);
  } catch (error) {
    throw error instanceof UsageError ? failNamed(name)(error) : error;
  }
}

function resolveKey(key: SettingKey, input: KeysInput, notes: string[]) {
  for (const { text, origin, fail } of sources(key, input)) {
    try {
      return { value: key.parse(text), text, origin };
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      const failure = fail(error);
      if (!input.tolerant || failure instanceof UsageError) throw failure;
      notes.push(failure.message);
    }
  }
  return { value: undefined, text: undefined, origin: 'default' };
}

function* sources(
  key: SettingKey,
  { flags, env, file, profile }: KeysInput,
): Generator<SettingSource> {
  const flag = key.flag && flags[key.flag];
  const word = key.flag && `--${kebab(key.flag)}`;
  if (flag !== undefined && word)
    yield { text: flag, origin: `flag ${word}`, fail: failNamed(word) };
  yield* variable(key.env, env, key);
  const own = file.profiles.get(profile)?.settings.get(key.name);
  if (own !== undefined)
    yield {
      text: own,
      origin: `profile ${profile}`,
      fail: failInFile(key, file, `profile ${profile}`),
    };
  const shared = key.profileOnly ? undefined : file.defaults.get(key.name);
  if (shared !== undefined)
    yield { text: shared, origin: 'defaults', fail: failInFile(key, file, 'the defaults') };
  yield* variable(key.fallbackEnv, env, key);
  if (key.default !== undefined)
    yield { text: key.default, origin: 'default', fail: failNamed(key.name) };
}

function* variable(
  name: string | undefined,
  env: Environment,
  { emptyCounts }: SettingKey,
): Generator<SettingSource> {
  const text = name && env[name];
  if (name && (text || (text === '' && emptyCounts)))
    yield { text, origin: `environment ${name}`, fail: failNamed(name) };
}

function failNamed(name: string) {
  return ({ message, hint }: UsageError) => new UsageError(`${name}: ${message}`, { hint });
}

function failInFile(key: SettingKey, file: ConfigData, place: string) {
  return ({ message, hint }: UsageError) =>
    new ConfigError(`${file.file}: ${key.name} in ${place}: ${message}`, {
      hint: `${hint ? `${hint}\n` : ''}Fix it: rosterctl config set ${key.name} VALUE`,
    });
}
