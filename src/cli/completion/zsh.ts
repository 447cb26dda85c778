import { tableFunctions } from './cases.js';
import type { Choice, Model } from './model.js';
import { zshEngine } from './zsh-engine.js';

/** The script for zsh: a file `_rosterctl` in `fpath`, or sourced. */
export function zshScript(model: Model): string {
  return [
    '#compdef rosterctl',
    '# Completion of rosterctl for zsh.',
    '# Generated from the command table: rosterctl completion zsh',
    '',
    ...tableFunctions(model, describedWord),
    zshEngine,
  ].join('\n');
}

/** As `_describe` reads it: a colon parts the word from what it means. */
function describedWord({ word, text }: Choice): string {
  const plain = word.replaceAll('\\', '\\\\').replaceAll(':', '\\:');
  return text === '' ? plain : `${plain}:${text.replaceAll('\\', '\\\\')}`;
}
