import { chmodSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Shell } from '../cli/completion/scripts.js';
import type { LocalContext } from '../context.js';
import { withMarked, withoutMarked } from '../data/marked-lines.js';
import { GuardError, OutputError } from '../errors.js';
import { writeAtomically } from '../files/atomic-write.js';
import { makeFolder } from '../files/private.js';
import { unreadable } from '../files/input-file.js';
import { writeReason } from '../files/writing.js';
import { type ShellFiles, shellFiles } from './shell-files.js';

/** One file and its text before and after; undefined = there is none. */
export interface FileChange {
  readonly path: string;
  readonly what: 'script' | 'lines';
  readonly from: string | undefined;
  readonly to: string | undefined;
  /** Folders of ours that go with the file when nothing else is in them, the innermost first. */
  readonly folders: readonly string[];
}

type Machine = Pick<LocalContext, 'env' | 'platform'>;

const mark = 'rosterctl completion';

/** What installing a shell's script would write. Throws ConfigError, InputError, GuardError. */
export function installation(shell: Shell, script: string, machine: Machine): FileChange[] {
  const { start, ...place } = shellFiles(shell, machine);
  const placed = scriptFile(shell, place, script);
  if (!start) return [placed];
  const from = readText(start.file);
  const to = withMarked(from, { name: mark, lines: start.lines });
  return [placed, { path: start.file, what: 'lines', from, to, folders: [] }];
}

/** What taking it away again would write. Throws ConfigError, InputError, GuardError. */
export function removal(shell: Shell, machine: Machine): FileChange[] {
  const { start, ...place } = shellFiles(shell, machine);
  const taken = scriptFile(shell, place, undefined);
  if (!start) return [taken];
  const from = readText(start.file);
  const to = from === undefined ? undefined : withoutMarked(from, mark);
  return [{ path: start.file, what: 'lines', from, to, folders: [] }, taken];
}

function scriptFile(
  shell: Shell,
  { script: path, folders }: Pick<ShellFiles, 'script' | 'folders'>,
  to: string | undefined,
): FileChange {
  return { path, what: 'script', from: readOurs(path, shell), to, folders };
}

/** Writes and removes what differs. Throws OutputError. */
export async function settle(files: readonly FileChange[]): Promise<void> {
  for (const file of files) {
    if (file.from === file.to) continue;
    if (file.to === undefined) remove(file);
    else await write(file, file.to);
  }
}

async function write({ path, folders }: FileChange, text: string): Promise<void> {
  attempt(path, () => {
    makeFolder(dirname(path), 0o755);
    // zsh loads no completion out of a folder that a group may write to.
    for (const folder of folders) chmodSync(folder, 0o755);
  });
  await writeAtomically(path, text, { mode: 0o644 });
}

function remove({ path, folders }: FileChange): void {
  attempt(path, () => rmSync(path, { force: true }));
  for (const folder of folders) {
    try {
      rmdirSync(folder);
    } catch {
      // Something else is in it, or it is gone already.
      return;
    }
  }
}

/** A file at the script's place that some other hand wrote is neither replaced nor removed. */
function readOurs(path: string, shell: Shell): string | undefined {
  const text = readText(path);
  if (text === undefined || text.includes(`rosterctl completion ${shell}\n`)) return text;
  throw new GuardError(`${path} was not written by rosterctl and stays as it is.`, {
    hint: 'Move it away, then run this again.',
  });
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw unreadable(path, error);
  }
}

function attempt(path: string, act: () => void): void {
  try {
    act();
  } catch (error) {
    throw new OutputError(`${path} cannot be written: ${writeReason(error)}.`, {
      hint: 'Without --install the script is printed, to be put where your shell looks.',
      cause: error,
    });
  }
}
