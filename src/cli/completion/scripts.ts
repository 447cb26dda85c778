import type { PlainTable } from '../../data/plain-table.js';
import { bashScript } from './bash.js';
import { fishScript } from './fish.js';
import { completionModel } from './model.js';
import { powershellScript } from './powershell.js';
import { zshScript } from './zsh.js';

/** The shells that a TAB works in. */
export const shells = ['bash', 'zsh', 'fish', 'powershell'] as const;
export type Shell = (typeof shells)[number];

const writers = {
  bash: { fileName: 'rosterctl.bash', write: bashScript },
  zsh: { fileName: '_rosterctl', write: zshScript },
  fish: { fileName: 'rosterctl.fish', write: fishScript },
  powershell: { fileName: 'rosterctl.ps1', write: powershellScript },
} as const;

/** The completion script of one shell, made from the table alone. */
export function completionScript(shell: Shell, table: PlainTable): string {
  return writers[shell].write(completionModel(table));
}

/** The scripts of all shells, by the file names that packagers expect. */
export function completionScripts(table: PlainTable): { readonly [fileName: string]: string } {
  return Object.fromEntries(
    shells.map((shell) => [writers[shell].fileName, completionScript(shell, table)]),
  );
}
