/** One page of a list: its records as they arrive, then the envelope around them. */

import type { Batches } from '../data/batches.js';
import { isObject, type JsonObject, maxDepth, TooDeepError } from '../data/json.js';
import { isGarbled, saysLatin1 } from '../data/json-body.js';
import { elementsElsewhere, ListSplitter, TooLargeError } from '../data/list-splitter.js';
import { resourceWords } from '../data/resources.js';
import { groupedNumber } from '../data/text.js';
import type { Instant } from '../data/time.js';
import { type ApiError, type CallSite, ProtocolError } from '../errors.js';
import { listAnswered } from './answers.js';
import {
  describeTopLevel,
  type FoundList,
  findList,
  type ListSearch,
  looksLikeList,
} from './list-envelope.js';
import type { Transport } from './transport.js';
import { failureMidStream, responseLimit } from './transport-error.js';
import {
  BrokenBody,
  type OpenReply,
  type ResponseHead,
  type StreamStart,
  siteOf,
  type TransportResponse,
} from './wire.js';

/** The response to a list call: its records in batches as they arrive, then the envelope. */
export interface ListPage extends ResponseHead {
  readonly batches: Batches<JsonObject>;
  /** Returns the envelope; call it after the last batch. Throws the failure in the response. */
  envelope(): Envelope;
  /** When the last byte arrived; call it after the last batch. */
  arrivedAt(): Instant;
}

/** Everything around the records of a page. */
interface Envelope extends Pick<FoundList, 'place' | 'isAssumed'> {
  readonly body: unknown;
  /** An error in the envelope beside its rows: some rows may be missing. */
  readonly refusal: ApiError | undefined;
}

interface PageRequest {
  readonly transport: Transport;
  readonly call: CallSite;
  /** Path and query below the base URL. */
  readonly path: string;
  readonly origin: string;
  readonly search: ListSearch;
  readonly until?: AbortSignal | undefined;
}

/** Lists shorter than this are buffered, so that a broken response can be retried. */
const bufferedBytes = 64 * 1024;

/**
 * Requests one page and resolves as soon as its first records are there. A break before them is
 * retried here. A break after them throws NetworkError, or ProtocolError with code `cut`, while
 * iterating; it never ends the list early.
 */
export async function readListPage(page: PageRequest): Promise<ListPage> {
  const { transport, call, path, until } = page;
  const request = { method: call.method, path, template: call.path, until };
  const result = await transport.stream(request, (open) => begin(open, page));
  if ('response' in result) return completePage(result.response, page);
  const { begun } = result;
  return 'complete' in begun ? completePage(begun.complete, page) : splitPage(begun, page);
}

/** A list whose first records have arrived. */
interface Splitting {
  readonly splitter: ListSplitter;
  readonly first: readonly JsonObject[];
  readonly open: OpenReply;
}

/** Reads up to the first records of a long list, or to the end of a body that cannot be split. */
async function begin(
  open: OpenReply,
  page: PageRequest,
): Promise<StreamStart<{ readonly complete: TransportResponse } | Splitting>> {
  const { status, headers, stream, at } = open;
  const pieces: Buffer[] = [];
  let bytes = 0;
  let splitCount = 0;
  // Only the complete body shows if it is UTF-8 after all.
  let splitter = saysLatin1(headers['content-type'])
    ? undefined
    : new ListSplitter((keys) => looksLikeList(keys, page.search), responseLimit.bytes);
  for (;;) {
    const piece = await stream.next();
    if (piece === undefined) {
      const response = { status, headers, body: Buffer.concat(pieces), at: stream.endedAt ?? at };
      return { value: { complete: response }, retryOnce: isGarbled(response) };
    }
    pieces.push(piece);
    bytes += piece.length;
    if (bytes > responseLimit.bytes) throw new BrokenBody({ why: 'tooLarge', delivery: 'applied' });
    if (bytes < bufferedBytes || !splitter) continue;
    const first = tryPush(splitter, pieces.slice(splitCount));
    splitCount = pieces.length;
    // If this is not a list after all, `findList` may still understand the complete body.
    if (!first?.every(isObject)) splitter = undefined;
    else if (first.length > 0) return { value: { splitter, first, open }, isLong: true };
  }
}

function tryPush(splitter: ListSplitter, pieces: readonly Buffer[]): unknown[] | undefined {
  try {
    return pieces.flatMap((piece) => splitter.push(piece));
  } catch {
    return undefined;
  }
}

function completePage(response: TransportResponse, page: PageRequest): ListPage {
  const { rows, ...envelope } = parseListResponse(response, page);
  return {
    status: response.status,
    headers: response.headers,
    envelope: () => envelope,
    arrivedAt: () => response.at,
    batches: (async function* () {
      yield rows;
    })(),
  };
}

function splitPage(start: Splitting, page: PageRequest): ListPage {
  const { splitter, open } = start;
  const { status, headers, stream, at } = open;
  return {
    status,
    headers,
    batches: pieceBatches(start, page),
    arrivedAt: () => stream.endedAt ?? at,
    envelope() {
      const parsed = parseListResponse({ status, headers, body: splitter.envelope(), at }, page);
      if (parsed.rows.length === 1 && parsed.rows[0]?.[elementsElsewhere] === true) return parsed;
      throw new ProtocolError(
        `The answer to ${page.call.method} ${page.call.path} holds more than one list of ${resourceWords[page.search.resource].plural}.`,
        { call: page.call, status, hint: findSetting },
      );
    },
  };
}

async function* pieceBatches(
  { splitter, first, open: { stream } }: Splitting,
  page: PageRequest,
): Batches<JsonObject> {
  const {
    origin,
    call: { method, path: template },
    path,
  } = page;
  const site = { origin, call: siteOf({ method, template, path }) };
  let count = first.length;
  try {
    yield first;
    for await (const piece of stream.pieces((error) => failureMidStream(error, site))) {
      const records = pushPiece(splitter, piece, count, page);
      count += records.length;
      if (records.length > 0) yield records;
    }
    if (!splitter.ended) throw brokenAt(count, 'ends in the middle of the list', page, 'cut');
  } finally {
    stream.abandon();
  }
}

function pushPiece(
  splitter: ListSplitter,
  piece: Buffer,
  count: number,
  page: PageRequest,
): readonly JsonObject[] {
  try {
    const records = splitter.push(piece);
    if (records.every(isObject)) return records;
  } catch (error) {
    if (error instanceof TooLargeError)
      throw brokenAt(count, `has a part that is larger than ${responseLimit.words}`, page);
    if (error instanceof TooDeepError)
      throw brokenAt(count, `holds a record nested more than ${maxDepth} levels deep`, page);
    if (error instanceof SyntaxError) throw brokenAt(count, 'stops being JSON', page);
    throw error;
  }
  throw brokenAt(count, 'lists something other than records', page);
}

function brokenAt(
  count: number,
  problem: string,
  { origin, call }: PageRequest,
  code?: string,
): ProtocolError {
  return new ProtocolError(
    `The answer from ${origin} ${problem}, after ${groupedNumber(count)} records or more.`,
    { call, ...(code !== undefined && { code }) },
  );
}

const findSetting = 'Find the setting that reads it: rosterctl doctor --shapes --apply';

/** Returns the list in a response and its envelope. Throws the failure in the response. */
function parseListResponse(response: TransportResponse, page: PageRequest): Envelope & FoundList {
  const { call, search } = page;
  const { body, found, refusal } = listAnswered(
    response,
    page,
    (answer) => findList(answer, search),
    search.idName,
  );
  if (found) return { ...found, body, refusal };
  const { resource, path } = search;
  const key = `lists.${resource}.path`;
  const isSet = path !== undefined;
  const where = isSet ? `at "${path}" (${key}) in` : 'in';
  const isFoundWithout = isSet && findList(body, { ...search, path: undefined });
  throw new ProtocolError(
    `No list of ${resourceWords[resource].plural} was found ${where} the answer, which holds: ${describeTopLevel(body)}.`,
    {
      call,
      status: response.status,
      hint: isFoundWithout
        ? `To let rosterctl find it: rosterctl config set ${key} auto`
        : findSetting,
    },
  );
}
