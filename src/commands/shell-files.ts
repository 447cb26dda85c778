import { posix, win32 } from 'node:path';
import type { Shell } from '../cli/completion/scripts.js';
import type { Environment } from '../config/paths.js';
import { ConfigError } from '../errors.js';

/** What an installation consists of: the script, and lines in a file that the shell reads at start. */
export interface ShellFiles {
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
      // Terminals of macOS start login shells, which do not read .bashrc.
      const file = posix.join(home, platform === 'darwin' ? '.bash_profile' : '.bashrc');
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
    throw new ConfigError(`The place of ${shell}'s completions on Windows is not known.`, {
      hint: `Print the script and put it there: rosterctl completion ${shell}`,
    });
  const { LOCALAPPDATA: local, USERPROFILE: home } = env;
  if (!local || !home) throw homeless('LOCALAPPDATA or USERPROFILE');
  const own = win32.join(local, 'rosterctl', 'completion');
  const script = win32.join(own, 'rosterctl.ps1');
  const file = win32.join(home, 'Documents', 'PowerShell', 'profile.ps1');
  return { script, folders: [own], start: { file, lines: powershellLines(script) } };
}

function homeless(variable: string): ConfigError {
  return new ConfigError(`There is no place to install to: ${variable} is not set.`, {
    hint: 'Print the script and put it where you want it: rosterctl completion SHELL',
  });
}

/** The bash-completion package loads the script when it is first wanted; without it we do at start. */
function bashLines(script: string): string[] {
  const path = singleQuoted(script);
  return [`if [ -z "\${BASH_COMPLETION_VERSINFO-}" ] && [ -r ${path} ]; then . ${path}; fi`];
}

/** Works before `compinit` (it finds the folder) and after it (the function is announced). */
function zshLines(folder: string): string[] {
  return [
    `fpath=(${singleQuoted(folder)} $fpath)`,
    'autoload -Uz compinit _rosterctl',
    'if (( $+functions[compdef] )); then compdef _rosterctl rosterctl; else compinit; fi',
  ];
}

function powershellLines(script: string): string[] {
  const path = `'${script.replaceAll("'", "''")}'`;
  return [`if (Test-Path -LiteralPath ${path}) { . ${path} }`];
}

function singleQuoted(path: string): string {
  return `'${path.replaceAll("'", `'\\''`)}'`;
}
