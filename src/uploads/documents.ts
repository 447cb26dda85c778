/** The documents that exist, from their list: those of a name, and the one that an upload made. */

import { basename } from 'node:path';
import { mediaType } from '../api/schemas.js';
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { isForbidden } from '../data/outcome-errors.js';
import { plainText, recordedSize } from '../data/path.js';
import { quotedId } from '../data/references.js';
import { addTo } from '../data/sorting.js';
import { shellQuote, stripTrailing, upperFirst } from '../data/text.js';
import { stopsRun } from '../engine/decide.js';
import type { Step, Verification } from '../engine/operation.js';
import { ApiError, ProtocolError } from '../errors.js';

/** The listed documents. */
export interface Documents {
  readonly byId: ReadonlyMap<unknown, JsonObject>;
  /** By name, in NFC. */
  readonly byName: ReadonlyMap<string, readonly JsonObject[]>;
  /** By the key of their files; none if the list does not show it. */
  readonly byKey: ReadonlyMap<unknown, readonly JsonObject[]>;
  /** The documents whose keys the list does not show. */
  readonly keyless: readonly JsonObject[];
  /** Why there may be more; undefined if these are all. */
  readonly doubt?: string | undefined;
  /** The refusal of the list, if it is forbidden. */
  readonly refusal?: ApiError | undefined;
  /** No list was recognized, which a note says already. */
  readonly isAssumedEmpty?: boolean;
}

/** Reads the list of documents, as far as it can be read. Throws failures that concern more than the list. */
export async function readDocuments(context: Context): Promise<Documents> {
  const byId = new Map<unknown, JsonObject>();
  const byName = new Map<string, JsonObject[]>();
  const byKey = new Map<unknown, JsonObject[]>();
  const keyless: JsonObject[] = [];
  const documents: Documents = { byId, byName, byKey, keyless };
  const list = context.api.list('documents', {}, { checksCompleteness: true });
  try {
    for await (const record of list) {
      const { id, name, fileKey } = record;
      byId.set(id, record);
      if (typeof name === 'string') addTo(byName, name.normalize(), record);
      if (showsKey(record)) addTo(byKey, fileKey, record);
      else keyless.push(record);
    }
  } catch (error) {
    if (!(error instanceof ApiError || error instanceof ProtocolError)) throw error;
    const isOfList = !stopsRun(error) && error.exitName !== 'temporary' && !context.settings.strict;
    if (!isOfList) throw error;
    if (isForbidden(error))
      return { ...documents, doubt: 'this key cannot list documents', refusal: error };
    const reason = stripTrailing(error.message, '.');
    return { ...documents, doubt: `the list of documents cannot be read: ${reason}` };
  }
  const completeness = list.completeness();
  if (list.cachedFor() > 0)
    return {
      ...documents,
      doubt: 'an intermediate cache answered with an older list of documents',
    };
  if (completeness.state === 'complete') return documents;
  return {
    ...documents,
    doubt: `the list of documents may be incomplete: ${completeness.reason}`,
    isAssumedEmpty: completeness.state === 'assumedEmpty',
  };
}

/**
 * Finds the document created by a request with this body, by its file key in the list. Returns
 * undefined if the list proves that there is none. Throws ProtocolError if it proves neither, because
 * it may be incomplete or omits the keys of documents that match. `since`: the key does not come from
 * this process, so that a document made earlier may have it; one that seems older proves neither,
 * because the clock of the service may be behind, and its name may be in the service's own form.
 */
export async function findDocument(
  context: Context,
  body: JsonObject,
  since?: number,
): Promise<JsonObject | undefined> {
  const { byKey, keyless, doubt } = await readDocuments(context);
  const same = byKey.get(body['fileKey']) ?? [];
  const found = same.find((record) => since === undefined || mayBeNew(record, body, since));
  if (found) return found;
  const isKeyless = keyless.some((record) => !shownDifference(record, body));
  const [older] = same;
  if (doubt === undefined && !isKeyless && !older) return undefined;
  const why =
    doubt !== undefined
      ? `${upperFirst(doubt)}.`
      : isKeyless
        ? 'The list of documents does not show which file a document records.'
        : `The document ${String(older?.['id'])} records this file, but may have been created earlier.`;
  throw new ProtocolError(`${why} The key of the file is ${String(body['fileKey'])}.`, {
    code: 'incomplete',
  });
}

/** Verifies whether a step's document was created. Throws Failure if the list may be incomplete. */
export async function verifyDocument(
  context: Context,
  step: Step,
  since?: number,
): Promise<Verification> {
  const record = await findDocument(context, step.call.body ?? {}, since);
  if (record) return { outcome: 'applied', record };
  return { outcome: 'notApplied', state: { record, at: context.instant() }, step };
}

/** True if a record can be the document created with this body: neither its organization nor its file key differs. */
export function isAnswerTo(context: Context, body: JsonObject, record: JsonObject): boolean {
  const { organizationId = context.api.organizationId } = record;
  if (plainText(organizationId) !== context.api.organizationId) return false;
  return !showsKey(record) || record['fileKey'] === body['fileKey'];
}

const wholeSecond = 1000;

/** Some services show an empty key in place of one that they hide. */
function showsKey({ fileKey }: JsonObject): boolean {
  return fileKey !== undefined && fileKey !== null && fileKey !== '';
}

/**
 * Returns what a record shows to differ from a file with this size and type. A service may leave them
 * out, write a size as text, and a type with parameters.
 */
export function shownDifference(
  record: JsonObject,
  { sizeBytes, contentType }: JsonObject,
): 'size' | 'type' | undefined {
  const size = recordedSize(record);
  if (size !== undefined && size !== sizeBytes) return 'size';
  const { contentType: type } = record;
  return typeof type === 'string' && mediaType(type) !== contentType ? 'type' : undefined;
}

/** Says that a document has the name of a file but differs from it, and how to replace it. */
export function otherContent(
  path: string,
  difference: string,
  id: string,
  record: JsonObject,
): string {
  const name = String(record['name']);
  // --name and a manifest name the document in another way than the file.
  const which = basename(path).normalize() === name.normalize() ? `as ${path}` : `(${name})`;
  const what = difference === 'content' ? 'different content' : `a different ${difference}`;
  const file = path === '-' ? 'FILE' : shellQuote(path);
  return `${id} has the same name ${which} but ${what}; the file is uploaded as a new document. To replace that one: rosterctl docs replace ${quotedId(id)} ${file}`;
}

/** True too for a record without a date that can be read: it may be the one that was just created. */
function mayBeNew({ name, createdAt }: JsonObject, body: JsonObject, since: number): boolean {
  if (name !== body['name']) return false;
  const made = Date.parse(String(createdAt));
  if (Number.isNaN(made)) return true;
  // A service that counts whole seconds rounds a document down to before the request that made it.
  const from = made % wholeSecond === 0 ? Math.floor(since / wholeSecond) * wholeSecond : since;
  return made >= from;
}
