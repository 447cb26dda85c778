/** The verb of a run: what it does to its records, or to the files that it sends, and its words for a person. */
import { type ResourceName, resourceWords } from '../data/resources.js';
import { plural } from '../data/text.js';

/** Every verb; `update` for all that changes fields, `import` for what creates and updates. */
export type RunVerb = 'create' | 'update' | 'delete' | 'convert' | 'upload' | 'import' | 'undo';

/** The action (`players.delete`), the resource that it writes, and its verb, which a report does not keep. */
export interface Action {
  readonly action: string;
  readonly resource?: string | undefined;
  readonly verb?: RunVerb | undefined;
  /** The names of teams by id, for a person. */
  readonly teams?: ReadonlyMap<string, string> | undefined;
}

interface Verb {
  /** The first word of a question. */
  readonly ask: string;
  /** Completes `N players would …`. */
  readonly would: string;
  /** Completes `N rows cannot be …`; the result of a row that was written. */
  readonly done: string;
  /** Completes the head of a preview, whose rows do not say it: ` to delete`. */
  readonly purpose: string;
  /** `runs undo` can take it back. */
  readonly canUndo: boolean;
  /** Begins `Deletions cannot be undone.` */
  readonly many?: string;
  /** A lost write that is sent again does no harm, so that one record may be changed without a run on disk. */
  readonly isRepeatable: boolean;
}

const changeVerb: Verb = {
  ask: 'Change',
  would: 'change',
  done: 'changed',
  purpose: '',
  canUndo: true,
  isRepeatable: true,
};
/** The words and the nature of each verb. */
export const verbs: { readonly [V in RunVerb]: Verb } = {
  update: changeVerb,
  delete: { ...wordsOf('Delete', 'deleted'), ...forGood('Deletions'), isRepeatable: true },
  convert: { ...wordsOf('Convert', 'converted'), ...forGood('Conversions'), isRepeatable: false },
  create: { ...wordsOf('Create', 'created'), canUndo: true, isRepeatable: false },
  upload: { ...wordsOf('Upload', 'uploaded'), canUndo: true, isRepeatable: false },
  import: { ...wordsOf('Import', 'imported'), canUndo: true, isRepeatable: false },
  undo: { ...changeVerb, done: 'undone' },
};

function forGood(many: string) {
  return { canUndo: false, many };
}

function wordsOf(ask: string, done: string) {
  return { ask, would: `be ${done}`, done, purpose: ` to ${ask.toLowerCase()}` };
}

/** The other words of commands that upload; of any other, the verb is the word, or it changed fields. */
const uploadWords = ['replace', 'finish'];

/**
 * Returns the verb of what keeps none but the name of its command, `players.delete`: a report, a plan
 * file, a run of version 0.1.0. Nothing else reads a verb out of a name.
 */
export function verbOfAction(action: string): RunVerb {
  const word = action.slice(action.indexOf('.') + 1);
  if (uploadWords.includes(word)) return 'upload';
  return Object.hasOwn(verbs, word) ? (word as RunVerb) : 'update';
}

/** The words for an action, so that a delete is never described as a change. */
export function verbOf({ action, verb = verbOfAction(action) }: Action): Verb {
  return verbs[verb];
}

/** `3 applications`: a number of what the action changes. */
export function countedNoun(
  count: number,
  // A report keeps the name of its command in place of its resource.
  { action, verb, resource = action.slice(0, action.indexOf('.')) }: Action,
): string {
  if (verbOf({ action, verb }) === verbs.upload) return plural(count, 'file');
  const { noun = 'record', plural: many = 'records' } = Object.hasOwn(resourceWords, resource)
    ? resourceWords[resource as ResourceName]
    : {};
  return plural(count, noun, many);
}

/** Says that a run has no rows; those of an import are lines of its file, which match nothing. */
export function nothingToDo(action: Action): string {
  if (verbOf(action) === verbs.import) return 'Nothing to do.';
  return `No ${countedNoun(1, action).slice(2)} matches. Nothing to do.`;
}

/** What stands for the id of a record that the service has yet to make. */
export const futureIds = { player: '(new player)', document: '(new document)' } as const;

/** True for a change that only says that a record would be made. */
export function isFutureId({
  field,
  to,
}: {
  readonly field: string;
  readonly to: unknown;
}): boolean {
  const isId = field === 'id' || field === 'convertedPlayerId';
  return isId && (to === futureIds.player || to === futureIds.document);
}
