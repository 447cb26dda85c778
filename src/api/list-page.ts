import type { Batches, Item } from '../data/batches.js';
import type { Instant } from '../data/time.js';
import { isObject, type JsonObject, maxDepth, TooDeepError } from '../data/json.js';
import { elementsElsewhere, ListSplitter, TooLargeError } from '../data/list-splitter.js';
import { type ApiError, type CallSite, ProtocolError } from '../errors.js';
import { bodyOf, failureOf, refusalIn } from './answers.js';
import { BrokenBody } from './wire.js';
import type { ResourceName } from './contract.js';
import { isGarbled } from './json-body.js';
import { findList, looksLikeList, describeTopLevel } from './records.js';
import { responseLimit } from './transport-error.js';
import type { StreamStart, OpenBody, Transport, TransportResponse } from './transport.js';

/** One answer of a list call: its records in batches as they come, then what stands around them. */
export interface ListPage {
  readonly headers: { readonly [name: string]: string };
  readonly batches: Batches<JsonObject>;
  /** The envelope; to be asked when the batches ended. Throws what the whole answer stands for. */
  envelope(): Envelope;
  /** When the last byte came; to be asked when the batches ended. */
  arrivedAt(): Instant;
}

/** What stands around the records of a page. */
interface Envelope {
  readonly body: unknown;
  /** It says no although rows came with it: there may be more of them. */
  readonly refusal: ApiError | undefined;
}

/** What a page is asked of. */
interface ListPlace {
  readonly transport: Transport;
  readonly call: CallSite;
  /** Path and query below the base URL. */
  readonly path: string;
  readonly origin: string;
  readonly resource: ResourceName;
  /** Where the user says that the list is (`lists.<resource>.path`). */
  readonly listPath: string | undefined;
}

/** A list shorter than this is read whole first: then a break in it can be tried again. */
const heldBytes = 64 * 1024;

/**
 * Asks for one page and gives it as soon as its first records are there. A break before them is
 * tried again here; one after them is a NetworkError or a ProtocolError `cut` while iterating, never a
 * shorter list.
 */
export async function readListPage(place: ListPlace): Promise<ListPage> {
  const { transport, call, path } = place;
  const asked = { method: call.method, path, template: call.path };
  const answer = await transport.stream(asked, (body) => begin(body, place));
  if ('response' in answer) return wholePage(answer.response, place);
  const { begun } = answer;
  return 'whole' in begun ? wholePage(begun.whole, place) : splitPage(begun, place);
}

/** A list whose first records are there. */
interface Splitting {
  readonly splitter: ListSplitter;
  readonly first: readonly Item<JsonObject>[];
  readonly body: OpenBody;
}

type Start = { readonly whole: TransportResponse } | Splitting;

/** Reads until the first records of a long list, or to the end of what cannot be split. */
async function begin(body: OpenBody, place: ListPlace): Promise<StreamStart<Start>> {
  const { resource, listPath } = place;
  const { status, headers, at } = body;
  const held: Buffer[] = [];
  let bytes = 0;
  let fed = 0;
  let splitter: ListSplitter | undefined = new ListSplitter(
    (keys) => looksLikeList(keys, resource, listPath),
    responseLimit.bytes,
  );
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop
    const piece = await body.next();
    if (piece === undefined) {
      const whole = { status, headers, body: Buffer.concat(held), at: body.endedAt ?? at };
      return { value: { whole }, retryOnce: isGarbled(whole) };
    }
    held.push(piece);
    bytes += piece.length;
    if (bytes > responseLimit.bytes) {
      body.abandon();
      throw new BrokenBody({ why: 'tooLarge', delivery: 'applied' });
    }
    if (bytes < heldBytes || !splitter) continue;
    const first = tryPush(splitter, held.slice(fed));
    fed = held.length;
    // What is no list after all, findList may still understand as a whole.
    if (!first?.every(isRecord)) splitter = undefined;
    else if (first.length > 0) {
      body.lift();
      return { value: { splitter, first, body } };
    }
  }
}

function isRecord(item: Item<unknown>): item is Item<JsonObject> {
  return isObject(item.value);
}

function tryPush(splitter: ListSplitter, pieces: readonly Buffer[]): Item<unknown>[] | undefined {
  try {
    return pieces.flatMap((piece) => splitter.push(piece));
  } catch {
    return undefined;
  }
}

function wholePage(response: TransportResponse, place: ListPlace): ListPage {
  const { found, ...envelope } = parseListResponse(response, place);
  return {
    headers: response.headers,
    envelope: () => envelope,
    arrivedAt: () => response.at,
    batches: (async function* () {
      yield found.map((value) => ({ value }));
    })(),
  };
}

function splitPage(start: Splitting, place: ListPlace): ListPage {
  const { splitter, body } = start;
  const { status, headers, at } = body;
  return {
    headers,
    batches: batchesOf(start, place),
    arrivedAt: () => body.endedAt ?? at,
    envelope() {
      const judged = parseListResponse({ status, headers, body: splitter.envelope(), at }, place);
      if (judged.found.length === 1 && judged.found[0]?.[elementsElsewhere] === true) return judged;
      throw new ProtocolError(
        `The answer of ${place.call.method} ${place.call.path} holds more than one list of ${place.resource}.`,
        { call: place.call, status, hint: hintFor(place) },
      );
    },
  };
}

async function* batchesOf(
  { splitter, first, body }: Splitting,
  place: ListPlace,
): Batches<JsonObject> {
  let count = first.length;
  try {
    yield first;
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop
      const piece = await body.next();
      if (piece === undefined) break;
      const records = pushed(splitter, piece, count, place);
      count += records.length;
      if (records.length > 0) yield records;
    }
    if (!splitter.ended) throw brokenAt(count, 'ends in the middle of the list', place, 'cut');
  } finally {
    body.abandon();
  }
}

function pushed(
  splitter: ListSplitter,
  piece: Buffer,
  count: number,
  place: ListPlace,
): readonly Item<JsonObject>[] {
  try {
    const records = splitter.push(piece);
    if (records.every(isRecord)) return records;
  } catch (error) {
    if (error instanceof TooLargeError)
      throw brokenAt(count, `has a part that is larger than ${responseLimit.words}`, place);
    if (error instanceof TooDeepError)
      throw brokenAt(count, `holds a record of more than ${maxDepth} levels`, place);
    if (error instanceof SyntaxError) throw brokenAt(count, 'is not JSON any more', place);
    throw error;
  }
  throw brokenAt(count, 'lists something that is no record', place);
}

function brokenAt(
  count: number,
  what: string,
  { origin, call }: ListPlace,
  code?: string,
): ProtocolError {
  return new ProtocolError(`The answer of ${origin} ${what}, after ${count} records or more.`, {
    call,
    ...(code !== undefined && { code }),
  });
}

/** The list in an answer and the answer itself, or the failure that it stands for. */
function parseListResponse(
  response: TransportResponse,
  place: ListPlace,
): Envelope & { readonly found: readonly JsonObject[] } {
  const { call, origin, resource, listPath } = place;
  const { status } = response;
  const failure = status < 400 ? undefined : failureOf(response, call);
  if (failure) throw failure;
  const body = bodyOf(response, { call, origin, needsJson: true });
  const found = findList(body, resource, listPath);
  const hasRows = found !== undefined && found.length > 0;
  const refusal = refusalIn(body, status, call, hasRows || undefined);
  if (refusal && !hasRows) throw refusal;
  if (found) return { body, found, refusal };
  throw new ProtocolError(
    `No list of ${resource} in the answer of ${call.method} ${call.path}; it holds: ${describeTopLevel(body)}.`,
    { call, status, hint: hintFor(place) },
  );
}

function hintFor({ resource }: ListPlace): string {
  return `Name where the list is: rosterctl config set lists.${resource}.path KEY`;
}
