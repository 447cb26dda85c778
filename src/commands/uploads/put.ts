/** `rosterctl uploads put`: sends a file to a presigned URL, step 2 of an upload. */
import * as z from 'zod/mini';
import { UploadContentType } from '../../api/schemas.js';
import { UnsafeUrlError } from '../../api/store/signed-url.js';
import { defineWrite, param } from '../../cli/define.js';
import { nonEmptyText } from '../../cli/schemas.js';
import { sentencesView } from '../../cli/views.js';
import type { Context } from '../../context.js';
import { isObject, type JsonObject } from '../../data/json.js';
import { plural } from '../../data/text.js';
import { UsageError } from '../../errors.js';
import { inspectFile } from '../../uploads/local-file.js';

/** The maximum length in bytes of the response of step 1. */
const maxInputBytes = 64 * 1024;

export default defineWrite({
  summary: 'Send a file to a presigned upload URL (step 2 of an upload)',
  about:
    'The URL is a secret while it is valid: with - it is read from stdin and appears in no process list. ' +
    'Stdin holds the URL alone, or what step 1 prints: rosterctl uploads create … --json | rosterctl uploads put - FILE. ' +
    'The API key is not sent. Content type and size must be those from step 1.',
  examples: [
    ['See what would be sent', 'https://store.example.com/put/1 contract.pdf --dry-run'],
    [
      'With another content type',
      'https://store.example.com/put/1 photo.png --content-type image/png -n',
    ],
  ],
  calls: [],
  // Step 2 of contract 4.5; the store is not an endpoint of the service.
  basis: 'stated',
  args: {
    url: param(nonEmptyText, 'the uploadUrl from step 1; - reads it from stdin', {
      placeholder: 'URL|-',
      ifMissing: 'Which URL? Give the uploadUrl from step 1, or - to read it from stdin.',
    }),
    file: param(nonEmptyText, 'the file to send', { completes: 'file' }),
  },
  flags: {
    contentType: param(z.optional(UploadContentType), 'the content type from step 1', {
      placeholder: 'TYPE',
    }),
  },
  view: sentencesView(({ status, bytes }: { status: number; bytes: number }) => [
    `Sent ${plural(bytes, 'byte')}; the store answered ${status}.`,
  ]),
  async plan(context, { url, file, contentType }) {
    const inspected = await inspectFile(file, contentType);
    const granted = url === '-' ? await grantFromStdin(context) : { url };
    const target = granted.url;
    const { origin, pathname } = parseUploadUrl(target);
    const files = await context.files();
    if (url !== '-') await files.check(target).catch(refuseUnsafe);
    return {
      requests: [{ method: 'PUT', path: `${origin}${pathname}`, basis: 'stated' }],
      changes: [],
      state: { ...granted, file: inspected },
    };
  },
  async apply(context, plan, { url: typed }) {
    const { url, headers, file } = plan.state;
    const files = await context.files();
    const sent = files.put(url, file, headers);
    const { status, bytes } = await (typed === '-' ? sent : sent.catch(refuseUnsafe));
    file.verify();
    return { status, bytes };
  },
});

/** Throws UsageError for an unsafe URL that was typed, because that is not an error of the service. */
function refuseUnsafe(error: unknown): never {
  if (!(error instanceof UnsafeUrlError)) throw error;
  throw noUrl(`rosterctl does not open this URL: ${error.why}.`, error);
}

/** The answer to step 1: a URL and, from some services, the headers to send with the file. */
interface Grant {
  readonly url: string;
  readonly headers?: JsonObject | undefined;
}

/** Reads the grant from stdin: a URL alone, the JSON of step 1, or as `uploads create` prints it to a pipe. */
async function grantFromStdin({ streams }: Context): Promise<Grant> {
  const text = (await streams.stdin.readAll(maxInputBytes)).toString().trim();
  const url = /^uploadUrl\t(.*)$/m.exec(text)?.[1]?.trim();
  if (url === undefined) return text.startsWith('{') ? grantInJson(text) : { url: text };
  // A backslash is doubled in such a line.
  const headers = [...text.matchAll(/^headers\.([^\t\n]+)\t(.*)$/gm)].map(
    ([, name = '', value = '']) => [name, value.replaceAll('\\\\', '\\')] as const,
  );
  return { url, headers: Object.fromEntries(headers) };
}

function grantInJson(text: string): Grant {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    throw noUrl('Stdin is neither a URL nor complete JSON.');
  }
  const { uploadUrl, headers } = isObject(answer) ? answer : {};
  if (typeof uploadUrl !== 'string') throw noUrl('The JSON on stdin holds no uploadUrl.');
  return { url: uploadUrl, headers: isObject(headers) ? headers : undefined };
}

// The message must not repeat the URL, which is a secret even if it is mistyped.
function parseUploadUrl(url: string): URL {
  if (URL.canParse(url) && /^https?:/i.test(url)) return new URL(url);
  throw noUrl(
    url === '' ? 'There is no upload URL: stdin is empty.' : 'This is not an upload URL.',
  );
}

function noUrl(message: string, cause?: UnsafeUrlError): UsageError {
  return new UsageError(message, {
    hint: 'Step 1 prints one: rosterctl uploads create --content-type TYPE --size-bytes N',
    ...(cause && { cause }),
  });
}
