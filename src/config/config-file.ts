/** The format of `config.json` and `credentials.json`. */
import { isObject, type JsonObject } from '../data/json.js';
import { ConfigError } from '../errors.js';

/** One stored profile; its settings are text, by key. */
export interface StoredProfile {
  readonly baseUrl: string | undefined;
  readonly organization: string | undefined;
  readonly settings: ReadonlyMap<string, string>;
}

/** The content of `config.json`. */
export interface ConfigData {
  /** The path, for messages; undefined if there is no folder to store in. */
  readonly file: string | undefined;
  readonly activeProfile: string | undefined;
  readonly defaults: ReadonlyMap<string, string>;
  readonly profiles: ReadonlyMap<string, StoredProfile>;
  /** Unknown keys, maybe of a newer version; kept when writing. */
  readonly rest: JsonObject;
}

/** A stored key and what it is bound to. */
export interface StoredKey {
  readonly key: string;
  readonly origin: string;
  readonly organization: string;
}

/** The content of `credentials.json`, by profile. */
export type StoredKeys = ReadonlyMap<string, StoredKey>;

/** The content of both files. */
export interface Stored {
  readonly config: ConfigData;
  readonly keys: StoredKeys;
}

export function emptyConfig(file: string | undefined): ConfigData {
  return { file, activeProfile: undefined, defaults: new Map(), profiles: new Map(), rest: {} };
}

/** Removes the copies of keys that a killed `profile rename` left: under a name without a profile. */
export function withoutLeftovers({ config, keys }: Stored): Stored {
  const entries = [...keys].filter(
    ([name, { key, origin, organization }]) =>
      config.profiles.has(name) ||
      ![...keys].some(
        ([other, used]) =>
          config.profiles.has(other) &&
          used.key === key &&
          used.origin === origin &&
          used.organization === organization,
      ),
  );
  return { config, keys: new Map(entries) };
}

/** Parses the text of `config.json`. Throws ConfigError with the path and the fix. */
export function parseConfigFile(text: string, file: string): ConfigData {
  const { activeProfile, defaults, profiles, ...rest } = parseObject(text, file);
  return {
    file,
    activeProfile: optionalText(activeProfile, 'activeProfile', file),
    defaults: settingsOf(optionalObject(defaults, 'defaults', file), 'defaults', file),
    profiles: new Map(
      Object.entries(optionalObject(profiles, 'profiles', file)).map(([name, value]) => [
        name,
        parseProfile(value, `profiles.${name}`, file),
      ]),
    ),
    rest,
  };
}

/**
 * Parses the text of `credentials.json`. Throws ConfigError; no message contains any part of a key.
 */
export function parseCredentialsFile(text: string, file: string): StoredKeys {
  return new Map(
    Object.entries(parseObject(text, file)).map(([name, value]) => {
      const { key, origin, organization } = isObject(value) ? value : {};
      if (typeof key !== 'string' || typeof origin !== 'string' || typeof organization !== 'string')
        throw invalidFile(
          file,
          `cannot be used: the entry "${name}" is not {key, origin, organization}`,
        );
      return [name, { key, origin, organization }];
    }),
  );
}

/** Returns the JSON to store in `config.json`. */
export function configToJson(data: ConfigData): JsonObject {
  return {
    ...(data.activeProfile !== undefined && { activeProfile: data.activeProfile }),
    defaults: Object.fromEntries(data.defaults),
    profiles: Object.fromEntries(
      [...data.profiles].map(([name, { baseUrl, organization, settings }]) => [
        name,
        {
          ...(baseUrl !== undefined && { baseUrl }),
          ...(organization !== undefined && { organization }),
          ...Object.fromEntries(settings),
        },
      ]),
    ),
    ...data.rest,
  };
}

/** Parses JSON, ignoring the byte order mark that some editors write. */
export function parseJsonText(text: string): unknown {
  return JSON.parse(text.replace(/^\uFEFF/, ''));
}

function parseProfile(value: unknown, name: string, file: string): StoredProfile {
  if (!isObject(value)) throw invalidFile(file, `cannot be used: ${name} is not an object`);
  const { baseUrl, organization, ...settings } = value;
  return {
    baseUrl: optionalText(baseUrl, `${name}.baseUrl`, file),
    organization: optionalText(organization, `${name}.organization`, file),
    settings: settingsOf(settings, name, file),
  };
}

function settingsOf(value: JsonObject, name: string, file: string): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(value).map(([key, entry]) => {
      if (typeof entry === 'string' || typeof entry === 'number' || typeof entry === 'boolean')
        return [key, String(entry)];
      throw invalidFile(
        file,
        `cannot be used: ${name}.${key} is neither text nor a number nor true or false`,
      );
    }),
  );
}

function parseObject(text: string, file: string): JsonObject {
  let value: unknown;
  try {
    value = parseJsonText(text);
  } catch (error) {
    // The parser's own message quotes the text around the error, which may be a key.
    const position = /position (\d+)/.exec((error as Error).message)?.[1];
    const line =
      position === undefined ? undefined : text.slice(0, Number(position)).split('\n').length;
    throw invalidFile(file, `is not valid JSON${line === undefined ? '' : ` (line ${line})`}`);
  }
  if (!isObject(value)) throw invalidFile(file, 'does not hold a JSON object');
  return value;
}

function optionalObject(value: unknown, name: string, file: string): JsonObject {
  if (value === undefined) return {};
  if (isObject(value)) return value;
  throw invalidFile(file, `cannot be used: ${name} is not an object`);
}

function optionalText(value: unknown, name: string, file: string): string | undefined {
  if (value === undefined || (typeof value === 'string' && value !== '')) return value;
  throw invalidFile(file, `cannot be used: ${name} is not text`);
}

function invalidFile(file: string, reason: string): ConfigError {
  return new ConfigError(`${file} ${reason}.`, {
    hint: 'Fix it, or move it away and run: rosterctl auth login',
  });
}
