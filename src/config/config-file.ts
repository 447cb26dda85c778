import { isObject, type JsonObject } from '../data/json.js';
import { ConfigError } from '../errors.js';

/** One profile as stored; its settings are text, by key. */
export interface StoredProfile {
  readonly baseUrl: string | undefined;
  readonly organization: string | undefined;
  readonly settings: ReadonlyMap<string, string>;
}

/** What `config.json` says. */
export interface ConfigData {
  /** For messages; undefined when there is no folder to store in. */
  readonly file: string | undefined;
  readonly activeProfile: string | undefined;
  readonly defaults: ReadonlyMap<string, string>;
  readonly profiles: ReadonlyMap<string, StoredProfile>;
  /** What a newer version may have written; kept when we write. */
  readonly rest: JsonObject;
}

/** A key as stored, with what it is bound to. */
export interface StoredKey {
  readonly key: string;
  readonly origin: string;
  readonly organization: string;
}

/** What `credentials.json` says, by profile. */
export type StoredKeys = ReadonlyMap<string, StoredKey>;

/** Both files at one moment. */
export interface Stored {
  readonly config: ConfigData;
  readonly keys: StoredKeys;
}

export function emptyConfig(file: string | undefined): ConfigData {
  return { file, activeProfile: undefined, defaults: new Map(), profiles: new Map(), rest: {} };
}

/** Reads the text of `config.json`. Throws ConfigError with the path and the fix. */
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

/** Reads the text of `credentials.json`. Throws ConfigError; no message holds anything of a key. */
export function parseCredentialsFile(text: string, file: string): StoredKeys {
  return new Map(
    Object.entries(parseObject(text, file)).map(([name, value]) => {
      const { key, origin, organization } = isObject(value) ? value : {};
      if (typeof key !== 'string' || typeof origin !== 'string' || typeof organization !== 'string')
        throw broken(file, `the entry "${name}" is not {key, origin, organization}`);
      return [name, { key, origin, organization }];
    }),
  );
}

/** As `config.json` stores it. */
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

/** JSON as people's editors write it: a byte order mark is no fault. */
export function parseJsonText(text: string): unknown {
  return JSON.parse(text.replace(/^\uFEFF/, ''));
}

function parseProfile(value: unknown, name: string, file: string): StoredProfile {
  if (!isObject(value)) throw broken(file, `${name} is no object`);
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
      throw broken(file, `${name}.${key} is neither text nor a number nor true or false`);
    }),
  );
}

function parseObject(text: string, file: string): JsonObject {
  let value: unknown;
  try {
    value = parseJsonText(text);
  } catch (error) {
    // The parser's own message quotes the text around the fault, which may be a key.
    const at = /position (\d+)/.exec((error as Error).message)?.[1];
    const line = at === undefined ? undefined : text.slice(0, Number(at)).split('\n').length;
    throw broken(file, `it is no valid JSON${line === undefined ? '' : ` (line ${line})`}`);
  }
  if (!isObject(value)) throw broken(file, 'it holds no JSON object');
  return value;
}

function optionalObject(value: unknown, name: string, file: string): JsonObject {
  if (value === undefined) return {};
  if (isObject(value)) return value;
  throw broken(file, `${name} is no object`);
}

function optionalText(value: unknown, name: string, file: string): string | undefined {
  if (value === undefined || (typeof value === 'string' && value !== '')) return value;
  throw broken(file, `${name} is no text`);
}

function broken(file: string, why: string): ConfigError {
  return new ConfigError(`The file ${file} cannot be used: ${why}.`, {
    hint: 'Mend it in an editor, or move it away and run: rosterctl auth login',
  });
}
