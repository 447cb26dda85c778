import type { Completeness } from '../api/types.js';
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { GuardError } from '../errors.js';
import type { SeenFile, UploadJob } from './plan.js';

/** The code of a name that is not free. */
export const exists = 'exists';

/** A name that is not free, and the document that has it. */
export interface TakenName {
  readonly message: string;
  readonly hint: string;
  readonly document?: JsonObject;
}

/**
 * Says of a file whether its name is taken, where that matters: by an earlier file of the same line
 * or by a document; the list is read once. It throws GuardError: `exists` for `--if-exists error`,
 * `incomplete` where a list in doubt does not show the name.
 */
export function takenNames(context: Context, { name, ifExists }: UploadJob) {
  let documents: Promise<NamedDocuments> | undefined;
  const find = async (wanted: string): Promise<TakenName | undefined> => {
    documents ??= documentNames(context);
    const { names, verdict } = await documents;
    const document = names.get(wanted);
    if (!document && verdict.state === 'doubtful') throw inDoubt(wanted, verdict.reason);
    return document && byDocument(wanted, document);
  };
  return async (file: Pick<SeenFile, 'name' | 'namesake'>, path: string) => {
    if (ifExists === 'duplicate') return undefined;
    const wanted = name ?? file.name;
    const { namesake } = file;
    const taken =
      namesake === undefined ? await find(wanted) : byNamesake(wanted, [namesake, path]);
    if (taken && ifExists === 'error')
      throw new GuardError(taken.message, { code: exists, hint: taken.hint });
    return taken;
  };
}

function byDocument(name: string, document: JsonObject): TakenName {
  return {
    message: `A document named ${name} exists already: ${String(document['id'])}.`,
    hint: 'Give it another --name, or use --if-exists skip or duplicate.',
    document,
  };
}

function byNamesake(name: string, paths: readonly string[]): TakenName {
  return {
    message: `Two files would be named ${name}: ${paths.join(' and ')}.`,
    hint: 'Upload one of them alone with another --name, or use --if-exists skip or duplicate.',
  };
}

function inDoubt(name: string, reason: string): GuardError {
  return new GuardError(
    `Whether a document is named ${name} is not known: the list of documents may be incomplete: ${reason}. Nothing was sent.`,
    { code: 'incomplete', hint: 'To upload it all the same: --if-exists duplicate' },
  );
}

/** The documents there are, by name. */
interface NamedDocuments {
  readonly names: ReadonlyMap<unknown, JsonObject>;
  /** Whether these are all. */
  readonly verdict: Completeness;
}

async function documentNames(context: Context): Promise<NamedDocuments> {
  const names = new Map<unknown, JsonObject>();
  const list = context.api.list('documents');
  for await (const record of list) names.set(record['name'], record);
  return { names, verdict: list.completeness() };
}
