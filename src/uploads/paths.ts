/** Paths of an upload: expands patterns and folders to the files to upload. */
import type { Dirent, readdir as readdirOfNode } from 'node:fs';
import { lstat, readdir, stat } from 'node:fs/promises';
import { isAbsolute, join, normalize } from 'node:path';
import { systemCode } from '../data/system-errors.js';
import { shellQuote } from '../data/text.js';
import { type Failure, InputError } from '../errors.js';
import { unreadable } from '../files/input-file.js';

/**
 * Expands paths to files, in order: patterns that the shell did not expand, and with `recursive`
 * folders to all files below them except hidden ones, without following links there. Throws InputError
 * for a folder without `recursive`, and for a pattern without a match.
 */
export async function expandPaths(
  paths: readonly string[],
  { recursive }: { readonly recursive: boolean },
): Promise<readonly string[]> {
  const found = await Promise.all(paths.map((path) => expand(path, recursive)));
  return found.flat();
}

async function expand(path: string, recursive: boolean): Promise<readonly string[]> {
  const stats = await statPath(path);
  if (stats?.isDirectory()) {
    if (!recursive)
      throw new InputError(`${path} is a folder.`, {
        hint: `All files in it: rosterctl docs upload -r ${shellQuote(path)}`,
      });
    return filesBelow(path);
  }
  return stats || !hasPattern(path) ? [path] : matching(path, recursive);
}

/** The stats of a path, following a link unless it is broken; undefined if nothing is there. */
function statPath(path: string) {
  return stat(path).catch(() => lstat(path).catch(() => undefined));
}

async function filesBelow(folder: string): Promise<readonly string[]> {
  const paths = await filesIn(normalize(folder));
  if (paths.length === 0) throw new InputError(`There is no file in ${folder}.`);
  return paths.toSorted();
}

/** The files below a folder. Throws InputError for an unreadable folder, whose files would be missing unnoticed. */
async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    throw unreadable(folder, error);
  });
  const visible = entries.filter(({ name }) => !name.startsWith('.'));
  const found = visible.map(async (entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesIn(path);
    return entry.isFile() ? [path] : [];
  });
  return (await Promise.all(found)).flat();
}

async function matching(pattern: string, recursive: boolean): Promise<readonly string[]> {
  const { glob } = await import('tinyglobby');
  const refused: Failure[] = [];
  const found = await glob(pattern, {
    onlyFiles: false,
    expandDirectories: false,
    absolute: isAbsolute(pattern),
    fs: { readdir: reportingReaddir((path, error) => refused.push(unreadable(path, error))) },
  });
  const [first] = refused;
  if (first) throw first;
  const files = await Promise.all(
    found.toSorted().map(async (name) => {
      if (!name.endsWith('/')) return [name];
      return recursive ? filesBelow(name) : [];
    }),
  );
  if (files.flat().length > 0) return files.flat();
  throw new InputError(`No file matches ${pattern}.`);
}

/**
 * A `readdir` for the glob library, which skips unreadable folders and special files. This one reports
 * unreadable folders, and presents special files as files, which the upload then refuses as it would
 * if the shell had expanded the pattern.
 */
function reportingReaddir(onUnreadable: (path: string, error: Error) => void) {
  const reporting = (
    path: string,
    _: object,
    done: (error: Error | null, entries?: readonly Dirent[]) => void,
  ) => {
    matchableIn(path).then(
      (entries) => done(null, entries),
      (error: Error) => {
        if (systemCode(error) !== 'ENOENT' && systemCode(error) !== 'ENOTDIR')
          onUnreadable(path, error);
        done(error);
      },
    );
  };
  return reporting as typeof readdirOfNode;
}

async function matchableIn(folder: string): Promise<readonly Dirent[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return Promise.all(entries.map((entry) => matchable(folder, entry)));
}

/** The entry of a file, a folder or a link to one; any other entry is presented as a file. */
async function matchable(folder: string, entry: Dirent): Promise<Dirent> {
  if (entry.isFile() || entry.isDirectory()) return entry;
  const target = entry.isSymbolicLink() && (await stat(join(folder, entry.name)).catch(() => null));
  if (target && (target.isFile() || target.isDirectory())) return entry;
  return Object.create(entry, {
    isFile: { value: () => true },
    isSymbolicLink: { value: () => false },
  }) as Dirent;
}

/** True if a path may stand for many files: a folder, or a pattern that is not itself the name of a file. */
export async function namesMany(path: string): Promise<boolean> {
  const stats = await statPath(path);
  return stats ? stats.isDirectory() : hasPattern(path);
}

/** True if a shell would read the path as a pattern. */
function hasPattern(path: string): boolean {
  return /[*?[\]{}]/.test(path);
}
