/** Sends one write of a record. */
import type { Call } from '../api/types.js';
import type { Context } from '../context.js';
import type { ResourceName } from '../data/resources.js';
import type { Sent, Session } from '../engine/operation.js';
import { ApiError } from '../errors.js';
import type { RecordReader } from './read.js';
import { routeRefusal } from './wrong-route.js';

/** The needs of sending one write, besides its call. */
export interface Sending {
  readonly resource: ResourceName;
  readonly id: string;
  readonly reader: RecordReader;
  readonly isFresh: () => boolean;
}

/**
 * Sends a call once. A 2xx that reports an error is returned with that error. Throws Failure, which
 * says when the refusal may be that of a wrong route; no other route is tried.
 */
export async function sendWrite(
  context: Context,
  call: Call,
  { resource, id, reader, isFresh }: Sending,
): Promise<Sent> {
  try {
    const answer = await context.api.sendOnce(call, isFresh);
    return { answer, record: answer.record?.['id'] === id ? answer.record : undefined };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status < 300) return sentRefusal(error);
    throw await routeRefusal(context, error, call, { resource, id, reader });
  }
}

/** Sends a create once; a 2xx that reports an error is returned with that error. Throws Failure. */
export async function sendCreate(
  context: Context,
  call: Call,
  resource: ResourceName,
): Promise<Sent> {
  try {
    // A create does not depend on a read.
    const answer = await context.api.sendOnce(call, () => true);
    return { answer, record: answer.record };
  } catch (error) {
    if (!(error instanceof ApiError && error.status < 300)) throw error;
    const sent = sentRefusal(error);
    return { ...sent, record: context.api.recordIn(sent.answer.body, resource) };
  }
}

/** The parts of a session that creates: there is nothing to read, and the id is known only afterwards. */
export function creating(context: Context) {
  return {
    read: async () => ({ record: undefined, at: context.instant() }),
    image: () => undefined,
    imageAfter: (record) =>
      record['id'] === undefined ? undefined : { kind: 'created', after: record },
    made: ({ id = null }) => ({ id }),
  } as const satisfies Partial<Session>;
}

/** The result of a step that was refused: no record, and the error as its sign. */
export function sentRefusal(sign: ApiError): Sent {
  const answer = { status: sign.status, headers: {}, body: sign.details.body };
  return { answer, record: undefined, sign };
}
