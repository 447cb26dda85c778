import { bashEngine } from './bash-engine.js';
import { tableFunctions } from './cases.js';
import type { Model } from './model.js';

/** The script for bash 3.2 and later, with and without the bash-completion package. */
export function bashScript(model: Model): string {
  return [
    '# Completion of rosterctl for bash 3.2 and later; needs no bash-completion package.',
    '# Generated from the command table: rosterctl completion bash',
    '',
    ...tableFunctions(model, ({ word }) => word),
    bashEngine,
  ].join('\n');
}
