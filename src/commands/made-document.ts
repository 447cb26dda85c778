import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { ApiError, ProtocolError } from '../errors.js';
import { documents } from './kinds.js';
import { otherUploads, wholeSecond } from './other-uploads.js';

/**
 * The document that a request with this body made, if the list shows it: by its key; else the only
 * one that shows no key, fits, is not older than the request (`since`, milliseconds) and cannot be
 * another upload's. Undefined where the list proves that there is none. Throws ProtocolError where it
 * proves neither. Not `isKeyNew`: the key is not of this process, and an older or another document
 * may have it.
 */
export async function madeDocument(
  context: Context,
  body: JsonObject,
  since: number,
  { isKeyNew = true }: { readonly isKeyNew?: boolean } = {},
): Promise<JsonObject | undefined> {
  const list = context.api.list(documents.resource);
  const keyless: JsonObject[] = [];
  for await (const record of list) {
    const isKeys = record['fileKey'] === body['fileKey'];
    if (isKeys && (isKeyNew || mayBeNew(record, body, since))) return record;
    if (!showsKey(record) && couldBe(record, body)) keyless.push(record);
  }
  const only = await onlyOwn(
    context,
    keyless.filter((record) => isSurely(record, body, since)),
    body,
    since,
  );
  if (only) return only;
  const verdict = list.completeness();
  if (verdict.state === 'complete' && keyless.length === 0) return undefined;
  const why =
    verdict.state === 'complete'
      ? 'The list of documents does not show whose file a document records.'
      : `The list of documents may be incomplete: ${verdict.reason}.`;
  throw new ProtocolError(`${why} The key of the file is ${String(body['fileKey'])}.`, {
    code: 'incomplete',
  });
}

/**
 * The documents that the list shows, by the keys of their files; none where the key may not read it.
 * Throws Failure.
 */
export async function documentsByKey(context: Context): Promise<ReadonlyMap<unknown, JsonObject>> {
  const found = new Map<unknown, JsonObject>();
  try {
    for await (const record of context.api.list(documents.resource))
      if (showsKey(record)) found.set(record['fileKey'], record);
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 403)) throw error;
  }
  return found;
}

/** Whether the answer to a request with this body is its document: no field of it says otherwise. */
export function isAnswerTo(context: Context, body: JsonObject, record: JsonObject): boolean {
  const { organizationId = context.api.organizationId } = record;
  if (organizationId !== context.api.organizationId) return false;
  return !showsKey(record) || record['fileKey'] === body['fileKey'];
}

/** The only one of these records that no other upload made or may have made. */
async function onlyOwn(
  context: Context,
  fitting: readonly JsonObject[],
  body: JsonObject,
  since: number,
): Promise<JsonObject | undefined> {
  if (fitting.length === 0) return undefined;
  const others = await otherUploads(context, body['fileKey'], since);
  const [only, ...more] = fitting.filter(({ id }) => !others.ids.has(String(id)));
  if (!only || more.length > 0) return undefined;
  const isContested = others.open.some((other) => isSurely(only, other.body ?? only, other.since));
  return isContested ? undefined : only;
}

function showsKey({ fileKey }: JsonObject): boolean {
  return fileKey !== undefined && fileKey !== null;
}

/** Nothing that the service would not change says that it is another file's. */
function couldBe(record: JsonObject, body: JsonObject): boolean {
  return ['contentType', 'sizeBytes'].every(
    (field) => record[field] === undefined || record[field] === body[field],
  );
}

function mayBeNew(record: JsonObject, body: JsonObject, since: number): boolean {
  const isDated = record['createdAt'] !== undefined;
  return record['name'] === body['name'] && (!isDated || isSince(record, since));
}

function isSurely(record: JsonObject, body: JsonObject, since: number): boolean {
  return (
    isSince(record, since) &&
    ['name', 'contentType', 'sizeBytes'].every((field) => record[field] === body[field])
  );
}

function isSince({ createdAt }: JsonObject, since: number): boolean {
  const made = Date.parse(String(createdAt));
  // A service that counts whole seconds rounds a document down to before the request that made it.
  const from = made % wholeSecond === 0 ? Math.floor(since / wholeSecond) * wholeSecond : since;
  return made >= from;
}
