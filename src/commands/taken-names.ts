import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { GuardError } from '../errors.js';
import type { SeenFile, UploadJob } from './upload-plan.js';

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
 * or by a document; the list is read once. It throws GuardError `exists` for `--if-exists error`.
 */
export function takenNames(context: Context, { name, ifExists }: UploadJob) {
  let documents: Promise<ReadonlyMap<unknown, JsonObject>> | undefined;
  const find = async (wanted: string): Promise<TakenName | undefined> => {
    documents ??= documentNames(context);
    const document = (await documents).get(wanted);
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

/** The documents there are, by name. */
async function documentNames(context: Context): Promise<ReadonlyMap<unknown, JsonObject>> {
  const names = new Map<unknown, JsonObject>();
  for await (const record of context.api.list('documents')) names.set(record['name'], record);
  return names;
}
