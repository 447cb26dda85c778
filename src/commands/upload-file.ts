import { findRecord } from '../api/records.js';
import { UploadGrant } from '../api/schemas.js';
import { settle } from '../api/settle.js';
import type { Call, PlannedRequest } from '../api/types.js';
import type { Context } from '../context.js';
import { isObject, type JsonObject } from '../data/json.js';
import { plural, shellQuote } from '../data/words.js';
import { Failure, StoreError, UnknownOutcomeError } from '../errors.js';
import { documents } from './kinds.js';
import type { LocalFile } from './local-file.js';

/** What the record of an uploaded file says besides the file itself. */
export interface DocumentText {
  readonly name: string;
  readonly tags: readonly string[];
}

/** Step 1: asks for a place to put a file (contract 4.2). */
export function grantCall({
  contentType,
  sizeBytes,
}: Pick<LocalFile, 'contentType' | 'sizeBytes'>): Call {
  return { endpoint: 'requestUpload', body: { contentType, sizeBytes } };
}

/** Step 3: records what was put there (contract 4.3). */
export function documentCall(
  { contentType, sizeBytes }: Pick<LocalFile, 'contentType' | 'sizeBytes'>,
  grant: { readonly key: string; readonly fileRef: string },
  { name, tags }: DocumentText,
): Call {
  const body = { name, fileUrl: grant.fileRef, fileKey: grant.key, contentType, sizeBytes, tags };
  return { endpoint: 'createDocument', body };
}

const fromStepOne = '(from step 1)';

/** The three requests as a dry run shows them. */
export function plannedUpload(
  context: Context,
  file: LocalFile,
  text: DocumentText,
): readonly PlannedRequest[] {
  const later = { key: fromStepOne, fileRef: fromStepOne };
  return [
    context.api.describe(grantCall(file)),
    { method: 'PUT', path: '(uploadUrl from step 1)', basis: 'stated' },
    context.api.describe(documentCall(file, later, text)),
  ];
}

/**
 * Uploads one file in the three steps of contract 4.5 and returns the document's record. When the
 * file has arrived and its record could not be made, what is left over is told with the command
 * that finishes it, and the failure is thrown.
 */
export async function uploadFile(
  context: Context,
  file: LocalFile,
  text: DocumentText,
): Promise<JsonObject> {
  const line = context.progress.start(`Uploading ${text.name}`);
  let grant: UploadGrant;
  try {
    const source = file.source((bytes) =>
      line.update(`Uploading ${text.name}: ${percent(bytes, file.sizeBytes)}`),
    );
    grant = await putFile(context, file, source);
    await file.verify();
  } finally {
    line.stop();
  }
  return recordFile(context, file, grant, text);
}

/** A signed URL that ran out before the file was sent is asked for once more; a second no stands. */
async function putFile(
  context: Context,
  file: LocalFile,
  source: ReturnType<LocalFile['source']>,
): Promise<UploadGrant> {
  const files = await context.files();
  const first = await requestGrant(context, file);
  try {
    await files.put(first.uploadUrl, source, headersOf(first));
    return first;
  } catch (error) {
    // A signature that does not match what we send would not match it with a new URL either.
    const ranOut = error instanceof StoreError && error.status === 403;
    if (!ranOut || error.code === 'SignatureDoesNotMatch') throw error;
  }
  const second = await requestGrant(context, file);
  await files.put(second.uploadUrl, source, headersOf(second));
  return second;
}

/** Headers that the store wants besides; not in the contract, and the file store judges them. */
function headersOf({ headers }: UploadGrant): JsonObject | undefined {
  return isObject(headers) ? headers : undefined;
}

async function requestGrant(context: Context, file: LocalFile): Promise<UploadGrant> {
  return UploadGrant.parse((await context.api.send(grantCall(file))).body);
}

async function recordFile(
  context: Context,
  file: LocalFile,
  grant: UploadGrant,
  text: DocumentText,
): Promise<JsonObject> {
  try {
    return await createDocument(context, documentCall(file, grant, text));
  } catch (error) {
    if (error instanceof Failure) tellLeftOver(context, file, grant, text, error);
    throw error;
  }
}

/**
 * Sends step 3; the service's answer is the record, completed from the list if it holds none. An
 * answer that is lost is settled by the file's key in the list; nothing is sent twice.
 */
export async function createDocument(context: Context, call: Call): Promise<JsonObject> {
  const listed = () => byKey(context, call.body?.['fileKey']);
  const outcome = await settle(() => context.api.send(call), listed, context);
  if ('seen' in outcome) return outcome.seen;
  const record = findRecord(outcome.answer.body, 'documents');
  if (record) return record;
  const found = await listed().catch((error: unknown) => {
    if (error instanceof Failure) return undefined;
    throw error;
  });
  if (!found) context.note('The document was created; the service sent no record.');
  return found ?? {};
}

async function byKey(context: Context, key: unknown): Promise<JsonObject | undefined> {
  for await (const record of context.api.list(documents.resource))
    if (record['fileKey'] === key) return record;
  return undefined;
}

function tellLeftOver(
  context: Context,
  { contentType, sizeBytes, path }: LocalFile,
  { key, fileRef }: UploadGrant,
  { name, tags }: DocumentText,
  error: Failure,
): void {
  const words = [
    'rosterctl docs create',
    `--file-key ${shellQuote(key)} --file-ref ${shellQuote(fileRef)}`,
    `--content-type ${contentType} --size-bytes ${sizeBytes} --name ${shellQuote(name)}`,
    ...tags.map((tag) => `--tag ${shellQuote(tag)}`),
  ];
  const doubt = error instanceof UnknownOutcomeError;
  context.tell(
    doubt
      ? `${path} was sent (${plural(sizeBytes, 'byte')}); whether its record was made is not known. Look first: rosterctl docs list`
      : `${path} was sent (${plural(sizeBytes, 'byte')}), but no document records it.`,
  );
  context.tell(`key ${key}, fileRef ${fileRef}`);
  context.tell(`${doubt ? 'If it is missing' : 'Finish it with'}: ${words.join(' ')}`);
}

function percent(bytes: number, of: number): string {
  return `${Math.floor((bytes / Math.max(1, of)) * 100)} %`;
}
