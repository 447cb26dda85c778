/** Verifies uploads: finds out from the list of documents whether a document was created. */

import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { incompleteList } from '../data/resources.js';
import type { Step, Verification } from '../engine/operation.js';
import { ApiError, Failure, ProtocolError } from '../errors.js';

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
  const list = context.api.list('documents');
  let isKeyless = false;
  let other: unknown;
  for await (const record of list) {
    const hasKey = record['fileKey'] === body['fileKey'];
    if (hasKey && (since === undefined || mayBeNew(record, body, since))) return record;
    if (hasKey) other = record['id'];
    isKeyless ||= !showsKey(record) && mayMatch(record, body);
  }
  const completeness = list.completeness();
  const isComplete = completeness.state === 'complete';
  if (isComplete && !isKeyless && other === undefined) return undefined;
  const why = !isComplete
    ? incompleteList('documents', completeness.reason)
    : isKeyless
      ? 'The list of documents does not show which file a document records.'
      : `The document ${String(other)} records this file, but may have been created earlier.`;
  throw new ProtocolError(`${why} The key of the file is ${String(body['fileKey'])}.`, {
    code: 'incomplete',
  });
}

/** Verifies whether a step's document was created; unclear if the list may be incomplete. */
export async function verifyDocument(
  context: Context,
  step: Step,
  since?: number,
): Promise<Verification> {
  try {
    const record = await findDocument(context, step.call.body ?? {}, since);
    if (record) return { outcome: 'applied', record };
    return { outcome: 'notApplied', state: { record, at: context.instant() }, step };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { outcome: 'unclear', error };
  }
}

/**
 * Returns the listed documents by file key; none if the API key may not list them (403). Throws other
 * failures.
 */
export async function documentsByKey(context: Context): Promise<ReadonlyMap<unknown, JsonObject>> {
  const found = new Map<unknown, JsonObject>();
  try {
    for await (const record of context.api.list('documents'))
      if (showsKey(record)) found.set(record['fileKey'], record);
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 403)) throw error;
  }
  return found;
}

/** True if a record can be the document created with this body: neither its organization nor its file key differs. */
export function isAnswerTo(context: Context, body: JsonObject, record: JsonObject): boolean {
  const { organizationId = context.api.organizationId } = record;
  if (organizationId !== context.api.organizationId) return false;
  return !showsKey(record) || record['fileKey'] === body['fileKey'];
}

const wholeSecond = 1000;

function showsKey({ fileKey }: JsonObject): boolean {
  return fileKey !== undefined && fileKey !== null;
}

/** True if no field that the service would not change shows that the document is of another file. */
function mayMatch(record: JsonObject, body: JsonObject): boolean {
  return ['contentType', 'sizeBytes'].every(
    (field) => record[field] === undefined || record[field] === body[field],
  );
}

function mayBeNew(record: JsonObject, body: JsonObject, since: number): boolean {
  return record['name'] === body['name'] && isSince(record, since);
}

/** True too for a record without a date that can be read: it may be the one that was just created. */
function isSince({ createdAt }: JsonObject, since: number): boolean {
  const made = Date.parse(String(createdAt));
  if (Number.isNaN(made)) return true;
  // A service that counts whole seconds rounds a document down to before the request that made it.
  const from = made % wholeSecond === 0 ? Math.floor(since / wholeSecond) * wholeSecond : since;
  return made >= from;
}
