import type { Step, Verification } from '../bulk/operation.js';
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { ApiError, Failure, ProtocolError } from '../errors.js';

/**
 * The document that a request with this body made, by the key of its file in the list. Undefined
 * where the list proves that there is none. Throws ProtocolError where it proves neither: it may be
 * incomplete, or does not show the keys of documents that fit. Not `isKeyNew`: the key is not of this
 * process, and an older document may have it.
 */
export async function madeDocument(
  context: Context,
  body: JsonObject,
  since: number,
  { isKeyNew = true }: { readonly isKeyNew?: boolean } = {},
): Promise<JsonObject | undefined> {
  const list = context.api.list('documents');
  let isKeyless = false;
  for await (const record of list) {
    const isKeys = record['fileKey'] === body['fileKey'];
    if (isKeys && (isKeyNew || mayBeNew(record, body, since))) return record;
    isKeyless ||= !showsKey(record) && couldBe(record, body);
  }
  const verdict = list.completeness();
  if (verdict.state === 'complete' && !isKeyless) return undefined;
  const why =
    verdict.state === 'complete'
      ? 'The list of documents does not show whose file a document records.'
      : `The list of documents may be incomplete: ${verdict.reason}.`;
  throw new ProtocolError(`${why} The key of the file is ${String(body['fileKey'])}.`, {
    code: 'incomplete',
  });
}

/** Reads whether the document of a step was made; an incomplete list tells nothing. */
export async function verifyDocument(
  context: Context,
  step: Step,
  since: number,
  options?: { readonly isKeyNew: boolean },
): Promise<Verification> {
  try {
    const record = await madeDocument(context, step.call.body ?? {}, since, options);
    if (record) return { outcome: 'applied', record };
    return { outcome: 'notApplied', state: { record, at: context.instant() }, step };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { outcome: 'unclear', error };
  }
}

/**
 * The documents that the list shows, by the keys of their files; none where the key may not read it.
 * Throws Failure.
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

/** Whether the answer to a request with this body is its document: no field of it says otherwise. */
export function isAnswerTo(context: Context, body: JsonObject, record: JsonObject): boolean {
  const { organizationId = context.api.organizationId } = record;
  if (organizationId !== context.api.organizationId) return false;
  return !showsKey(record) || record['fileKey'] === body['fileKey'];
}

/** A service that counts whole seconds says that a document was made before it was asked for. */
const wholeSecond = 1000;

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

function isSince({ createdAt }: JsonObject, since: number): boolean {
  const made = Date.parse(String(createdAt));
  // A service that counts whole seconds rounds a document down to before the request that made it.
  const from = made % wholeSecond === 0 ? Math.floor(since / wholeSecond) * wholeSecond : since;
  return made >= from;
}
