/** Installs and removes a shell's completion script, and the lines that load it. */
import { isUtf8 } from 'node:buffer';
import { chmodSync, existsSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, posix, win32 } from 'node:path';
import type { Environment } from '../../data/environment.js';
import { systemCode } from '../../data/system-errors.js';
import { ConfigError, GuardError, OutputError } from '../../errors.js';
import { writeAtomically } from '../../files/atomic-write.js';
import { unreadable } from '../../files/input-file.js';
import { makeFolder, readOwnFile } from '../../files/private.js';
import { notUnicode } from '../../files/text-decoder.js';
import { writeReason } from '../../files/writing.js';
import type { Shell } from './scripts.js';

/** One file and its text before and after; undefined = there is none. */
export interface FileChange {
  readonly path: string;
  readonly what: 'script' | 'lines';
  readonly from: string | undefined;
  readonly to: string | undefined;
  /** Folders of ours that go with the file when nothing else is in them, the innermost first. */
  readonly folders: readonly string[];
}

/** Names our lines inside a file that belongs to the user. */
const mark = 'rosterctl completion';

/**
 * Returns the files that installing a shell's script would write, or without a script uninstalling it.
 * Throws ConfigError, InputError, GuardError.
 */
export function installation(
  shell: Shell,
  to: string | undefined,
  machine: Machine,
): readonly FileChange[] {
  const { script: path, folders, start } = shellFiles(shell, machine);
  const placed: FileChange = { path, what: 'script', from: readOurs(path, shell), to, folders };
  if (!start) return [placed];
  const from = readText(start.file);
  const text = to === undefined ? from && withoutMarked(from) : withMarked(from, start.lines);
  const loading: FileChange = { path: start.file, what: 'lines', from, to: text, folders: [] };
  return to === undefined ? [loading, placed] : [placed, loading];
}

/** Writes and removes what differs. Throws OutputError. */
export async function writeChanges(files: readonly FileChange[]): Promise<void> {
  for (const file of files) {
    if (file.from === file.to) continue;
    if (file.to === undefined) remove(file);
    else await write(file, file.to);
  }
}

async function write({ path, folders }: FileChange, text: string): Promise<void> {
  orOutputError(path, () => {
    makeFolder(dirname(path), 0o755);
    // zsh loads no completion out of a folder that a group may write to.
    for (const folder of folders) chmodSync(folder, 0o755);
  });
  await writeAtomically(path, text, { mode: 0o644 });
}

function remove({ path, folders }: FileChange): void {
  orOutputError(path, () => rmSync(path, { force: true }));
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
  throw new GuardError(`${path} was not written by rosterctl. It was left unchanged.`, {
    hint: 'Move it away, then run the same command again.',
  });
}

/** Bytes that are not UTF-8 would come out as other bytes where the text is written back. */
function readText(path: string): string | undefined {
  try {
    const bytes = readOwnFile(path);
    if (!isUtf8(bytes)) throw notUnicode(path, bytes);
    return bytes.toString();
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw unreadable(path, error);
  }
}

function orOutputError(path: string, act: () => void): void {
  try {
    act();
  } catch (error) {
    throw new OutputError(`${path} cannot be written: ${writeReason(error)}.`, {
      hint: 'Leave out --install to print the script, and store it where your shell looks.',
      cause: error,
    });
  }
}

/**
 * Returns a file's text with our lines, between two comment lines: where they are already, else at its
 * end. Without a file (`undefined`), the first comment says that it was made for them, and
 * `withoutMarked` removes all of it.
 */
export function withMarked(text: string | undefined, lines: readonly string[]): string {
  const found = findMarked(text ?? '');
  const block = (made: boolean) =>
    [`# >>> ${mark}${made ? madeForIt : ''} >>>`, ...lines, `# <<< ${mark} <<<`].join('\n');
  if (text === undefined) return `${block(true)}\n`;
  if (found) return text.slice(0, found.from) + block(found.made) + text.slice(found.to);
  if (text === '' || text.endsWith('\n')) return `${text}${block(false)}\n`;
  // A file without a last line end stays one, so that taking the lines out leaves it as it was.
  return `${text}\n${block(false)}`;
}

/** The text as it was before `withMarked`; undefined when the file was made for our lines alone. */
export function withoutMarked(text: string): string | undefined {
  const found = findMarked(text);
  if (!found) return text;
  const before = text.slice(0, found.from);
  const after = text.slice(found.to);
  const rest = after === '' ? before.replace(/\n$/, '') : before + after.replace(/^\n/, '');
  return found.made && rest === '' ? undefined : rest;
}

const madeForIt = ' (created by rosterctl)';
/** The mark that earlier versions wrote. */
const formerMark = ' (this file was made for it)';

/** Returns the position of our block, without its last line end. */
function findMarked(text: string) {
  const end = `\n# <<< ${mark} <<<`;
  for (const ending of ['', madeForIt, formerMark]) {
    const begin = `# >>> ${mark}${ending} >>>\n`;
    const from = text.startsWith(begin) ? 0 : text.indexOf(`\n${begin}`) + 1;
    if (from === 0 && !text.startsWith(begin)) continue;
    const last = text.indexOf(end, from);
    if (last < 0) continue;
    return { from, to: last + end.length, made: ending !== '' };
  }
  return undefined;
}

/** The parts of an installation: the script, and lines in a file that the shell reads at start. */
interface ShellFiles {
  readonly script: string;
  /** Folders that are ours alone and go with the script when they are empty. */
  readonly folders: readonly string[];
  readonly start?: { readonly file: string; readonly lines: readonly string[] };
}

interface Machine {
  readonly env: Environment;
  readonly platform: NodeJS.Platform;
}

/** The conventional places of a shell. Throws ConfigError when there is no home folder. */
export function shellFiles(shell: Shell, machine: Machine): ShellFiles {
  return machine.platform === 'win32' ? onWindows(shell, machine) : onUnix(shell, machine);
}

/** Terminals of macOS start login shells, which read the first of these that is there, and not .bashrc. */
const loginFiles = ['.bash_profile', '.bash_login', '.profile'];

function onUnix(shell: Shell, { env, platform }: Machine): ShellFiles {
  const home = env['HOME'];
  if (!home || !posix.isAbsolute(home)) throw homeless('HOME');
  const base = (variable: string, fallback: string) => {
    const named = env[variable];
    // A relative path would mean another folder in every directory.
    return named && posix.isAbsolute(named) ? named : posix.join(home, fallback);
  };
  const config = base('XDG_CONFIG_HOME', '.config');
  const data = base('XDG_DATA_HOME', '.local/share');
  const own = posix.join(data, 'rosterctl');
  switch (shell) {
    case 'bash': {
      const script = posix.join(data, 'bash-completion', 'completions', 'rosterctl');
      const names = platform === 'darwin' ? loginFiles : ['.bashrc'];
      const [first = '', ...others] = names.map((name) => posix.join(home, name));
      const file = [first, ...others].find((path) => existsSync(path)) ?? first;
      return { script, folders: [], start: { file, lines: bashLines(script) } };
    }
    case 'zsh': {
      const folder = posix.join(own, 'zsh');
      const file = posix.join(base('ZDOTDIR', ''), '.zshrc');
      return {
        script: posix.join(folder, '_rosterctl'),
        folders: [folder, own],
        start: { file, lines: zshLines(folder) },
      };
    }
    case 'fish':
      return { script: posix.join(config, 'fish', 'completions', 'rosterctl.fish'), folders: [] };
    default: {
      const script = posix.join(own, 'rosterctl.ps1');
      const file = posix.join(config, 'powershell', 'profile.ps1');
      return { script, folders: [own], start: { file, lines: powershellLines(script) } };
    }
  }
}

function onWindows(shell: Shell, { env }: Machine): ShellFiles {
  if (shell !== 'powershell')
    throw new ConfigError(
      `rosterctl does not know where ${shell} keeps its completions on Windows.`,
      { hint: `Print the script and put it there: rosterctl completion ${shell}` },
    );
  const { LOCALAPPDATA: local, USERPROFILE: home } = env;
  if (!local || !home) throw homeless('LOCALAPPDATA or USERPROFILE');
  const own = win32.join(local, 'rosterctl', 'completion');
  const script = win32.join(own, 'rosterctl.ps1');
  const file = win32.join(home, 'Documents', 'PowerShell', 'profile.ps1');
  return { script, folders: [own], start: { file, lines: powershellLines(script) } };
}

function homeless(variable: string): ConfigError {
  return new ConfigError(`Cannot install the completion: ${variable} is not set.`, {
    hint: 'Print the script and put it where you want it: rosterctl completion SHELL',
  });
}

/**
 * The bash-completion package loads the script when it is first wanted; without it we do at start. Other
 * shells may read the file, too.
 */
function bashLines(script: string): string[] {
  const path = singleQuoted(script);
  const isAlone = '[ -n "${BASH_VERSION-}" ] && [ -z "${BASH_COMPLETION_VERSINFO-}" ]';
  return [`if ${isAlone} && [ -r ${path} ]; then . ${path}; fi`];
}

/**
 * Works before `compinit` (it finds the folder) and after it (the function is announced). With -i, zsh leaves
 * out folders that others may write to, as Homebrew makes them, and does not ask about them at each start.
 */
function zshLines(folder: string): string[] {
  return [
    `fpath=(${singleQuoted(folder)} "\${fpath[@]}")`,
    'autoload -Uz compinit _rosterctl',
    'if (( ${+functions[compdef]} )); then compdef _rosterctl rosterctl; else compinit -i; fi',
  ];
}

function powershellLines(script: string): string[] {
  const path = `'${script.replaceAll("'", "''")}'`;
  return [`if (Test-Path -LiteralPath ${path}) { . ${path} }`];
}

function singleQuoted(path: string): string {
  return `'${path.replaceAll("'", `'\\''`)}'`;
}
