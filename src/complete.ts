/** Answers a TAB: the words of a command line in, the words that fit at its end out. */
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { bashAnswer, readBashLine } from './cli/completion/bash.js';
import { type Candidates, completionFor, type Knowledge } from './cli/completion/candidates.js';
import { connectionFlags, type Line, readLine } from './cli/completion/line.js';
import { idLines, pathsAt, safe } from './cli/completion/offers.js';
import { originOf, parseBaseUrl } from './config/base-url.js';
import { sandboxProfile } from './config/choices.js';
import {
  completionCacheFile,
  emptyCache,
  recall,
  recallReferences,
} from './config/completion-cache.js';
import { type ConfigData, emptyConfig, parseConfigFile } from './config/config-file.js';
import { findTarget } from './config/connection.js';
import { onOff } from './config/parse.js';
import { type Paths, placeFolder, resolvePaths } from './config/paths.js';
import { profileInForce } from './config/store.js';
import { readManifest } from './data/command-manifest.js';
import type { Environment } from './data/environment.js';
import { isObject } from './data/json.js';
import { inspectPrivateFile, namesIn } from './files/private.js';
import { isRunName, journalIn, placeIn, runPlaces, runStore } from './runs/store.js';

/** The parts of the process that the launcher hands over. */
interface CompletionWorld {
  readonly env: Environment;
  readonly platform: NodeJS.Platform;
  readonly uid: number | undefined;
  /** The text of table.json, the command manifest. */
  readonly table: string;
  /** The content of `settings.json`: each setting and its purpose. */
  readonly settings: () => readonly (readonly [name: string, text: string])[];
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
  const cached = (resource: string) =>
    cacheOf(line, world, file(), paths, emptyCache, (cache) =>
      recall(cache, resource, paths.owner),
    );
  return {
    settings: () => safe(world.settings()),
    profiles: () => profiles(file()),
    ids: (resource) => idLines(cached(resource).ids, line.words),
    references: (resource, kind) =>
      idLines(
        cacheOf(line, world, file(), paths, emptyCache.ids, (cache) =>
          recallReferences(cache, resource, kind, paths.owner),
        ),
        [],
      ),
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
  const flags = connectionFlags(line);
  const profile = profileInForce(flags, env, file);
  const { baseUrl, organization } = findTarget({ flags, env, profile, file }, []);
  const isSandbox = profile.name === sandboxProfile;
  const origin = isSandbox ? sandboxProfile : originOf(parseBaseUrl(baseUrl?.text ?? ''));
  const owner = isSandbox ? sandboxProfile : (organization?.text ?? '');
  const folder = state && placeFolder(join(state.path, 'cursors'), origin, owner);
  const keys = (folder === undefined ? [] : namesIn(folder)).flatMap((name) => {
    const [, of = '', cursor] = /^([a-z]+)\.(.+)\.json$/.exec(name) ?? [];
    return cursor === undefined || (resource ?? of) !== of ? [] : [{ of, cursor }];
  });
  const isShared = (name: string) => keys.filter(({ cursor }) => cursor === name).length > 1;
  return safe(keys.map(({ of, cursor }) => [isShared(cursor) ? `${of}/${cursor}` : cursor, of]));
}

/** Returns the cached value for the organization that the line and the settings name; else `none`. */
function cacheOf<T>(
  line: Line,
  { env }: CompletionWorld,
  file: ConfigData,
  paths: Paths,
  none: T,
  read: (cacheFile: string) => T,
): T {
  const flags = connectionFlags(line);
  const profile = profileInForce(flags, env, file);
  const own = file.profiles.get(profile.name)?.settings.get('completion.cache');
  try {
    if (!onOff(own ?? file.defaults.get('completion.cache') ?? 'on')) return none;
    const { baseUrl, organization } = findTarget({ flags, env, profile, file }, []);
    const cache = completionCacheFile(paths, {
      profile: profile.name,
      baseUrl: baseUrl?.text ?? '',
      organizationId: organization?.text ?? '',
    });
    return cache === undefined ? none : read(cache);
  } catch {
    // Without a connection that is configured nothing was cached; the rest can be completed.
    return none;
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
  const opened = openSync(file, 'r');
  try {
    return bytes.toString('utf8', 0, readSync(opened, bytes));
  } finally {
    closeSync(opened);
  }
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
