import { isEncoded } from '../data/file-version.js';
import { isObject, type JsonObject } from '../data/json.js';
import { plural } from '../data/text.js';
import { type Delivery, ProtocolError, StoreError } from '../errors.js';
import { readJson } from './json-body.js';
import { deliveryOfStatus } from './retry.js';

interface Reply {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: Buffer;
}

/** Bounds of what a store says besides a file: it is short, and of a long one the beginning is enough. */
export function shortAnswerLimits(stallMs: number) {
  return { answerMs: 2 * stallMs, bodyBytes: 64 * 1024, cutBody: true };
}

/** Whether the store's answer to a PUT asks for the same PUT again. */
export function storeDelivery(reply: Reply): Delivery | undefined {
  if (reply.status === 400 && codeOf(reply).code === 'RequestTimeout') return 'ambiguous';
  return deliveryOfStatus(reply.status);
}

/**
 * The refusal of a store, with its own code and at most 200 harmless characters of its words.
 * `waitAsked`: the seconds that it asks to wait, where they are more than --max-wait allows.
 */
export function storeError(
  what: 'upload' | 'download',
  reply: Reply,
  waitAsked?: number,
): StoreError {
  const { status } = reply;
  if (status >= 300 && status < 400)
    return new StoreError(
      `The file store redirected the ${what} (${status}); it was not followed.`,
      status,
      'redirect',
    );
  const { code, text } = codeOf(reply);
  const words = [code, text].filter(Boolean).join(': ');
  return new StoreError(
    `The file store refused the ${what}: ${status}${words ? ` ${words}` : ''}.`,
    status,
    code,
    { hint: waitAsked === undefined ? hintOf(status, code) : laterHint(waitAsked) },
  );
}

/** What a store answers to a URL that ran out. */
export function mayBeExpired({ status }: StoreError): boolean {
  return [400, 401, 403, 410].includes(status);
}

function laterHint(seconds: number): string {
  return `The file store asks to wait ${seconds} s, longer than --max-wait allows. Run the same command again later.`;
}

function hintOf(status: number, code: string | undefined): string | undefined {
  if (code === 'SignatureDoesNotMatch')
    return 'The headers differ from the signed ones: check the content type and the size.';
  if (code === 'RequestTimeTooSkewed')
    return 'The clocks of the service and of the file store differ: tell whoever runs the service.';
  if (status === 403) return 'The signed URL may have expired: ask for a new one.';
  if (status === 413 || code === 'EntityTooLarge') return 'The file is too large for the store.';
  return undefined;
}

function codeOf({ body, headers }: Reply): { code: string | undefined; text: string } {
  const read = readJson(body, headers['content-type']);
  if (read.kind === 'json' && isObject(read.value)) return inJson(read.value);
  if (read.kind !== 'other') return { code: undefined, text: '' };
  const code = element(read.text, 'Code');
  if (code !== undefined) return { code, text: element(read.text, 'Message') ?? '' };
  return { code: undefined, text: /^\s*</.test(read.text) ? '' : harmless(read.text) };
}

function inJson(body: JsonObject): { code: string | undefined; text: string } {
  const word = [body['code'], body['error']].find((each) => typeof each === 'string');
  const message = typeof body['message'] === 'string' ? harmless(body['message']) : '';
  return { code: typeof word === 'string' ? codeWord(word) : undefined, text: message };
}

function element(xml: string, name: string): string | undefined {
  const text = new RegExp(`<${name}>([^<]{1,1000})</${name}>`).exec(xml)?.[1];
  if (text === undefined) return undefined;
  return name === 'Code' ? codeWord(text) : harmless(text);
}

function codeWord(text: string): string | undefined {
  return /^[\w.-]{1,64}$/.test(text) ? text : undefined;
}

/** One line without controls, marks that turn the text, or anything invisible. */
function harmless(text: string): string {
  return text
    .replace(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
    .slice(0, 200);
}

/**
 * Throws ProtocolError for a file in an encoding that nobody asked for, unless it is stored in it:
 * then it comes in the size that its record promises.
 */
export function checkEncoding(
  headers: { readonly [name: string]: string },
  size: number | undefined,
  promised: number | undefined,
): void {
  if (!isEncoded(headers) || (size !== undefined && size === promised)) return;
  throw new ProtocolError(
    'The file store sent the file in a content-encoding that was not asked for.',
    { hint: 'Nothing was kept. Take the file from its URL with another program: --url' },
  );
}

const allowedHeaders =
  /^(x-amz-[\w-]+|x-goog-[\w-]+|x-ms-[\w-]+|content-md5|content-disposition|cache-control|if-none-match)$/;

/**
 * The extra headers that an upload answer may ask for. Throws ProtocolError on any other, for the
 * service must not make us send what a store or a proxy would take for something else. A repetition
 * of our own content type and length is passed over.
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
        'The upload answer asks for a header that is not sent to a file store.',
        { hint: 'Nothing was uploaded.' },
      );
    sent.set(name, value);
  }
  return Object.fromEntries(sent);
}

const hint = 'Nothing was kept. Try again; if it stays so, upload the document anew.';

/** The refusal of a file that has another size than `who` says. */
export function wrongSize(size: number, who: string, said: number): ProtocolError {
  return new ProtocolError(`The file has ${plural(size, 'byte')}, but ${who} says ${said}.`, {
    code: 'wrongSize',
    hint,
  });
}

/** The refusal of one that goes on where it should have ended. */
export function tooLong(who: string, said: number): ProtocolError {
  return new ProtocolError(`The file has more than the ${plural(said, 'byte')} that ${who} says.`, {
    code: 'wrongSize',
    hint,
  });
}
