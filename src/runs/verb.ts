/** The verb of a run: what it does to its records, or to the files that it sends. */

/** Every verb; `update` for all that changes fields, `import` for what creates and updates. */
export type RunVerb = 'create' | 'update' | 'delete' | 'convert' | 'upload' | 'import' | 'undo';

/** The verbs of version 0.1.0 by the last word of its commands; any other word changed fields. */
const formerVerbs: { readonly [word: string]: RunVerb } = {
  create: 'create',
  delete: 'delete',
  convert: 'convert',
  upload: 'upload',
  replace: 'upload',
  finish: 'upload',
  import: 'import',
  undo: 'undo',
};

/**
 * Returns the verb of what keeps none but the name of its command, `players.delete`: a run of version
 * 0.1.0, a report, a plan file. Nothing else reads a verb out of a name.
 */
export function verbOfAction(action: string): RunVerb {
  const word = action.slice(action.indexOf('.') + 1);
  return Object.hasOwn(formerVerbs, word) ? (formerVerbs[word] ?? 'update') : 'update';
}

/** Returns the first word of a command's name, which a report keeps in place of its resource. */
export function nounOfAction(action: string): string {
  return action.slice(0, action.indexOf('.'));
}
