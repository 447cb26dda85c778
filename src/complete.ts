/** Answers a TAB: the words of a command line in, the words that fit at its end out. */
import {
  closeSync,
  constants,
  type Dirent,
  openSync,
  readdirSync,
  readSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { bashAnswer, readBashLine } from './cli/completion/bash.js';
import {
  type Candidates,
  completionFor,
  describedWord,
  type Knowledge,
  typedPart,
} from './cli/completion/candidates.js';
import { connectionFlags, type Line, readLine } from './cli/completion/line.js';
import { originOf, parseBaseUrl } from './config/base-url.js';
import { sandboxProfile } from './config/choices.js';
import {
  completionCacheFile,
  idsByName,
  recall,
  recallReferences,
} from './config/completion-cache.js';
import { type ConfigData, emptyConfig, parseConfigFile } from './config/config-file.js';
import { findTarget } from './config/connection.js';
import { onOff } from './config/parse.js';
import { type Paths, type PathsInput, placeFolder, resolvePaths } from './config/paths.js';
import { profileInForce } from './config/store.js';
import { readManifest } from './data/command-manifest.js';
import type { Environment } from './data/environment.js';
import { isObject } from './data/json.js';
import { namesIn, readIfOurs } from './files/private.js';
import { isRunName, journalIn, placeIn, runPlaces, runStore } from './runs/store.js';
import { singleLine } from './terminal/safe-text.js';
import { truncate } from './terminal/width.js';

/** The parts of the process that the launcher hands over. */
interface CompletionWorld extends PathsInput {
  /** The text of table.json, the command manifest. */
  readonly table: string;
  /** The content of `settings.json`: each setting, its purpose, and words that it accepts. */
  readonly settings: () => readonly (readonly [
    name: string,
    text: string,
    words: readonly string[],
  ])[];
  write(text: string): void;
}

/**
 * Answers `__complete WORDS…`, where the last word is the one being typed, in the form that
 * `cli/completion/scripts.ts` describes. Reads the command manifest, config.json and the private
 * cache. Never throws, never reports an error, never sends a request.
 */
export function complete(argv: readonly string[], world: CompletionWorld): void {
  try {
    const text = answer(argv, world);
    if (text !== undefined) world.write(text);
  } catch {
    // A TAB must never disturb the line that is being typed.
  }
}

function answer(argv: readonly string[], world: CompletionWorld): string | undefined {
  const bash = readBashLine(world.env, argv[0] ?? '');
  if (bash?.isRedirected) return ':files\n';
  const words = bash?.words ?? argv;
  const current = words.at(-1) ?? '';
  const manifest = readManifest(world.table);
  const line = readLine(words.slice(0, -1), manifest);
  const found = completionFor(line, current, manifest, knowledgeOf(line, world));
  if (!found) return undefined;
  if (bash) return bashAnswer(found, bash, pathsAt);
  const { directive, kept, candidates } = found;
  const whole = kept === '' ? candidates : candidates.replace(/^(?=.)/gm, () => kept);
  return `:${directive}\t${kept}\n${whole}${whole === '' ? '' : '\n'}`;
}

function knowledgeOf(line: Line, world: CompletionWorld): Knowledge {
  const paths = resolvePaths(world);
  const file = () => readConfig(paths);
  const cacheFile = () => cacheFileOf(line, world, file(), paths);
  const cached = (resource: string) => recall(cacheFile(), resource, paths.owner);
  return {
    settings: () => safe(world.settings().map(([name, text]) => [name, text])),
    settingWords(key) {
      const [, , words = []] = world.settings().find(([name]) => name === key) ?? [];
      return safe(words.map((word) => [word, '']));
    },
    profiles: () => profiles(file()),
    ids: (resource) => idLines(cached(resource).ids, line.words),
    references(resource, kind) {
      if (kind === 'name') return safe([...idsByName(cached(resource).ids, line.words)]);
      const cache = cacheFile();
      return cache === undefined
        ? ''
        : idLines(recallReferences(cache, resource, kind, paths.owner), []);
    },
    values: (resource, path) =>
      safe((cached(resource).values[path] ?? []).map((value) => [value, ''])),
    runs: () => runs(paths),
    cursors: (resource) => cursors(resource, line, world, file(), paths),
    fields: (resource) => safe(cached(resource).fields.map((field) => [field, ''])),
  };
}

function profiles(file: ConfigData): Candidates {
  const stored = [...file.profiles].map(([name, { organization, baseUrl }]) => {
    const host = baseUrl !== undefined && URL.canParse(baseUrl) ? new URL(baseUrl).host : undefined;
    return [name, [organization, host].filter((part) => part !== undefined).join(' at ')] as const;
  });
  return safe([
    ...stored.filter(([name]) => name !== sandboxProfile),
    [sandboxProfile, 'the built-in demo service'],
  ]);
}

/** The cursors of the organization that the line names; `tryouts/mail` where two lists have one name. */
function cursors(
  resource: string | undefined,
  line: Line,
  { env }: CompletionWorld,
  file: ConfigData,
  { state }: Paths,
): Candidates {
  const { profile, baseUrl, organization } = targetNamed(line, env, file);
  const isSandbox = profile === sandboxProfile;
  const origin = isSandbox ? sandboxProfile : originOf(parseBaseUrl(baseUrl));
  const owner = isSandbox ? sandboxProfile : organization;
  const folder = state && placeFolder(join(state.path, 'cursors'), origin, owner);
  const keys = (folder === undefined ? [] : namesIn(folder)).flatMap((name) => {
    const [, of = '', cursor] = /^([a-z]+)\.(.+)\.json$/.exec(name) ?? [];
    return cursor === undefined || (resource ?? of) !== of ? [] : [{ of, cursor }];
  });
  const isShared = (name: string) => keys.filter(({ cursor }) => cursor === name).length > 1;
  return safe(keys.map(({ of, cursor }) => [isShared(cursor) ? `${of}/${cursor}` : cursor, of]));
}

/** The profile that the line and the settings name, with its base URL and organization, where known. */
function targetNamed(line: Line, env: Environment, file: ConfigData) {
  const flags = connectionFlags(line);
  const profile = profileInForce(flags, env, file);
  const { baseUrl, organization } = findTarget({ flags, env, profile, file }, []);
  return {
    profile: profile.name,
    baseUrl: baseUrl?.text ?? '',
    organization: organization?.text ?? '',
  };
}

/** Returns the cache file of the organization that the line and the settings name; undefined if there is none. */
function cacheFileOf(
  line: Line,
  { env }: CompletionWorld,
  file: ConfigData,
  paths: Paths,
): string | undefined {
  const { profile, baseUrl, organization } = targetNamed(line, env, file);
  const own = file.profiles.get(profile)?.settings.get('completion.cache');
  try {
    if (!onOff(own ?? file.defaults.get('completion.cache') ?? 'on')) return undefined;
    return completionCacheFile(paths, { profile, baseUrl, organizationId: organization });
  } catch {
    // Without a connection that is configured nothing was cached; the rest can be completed.
    return undefined;
  }
}

const mostRuns = 50;

/** The newest runs kept on this machine, with what they do and since when. */
function runs({ state }: Paths): Candidates {
  if (!state) return '';
  const store = runStore(state.path);
  const folders = runPlaces.flatMap((place) => {
    const folder = placeIn(store, place);
    return namesIn(folder)
      .filter(isRunName)
      .map((name) => [name, join(folder, name)] as const);
  });
  // Their names begin with the time.
  const newest = folders.toSorted(([a], [b]) => (a < b ? 1 : -1)).slice(0, mostRuns);
  return safe(newest.map(([name, folder]) => [name, aboutRun(folder)]));
}

/** From the head of its journal, which is one short line. */
function aboutRun(folder: string): string {
  try {
    const text = beginningOf(journalIn(folder));
    const head: unknown = JSON.parse(text.slice(0, text.indexOf('\n')));
    if (!isObject(head)) return '';
    const { action, startedAt, rows } = head;
    const words = String(action).replace('.', ' ');
    return `${words}, ${String(rows)} ${rows === 1 ? 'record' : 'records'}, ${String(startedAt)}`;
  } catch {
    return '';
  }
}

/** The first bytes of a file that may be long. */
function beginningOf(file: string): string {
  const bytes = Buffer.alloc(4096);
  // Not blocked by a named pipe in its place.
  const opened = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return bytes.toString('utf8', 0, readSync(opened, bytes));
  } finally {
    closeSync(opened);
  }
}

function readConfig(paths: Paths): ConfigData {
  const file = paths.config && join(paths.config.path, 'config.json');
  const text = file && readIfOurs(file, paths.owner);
  try {
    return file && text !== undefined ? parseConfigFile(text, file) : emptyConfig(file);
  } catch {
    return emptyConfig(file);
  }
}

// --- words that are safe to show and to type ---

/** Latin, Greek, Cyrillic, kana, Han and Hangul letters and signs: what needs no closer look. */
const harmless =
  /^[ -~\u00a1-\u00ac\u00ae-\u02af\u0386-\u03ff\u0410-\u044f\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3\t\n]*$/;

const nameColumns = 60;

/**
 * Matches where a line is anything but an id and a name that fits: 60 ASCII characters do, and 30
 * of any others, which take at most two columns.
 */
const odd =
  /(?:^|\n)[-\t]|\t(?:\n|$|[^\n]*\t|(?=[^\n]{31})(?:[^\n]{61}|[^\n]*[^ -~\n]))|(?:^|\n)[^\t\n]*(?:\n|$)/;

/** Whole lines, some 4,000 characters at a time. */
const blocks = /[^\n][^]{0,4000}[^\n]*/g;

/**
 * The cached lines `id<TAB>name` as candidates, without the ids given. There may be thousands: a
 * block of lines is only taken apart where one of them has to be rewritten.
 */
export function idLines(ids: string, given: readonly string[]): Candidates {
  const safeIds = (ids.match(blocks) ?? [])
    .map((block) => (isSafe(block) ? block : safe(block.split('\n').map(idAndName))))
    .filter((block) => block !== '')
    .join('\n');
  // A record without a name is its id alone.
  const all = `\n${safeIds}\n`;
  const found = given.filter((id) => ['\t', '\n'].some((end) => all.includes(`\n${id}${end}`)));
  if (found.length === 0) return safeIds;
  const left = safeIds.split('\n').filter((line) => !found.includes(typedPart(line)));
  return left.join('\n');
}

function isSafe(lines: string): boolean {
  return harmless.test(lines) && !odd.test(lines);
}

function idAndName(line: string): readonly [id: string, name: string] {
  const tab = line.indexOf('\t');
  return tab < 0 ? ['', ''] : [line.slice(0, tab), line.slice(tab + 1)];
}

/**
 * Only what can be typed back as it is shown: nothing that drives a terminal, hides, or would be
 * read as a flag. Made safe is not enough for a word, since another text would be another id.
 */
function safe(named: readonly (readonly [word: string, text: string])[]): Candidates {
  return named
    .filter(([word]) => word !== '' && !word.startsWith('-') && singleLine(word) === word)
    .map(([word, text]) => describedWord(word, truncate(singleLine(text), nameColumns)))
    .join('\n');
}

/** The files and folders, or the folders alone, whose paths begin so. */
function pathsAt(start: string, directive: 'files' | 'folders'): Candidates {
  const folder = start.slice(0, start.lastIndexOf('/') + 1);
  return readdirSync(folder || '.', { withFileTypes: true })
    .map((entry) => `${folder}${entry.name}${isFolder(folder, entry) ? '/' : ''}`)
    .filter((path) => path.startsWith(start) && singleLine(path) === path)
    .filter((path) => directive === 'files' || path.endsWith('/'))
    .join('\n');
}

function isFolder(folder: string, entry: Dirent): boolean {
  if (!entry.isSymbolicLink()) return entry.isDirectory();
  try {
    return statSync(folder + entry.name).isDirectory();
  } catch {
    // It leads nowhere, in a circle, or where the user may not look.
    return false;
  }
}
