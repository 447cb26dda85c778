/** Responses of the file store: errors, retries, and the headers that an upload may need. */

import { isObject, type JsonObject } from '../../data/json.js';
import { readJson } from '../../data/json-body.js';
import { lacksFile } from '../../data/outcome-errors.js';
import { groupedNumber, plural } from '../../data/text.js';
import { type Delivery, ProtocolError, StoreError } from '../../errors.js';
import { deliveryOfStatus } from '../retry.js';
import type { FullResponse } from '../wire.js';
import { isEncoded } from './file-version.js';

/** Responses other than files are short, and the start of a long one is enough. */
export function shortAnswerLimits(stallMs: number) {
  return { answerMs: 2 * stallMs, bodyBytes: 64 * 1024, cutBody: true };
}

/** Returns how far a PUT with this response got; undefined if the response is final. */
export function storeDelivery(reply: FullResponse): Delivery | undefined {
  if (reply.status === 400 && storeErrorCode(reply).code === 'RequestTimeout') return 'ambiguous';
  return deliveryOfStatus(reply.status);
}

/**
 * The error of a store, with its own code and at most 200 safe characters of its message. `wait`:
 * the seconds that it asks to wait, if that is more than --max-wait allows.
 */
export function storeError(
  operation: 'upload' | 'download',
  reply: FullResponse,
  wait: number | undefined,
): StoreError {
  const { status } = reply;
  if (status >= 300 && status < 400)
    return new StoreError(
      `The file store redirected the ${operation} (${status}); it was not followed.`,
      status,
      'redirect',
    );
  if (status < 300)
    return new StoreError(
      `The file store answered ${status} instead of the file.`,
      status,
      'noFile',
      {
        hint:
          wait === undefined
            ? 'It may not be ready: run the same command again later.'
            : waitHint(wait),
      },
    );
  const { code, text } = storeErrorCode(reply);
  const description = [code, text].filter(Boolean).join(': ');
  // Some texts begin with the status.
  const start = description.startsWith(`${status} `) ? '' : `${status} `;
  const refusal = `${start}${description}`.trimEnd().replace(/\.?$/, '.');
  const hint =
    wait === undefined
      ? hintOf(operation, { status, code: code ?? StoreError.noCode, message: text })
      : waitHint(wait);
  return new StoreError(`The file store refused the ${operation}: ${refusal}`, status, code, {
    hint,
  });
}

/** How stores refuse an expired URL: S3 and Azure with 403, Swift with 401, nginx with 410. */
const expiredStatuses: readonly number[] = [401, 403, 410];

/** Codes of an expired URL that stand for other refusals too, as S3 and Azure send them. */
const vagueCodes = /^(AccessDenied|AuthenticationFailed|Forbidden|Unauthorized)$/i;

/** True if the store says that the URL has expired (`ExpiredToken` comes with 400), or leaves it open. */
export function isExpiredUrl({ status, code, message }: StoreRefusal): boolean {
  if (/expired/i.test(`${code} ${message}`)) return mayBeExpired({ status });
  return expiredStatuses.includes(status) && (code === StoreError.noCode || vagueCodes.test(code));
}

type StoreRefusal = Pick<StoreError, 'status' | 'code' | 'message'>;

/** True for a refusal of a download that a new URL may end, whatever its code: asking again costs little. */
export function mayBeExpired({ status }: Pick<StoreError, 'status'>): boolean {
  return status === 400 || expiredStatuses.includes(status);
}

function waitHint(seconds: number): string {
  return `The file store asks you to wait ${seconds} s, longer than --max-wait allows. Run the same command again later.`;
}

function hintOf(operation: 'upload' | 'download', refusal: StoreRefusal): string | undefined {
  const { status, code, message } = refusal;
  if (code === 'SignatureDoesNotMatch')
    return operation === 'upload'
      ? 'The headers differ from the signed ones. Check the content type and the size; if they are right, tell the operator of the service.'
      : 'The service did not sign the URL as the file store expects: tell the operator of the service.';
  if (code === 'RequestTimeTooSkewed')
    return 'The clocks of the service and of the file store differ: tell the operator of the service.';
  const isOverQuota = /quota/i.test(`${code} ${message}`);
  if (!isOverQuota && (status === 413 || code === 'EntityTooLarge'))
    return 'The file is too large for the store.';
  if (isExpiredUrl(refusal))
    return 'The signed URL may have expired. If the store refuses a new one too, tell the operator of the service.';
  if (operation === 'download' && lacksFile(refusal))
    return 'The store does not have the file of this document.';
  if (isOverQuota || status === 404 || expiredStatuses.includes(status))
    return 'This is a problem between the service and its file store: tell the operator of the service.';
  return undefined;
}

function storeErrorCode({ body, headers }: FullResponse): {
  code: string | undefined;
  text: string;
} {
  const read = readJson(body, headers['content-type']);
  if (read.kind === 'json' && isObject(read.value)) return errorInJson(read.value);
  if (read.kind !== 'other' && read.kind !== 'html') return { code: undefined, text: '' };
  const code = elementText(read.text, 'Code');
  if (code !== undefined) return { code, text: elementText(read.text, 'Message') ?? '' };
  // Swift says of its plain text that it is HTML.
  const text = read.text.includes('<') ? '' : sanitize(read.text);
  // Ceph answers its Swift URLs with the code alone, as text.
  return /^([A-Z][a-z]+){2,}$/.test(text) ? { code: text, text: '' } : { code: undefined, text };
}

function errorInJson(body: JsonObject): { code: string | undefined; text: string } {
  const code = [body['code'], body['error']].find((each) => typeof each === 'string');
  const message = typeof body['message'] === 'string' ? sanitize(body['message']) : '';
  return { code: typeof code === 'string' ? codeWord(code) : undefined, text: message };
}

function elementText(xml: string, name: string): string | undefined {
  const text = new RegExp(`<${name}>([^<]{1,1000})</${name}>`).exec(xml)?.[1];
  if (text === undefined) return undefined;
  return name === 'Code' ? codeWord(text) : sanitize(text);
}

function codeWord(text: string): string | undefined {
  return /^[\w.-]{1,64}$/.test(text) ? text : undefined;
}

/** Makes one line without control, bidirectional or invisible characters. */
function sanitize(text: string): string {
  return text
    .replace(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
    .slice(0, 200);
}

/**
 * Throws ProtocolError for a file in an encoding that was not requested, unless it is stored in
 * that encoding: then its size is the one in its record.
 */
export function checkContentEncoding(
  headers: { readonly [name: string]: string },
  size: number | undefined,
  expectedSize: number | undefined,
): void {
  if (!isEncoded(headers) || (size !== undefined && size === expectedSize)) return;
  throw new ProtocolError(
    'The file store sent the file in a content encoding that rosterctl did not ask for.',
    { hint: 'Nothing was kept. To download it with another program, print its URL: --url' },
  );
}

const allowedHeaders =
  /^(x-amz-[\w-]+|x-goog-[\w-]+|x-ms-[\w-]+|content-md5|content-disposition|cache-control|if-none-match)$/;

/**
 * Returns the extra headers that an upload grant asks for. Throws ProtocolError for any that is not
 * allowed, because the service must not make us send what a store or a proxy would misinterpret.
 * Ignores content type and length, which we send ourselves.
 */
export function storeHeaders(headers: JsonObject | undefined): { readonly [name: string]: string } {
  const sent = new Map<string, string>();
  for (const [key, value] of Object.entries(headers ?? {})) {
    const name = key.toLowerCase();
    if (name === 'content-type' || name === 'content-length') continue;
    if (
      !allowedHeaders.test(name) ||
      typeof value !== 'string' ||
      !/^[\u0020-\u007e]*$/.test(value)
    )
      throw new ProtocolError(
        'The upload answer asks for a header that rosterctl does not send to a file store.',
        { hint: 'Nothing was uploaded.' },
      );
    sent.set(name, value);
  }
  return Object.fromEntries(sent);
}

/** Headers that a store needs for each upload, known by its URL: Azure signs with `sv` and `sig`. */
export function headersOfStore({ searchParams }: URL): { readonly [name: string]: string } {
  const isAzure = searchParams.has('sv') && searchParams.has('sig');
  return isAzure ? { 'x-ms-blob-type': 'BlockBlob' } : {};
}

const hint = 'Nothing was saved. Try again; if it happens again, upload the document again.';

/** The error for a file whose size differs from what `who` says. */
export function wrongSize(size: number, who: string, expectedSize: number): ProtocolError {
  return new ProtocolError(
    `The file has ${plural(size, 'byte')}, but ${who} says ${groupedNumber(expectedSize)}.`,
    { code: 'wrongSize', hint },
  );
}

/** The error for a file that is longer than `who` says. */
export function tooLong(who: string, expectedSize: number): ProtocolError {
  return new ProtocolError(
    `The file has more bytes than ${who} says (${groupedNumber(expectedSize)}).`,
    { code: 'wrongSize', hint },
  );
}
