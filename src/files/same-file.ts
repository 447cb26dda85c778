/** Two words of one command line that name the same file, of which one would replace the other. */
import { realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { nameKey } from '../data/file-names.js';
import { systemCode } from '../data/system-errors.js';
import { UsageError } from '../errors.js';
import { endOfLinks } from './writing.js';

/**
 * Checks that the file of an option is not also that of another word; a word may hold several files.
 * Throws UsageError.
 */
export async function refuseSameFile(
  option: string,
  file: string,
  others: readonly { readonly word: string; readonly given: unknown }[],
): Promise<void> {
  if (file === '-') return;
  const target = await realPathOf(file);
  for (const { word, given } of others)
    for (const other of [given].flat() as readonly unknown[]) {
      if (typeof other !== 'string' || other === '-') continue;
      const path = await realPathOf(other);
      if (nameKey(path) !== nameKey(target)) continue;
      const where = path === target ? '' : ' on a disk that ignores case';
      throw new UsageError(`${option} and ${word} name the same file${where}.`, {
        hint: `Choose another file for ${option}.`,
      });
    }
}

/** The path without links; its last parts may not exist yet, nor what a link leads to. */
export async function realPathOf(file: string): Promise<string> {
  const path = resolve(file);
  if (dirname(path) === path) return path;
  return realpath(path).catch(async (error: unknown) => {
    const leadsNowhere = systemCode(error) === 'ENOENT';
    const end = leadsNowhere ? await endOfLinks(path).catch(() => path) : path;
    return join(await realPathOf(dirname(end)), basename(end));
  });
}
