import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { choicesOf } from './config/choices.js';
import { completionCacheFile, recall, type Remembered } from './config/completion-cache.js';
import { type ConfigData, emptyConfig, parseConfigFile } from './config/config-file.js';
import { findTarget } from './config/connection.js';
import type { GlobalFlags } from './config/environment.js';
import { onOff } from './config/parse.js';
import { type Environment, type Paths, resolvePaths } from './config/paths.js';
import { sandboxProfile } from './config/profiles.js';
import { defaultProfile } from './data/text.js';
import { activeProfileOf } from './config/store.js';
import { inspectPrivateFile } from './files/private.js';
import { cellText } from './terminal/safe-text.js';
import { truncate } from './terminal/width.js';

/** What the launcher hands over of the process. */
export interface CompletionOutside {
  readonly env: Environment;
  readonly platform: NodeJS.Platform;
  readonly uid: number | undefined;
  write(text: string): void;
}

type Offer = readonly [word: string, text: string];

/**
 * Answers `__complete KIND [-- the words typed so far]` for a completion script: lines of
 * `word<TAB>what it means`, from config.json and the private cache alone. KIND is `profile`,
 * `configValue`, `id:RESOURCE` or `field:RESOURCE`. Never throws, never tells an error, never sends anything.
 */
export function complete(argv: readonly string[], outside: CompletionOutside): void {
  try {
    const lines = answer(argv, outside);
    if (lines.length > 0) outside.write(`${lines.join('\n')}\n`);
  } catch {
    // A TAB must never disturb the line that is being typed.
  }
}

function answer([kind = '', ...rest]: readonly string[], outside: CompletionOutside): string[] {
  const typed = rest[0] === '--' ? rest.slice(1) : rest;
  const paths = resolvePaths(outside);
  const file = readConfig(paths);
  if (kind === 'profile') return linesOf(profiles(file));
  if (kind === 'configValue') return linesOf(settingValues(typed));
  const [what, resource = ''] = kind.split(':');
  const known = remembered(typed, resource, { file, paths, env: outside.env });
  if (what === 'field') return linesOf(known.fields.map((field) => [field, '']));
  return what === 'id' ? idLines(known.ids, new Set(typed)) : [];
}

/** The words for the setting that was typed last. */
function settingValues(typed: readonly string[]): Offer[] {
  const key = typed.findLast((word) => choicesOf(word).length > 0) ?? '';
  return choicesOf(key).map((word) => [word, '']);
}

function profiles(file: ConfigData): Offer[] {
  const stored = [...file.profiles].map(([name, { organization, baseUrl }]): Offer => {
    const host = baseUrl !== undefined && URL.canParse(baseUrl) ? new URL(baseUrl).host : undefined;
    return [name, [organization, host].filter((part) => part !== undefined).join(' at ')];
  });
  return [
    ...stored.filter(([name]) => name !== sandboxProfile),
    [sandboxProfile, 'the built-in demo service'],
  ];
}

const nothing: Remembered = { ids: '', fields: [] };

interface Known {
  readonly file: ConfigData;
  readonly paths: Paths;
  readonly env: Environment;
}

function remembered(
  typed: readonly string[],
  resource: string,
  { file, paths, env }: Known,
): Remembered {
  const flags = connectionFlags(typed);
  const profile = chosenProfile(flags, env, file);
  const own = file.profiles.get(profile.name)?.settings.get('completion.cache');
  if (!onOff(own ?? file.defaults.get('completion.cache') ?? 'on')) return nothing;
  const { baseUrl, organization } = findTarget({ flags, env, profile, file }, []);
  const cache = completionCacheFile(paths, {
    profile: profile.name,
    baseUrl: baseUrl?.text ?? '',
    organizationId: organization?.text ?? '',
  });
  return cache === undefined ? nothing : recall(cache, resource, paths.owner);
}

/** As `resolveSettings` chooses it: flag, environment, the active one. */
function chosenProfile(flags: GlobalFlags, env: Environment, file: ConfigData) {
  if (flags.profile) return { name: flags.profile, via: 'flag' } as const;
  const fromEnv = env['ROSTERCTL_PROFILE'];
  if (fromEnv) return { name: fromEnv, via: 'environment' } as const;
  return { name: activeProfileOf(file) ?? defaultProfile, via: 'active' } as const;
}

const connectionWords: Readonly<Record<string, 'profile' | 'org' | 'baseUrl'>> = {
  '-p': 'profile',
  '--profile': 'profile',
  '--org': 'org',
  '--base-url': 'baseUrl',
};

/** The flags among the words typed that say which organization is meant; the last one counts. */
function connectionFlags(typed: readonly string[]): GlobalFlags {
  const found: { profile?: string; org?: string; baseUrl?: string } = {};
  for (let index = 0; index < typed.length; index++) {
    const word = typed[index] ?? '';
    if (word === '--') break;
    const [, long, glued] = /^(--[^=]+)=(.*)$/s.exec(word) ?? /^(-p)=?(.+)$/s.exec(word) ?? [];
    const name = connectionWords[long ?? word];
    if (name === undefined) continue;
    const value = glued ?? typed[++index];
    if (value !== undefined) found[name] = value;
  }
  return found;
}

function readConfig(paths: Paths): ConfigData {
  const file = paths.config && join(paths.config.path, 'config.json');
  try {
    if (!file || inspectPrivateFile(file, { owner: paths.owner }).state === 'absent')
      return emptyConfig(file);
    return parseConfigFile(readFileSync(file, 'utf8'), file);
  } catch {
    return emptyConfig(file);
  }
}

/** Latin, Greek, Cyrillic, kana, Han and Hangul letters and signs: what needs no closer look. */
const harmless =
  /^[ -~\u00a1-\u00ac\u00ae-\u02af\u0386-\u03ff\u0410-\u044f\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3\t\n]*$/;

const nameColumns = 60;

/** Thousands of ids are answered as they are remembered, where nothing in them can do harm. */
function idLines(ids: string, given: ReadonlySet<string>): string[] {
  const asTheyAre = harmless.test(ids);
  const lines: string[] = [];
  for (const line of ids.split('\n')) {
    const tab = line.indexOf('\t');
    const id = line.slice(0, tab);
    if (tab < 1 || given.has(id)) continue;
    // Half as many letters as columns fit, whatever they are.
    const fits = line.length - tab <= nameColumns / 2;
    const text = line.slice(tab + 1);
    if (asTheyAre && fits && !id.startsWith('-') && !text.includes('\t')) lines.push(line);
    else lines.push(...linesOf([[id, text]]));
  }
  return lines;
}

/**
 * Only what can be typed back as it is shown: nothing that drives a terminal, hides, or would be
 * read as a flag. Made safe is not enough for a word, since another text would be another id.
 */
function linesOf(offers: readonly Offer[]): string[] {
  return offers
    .filter(([word]) => word !== '' && !word.startsWith('-') && cellText(word) === word)
    .map(([word, text]) => `${word}\t${truncate(cellText(text), nameColumns)}`);
}
