/** The steps of an upload (contract 4.2, 4.3, 4.5): the grant, the bytes to the store, and the document. */
import { createHash } from 'node:crypto';
import { type UploadContentType, UploadGrant } from '../api/schemas.js';
import { isExpiredUrl } from '../api/store/answers.js';
import type { UploadSource } from '../api/store/file-store.js';
import type { Call } from '../api/types.js';
import type { Context } from '../context.js';
import { isObject, type JsonObject } from '../data/json.js';
import { holdsSignedUrl } from '../data/signed-urls.js';
import { plural, shellQuote } from '../data/text.js';
import { pause } from '../data/time.js';
import type { Sent } from '../engine/operation.js';
import { Failure, ProtocolError, StoreError, UnknownOutcomeError } from '../errors.js';
import { leavesCreateOpen } from '../resources/create.js';
import { findDocument, isAnswerTo } from './documents.js';
import type { LocalFile } from './local-file.js';

/** The facts that the service gets about a file. */
export type FileFacts = {
  readonly contentType: UploadContentType;
  readonly sizeBytes: number;
};

/** The fields of a document to create, apart from where its bytes are. */
export interface DocumentFields extends FileFacts {
  readonly name: string;
  readonly tags: readonly string[];
}

/** The location of a file's bytes in the store, and their hash if requested. */
export type StoredFile = {
  readonly fileKey: string;
  readonly fileRef: string;
  /** SHA-256 of the bytes that were sent, in hex. */
  readonly sha256?: string | undefined;
};

/** Step 1: asks for a place to put a file (contract 4.2). */
export function grantCall({ contentType, sizeBytes }: FileFacts): Call {
  return { endpoint: 'requestUpload', body: { contentType, sizeBytes } };
}

/** Step 3: records what was put there (contract 4.3). */
export function documentCall(
  { name, contentType, sizeBytes, tags }: DocumentFields,
  { fileKey, fileRef }: StoredFile,
): Call {
  const body = { name, fileUrl: fileRef, fileKey, contentType, sizeBytes, tags };
  return { endpoint: 'createDocument', body };
}

const fromStepOne = '(from step 1)';

/**
 * The call that comes next for a file, and all requests still to send as a dry run shows them: three,
 * or only that for the document if the file has arrived.
 */
export function plannedUpload(
  context: Context,
  document: DocumentFields,
  stored: StoredFile | undefined,
) {
  const later = { fileKey: fromStepOne, fileRef: fromStepOne };
  const create = documentCall(document, stored ?? later);
  if (stored) return { call: create, requests: [context.api.describe(create)] };
  const grant = grantCall(document);
  const put = { method: 'PUT', path: '(uploadUrl from step 1)', basis: 'stated' } as const;
  return {
    call: grant,
    requests: [context.api.describe(grant), put, context.api.describe(create)],
  };
}

/** How often a signed URL is renewed that expired or was used up before its file was sent. */
const renewals = 2;

interface StoreFileOptions {
  /** Resolves when the step is on disk. */
  readonly step: (entry: JsonObject) => Promise<void>;
  /** Called with the bytes sent by the current attempt. */
  readonly onBytes: (bytes: number) => void;
  readonly hashes: boolean;
  /** The keys of earlier attempts, which may have left bytes in the store. */
  readonly earlier: readonly string[];
  /** Returns the path of the other file that a key was granted for, if one was: its bytes would be replaced. */
  readonly ownerOf: (key: string) => string | undefined;
}

/**
 * Steps 1 and 2 of contract 4.5: requests a signed URL and sends the bytes there, never the API key.
 * Renews a URL that has expired, is used up or leads to those of another file, at most twice. Throws
 * StoreError for a refusal that a new URL would not change, InputError for a file that changed.
 */
export async function storeFile(
  context: Context,
  file: LocalFile,
  options: StoreFileOptions,
  turn = 0,
): Promise<StoredFile> {
  const { step, earlier, ownerOf } = options;
  const grant = UploadGrant.parse((await context.api.send(grantCall(file))).body);
  const owner = ownerOf(grant.key);
  if (owner !== undefined) {
    if (turn === renewals) throw keyInUse(file.path, grant.key, owner);
    // The key may be made of the file's name and the time in seconds.
    await pause(1000, context.signal);
    return storeFile(context, file, options, turn + 1);
  }
  const stored = { fileKey: grant.key, fileRef: grant.fileRef };
  // The signed URL is a secret and is not recorded.
  const granted = {
    state: 'granted',
    ...stored,
    ...(earlier.length > 0 && { earlier: [...earlier] }),
  };
  await Promise.all([step(granted), step({ state: 'put_started' })]);
  try {
    const sha256 = await sendBytes(context, file, grant, options);
    await step({ state: 'put_done', ...(sha256 && { sha256 }) });
    return { ...stored, sha256 };
  } catch (error) {
    // 412: the URL stores a file only once (`if-none-match`), and an attempt without an answer did.
    const isSpent = error instanceof StoreError && (error.status === 412 || isExpiredUrl(error));
    if (!isSpent || turn === renewals) throw error;
    context.detail(`The upload URL of ${file.path} was refused; requesting a new one.`);
    return storeFile(context, file, { ...options, earlier: [...earlier, grant.key] }, turn + 1);
  }
}

function keyInUse(path: string, key: string, owner: string): ProtocolError {
  return new ProtocolError(
    `${path} was not sent: the service gave it the key of ${owner}, ${key}, whose bytes it would replace.`,
    {
      code: 'keyInUse',
      hint: 'Try again later; if it happens again, tell the operator of the service.',
    },
  );
}

/** Sends the bytes and returns their SHA-256, computed in the same pass, if `hashes` is set. */
async function sendBytes(
  context: Context,
  file: LocalFile,
  { uploadUrl, headers }: UploadGrant,
  { onBytes, hashes }: StoreFileOptions,
): Promise<string | undefined> {
  let hash = createHash('sha256');
  const { contentType, sizeBytes } = file;
  const source: UploadSource = {
    contentType,
    sizeBytes,
    onProgress: onBytes,
    async *open() {
      // An attempt that was given up may still be reading.
      const own = createHash('sha256');
      hash = own;
      for await (const chunk of file.open()) {
        if (hashes) own.update(chunk);
        yield chunk;
      }
    },
  };
  const files = await context.files();
  // Additional headers of the grant are not in the contract; the file store checks them.
  await files.put(uploadUrl, source, isObject(headers) ? headers : undefined);
  file.verify();
  return hashes ? hash.digest('hex') : undefined;
}

/**
 * Returns the document from an answer to step 3. If the answer reports an error or holds no record, the
 * list decides, and where it cannot, the answer. Throws that error, UnknownOutcomeError if the answer is
 * another record, or if it holds none and the list proves that there is none yet.
 */
export async function checkDocument(
  context: Context,
  call: Call,
  { record: made, sign, answer }: Sent,
): Promise<JsonObject> {
  const { body = {} } = call;
  const unknown = (what: string) => {
    const { method, path } = context.api.describe(call);
    const sentence = `The service answered ${method} ${path} with ${what}.`;
    return new UnknownOutcomeError(sentence, { method, path }, { delivery: 'applied' });
  };
  const answered = made && isAnswerTo(context, body, made) ? made : undefined;
  if (answered && !sign) return answered;
  if (made && !sign) throw unknown('another record');
  let found = answered;
  let isListed = true;
  try {
    found = await findDocument(context, body);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    isListed = false;
  }
  if (sign && !found) throw sign;
  if (sign) context.note(`The document was created, although the service answered: ${sign.said}.`);
  else if (!found && isListed)
    throw unknown(`${answer.status} and no record, and the list does not show the document`);
  else if (!found && leavesCreateOpen(answer.status))
    throw unknown(`${answer.status} and no record`);
  else if (!found)
    context.note('The document was created; the service sent no record, so it was not checked.');
  return found ?? {};
}

/** Prints what is left over when the bytes arrived but no document was created, and how to finish it. */
export function noteLeftover(
  context: Context,
  path: string,
  { name, contentType, sizeBytes, tags }: DocumentFields,
  { fileKey, fileRef }: StoredFile,
  error: Failure,
): void {
  const byHand = [
    'rosterctl docs create',
    `--file-key ${shellQuote(fileKey)} --file-ref ${shellQuote(fileRef)}`,
    `--content-type ${contentType} --size-bytes ${sizeBytes} --name ${shellQuote(name)}`,
    ...tags.map((tag) => `--tag ${shellQuote(tag)}`),
  ];
  const isUnknown = error instanceof UnknownOutcomeError;
  const sent = `${path} was sent (${plural(sizeBytes, 'byte')})`;
  // The next message names the command that finishes the upload, so a person needs neither key nor reference.
  const isBrief = isUnknown && context.streams.stderr.isTerminal;
  const what = isBrief ? '.' : '. Look first: rosterctl docs list';
  context.message(
    isUnknown
      ? `${sent}, and its document may have been created${what}`
      : `${sent}, but no document records it.`,
  );
  const print = (line: string) => (isBrief ? context.detail(line) : context.message(line));
  print(`key ${fileKey}, fileRef ${fileRef}`);
  // Of a reference that holds a secret, stderr shows only a part.
  const finish = holdsSignedUrl(fileRef) ? 'rosterctl uploads finish --all' : byHand.join(' ');
  print(`${isUnknown ? 'If it is missing' : 'Finish it with'}: ${finish}`);
}
