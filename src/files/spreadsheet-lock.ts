/** The files that spreadsheet programs leave beside a workbook while it is open. */
import { lstat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { shellQuote } from '../data/text.js';
import { InputError } from '../errors.js';

/**
 * Returns the program that has a file open, as far as its lock file tells; undefined for none. Throws
 * InputError if the file is such a lock file itself.
 */
export async function spreadsheetProgram(path: string): Promise<string | undefined> {
  const name = basename(path);
  const locked = /^~\$(.+)$/.exec(name)?.[1] ?? /^\.~lock\.(.+)#$/.exec(name)?.[1];
  if (locked !== undefined)
    throw new InputError(`${path} only says that ${locked} is open in a spreadsheet program.`, {
      hint: `Close ${locked} there, and read it: --csv ${shellQuote(join(dirname(path), locked))}`,
    });
  const hasLock = (lock: string) =>
    lstat(join(dirname(path), lock)).then(
      () => true,
      () => false,
    );
  if (await hasLock(`~$${name}`)) return 'Excel';
  return (await hasLock(`.~lock.${name}#`)) ? 'LibreOffice' : undefined;
}
