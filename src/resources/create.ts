/** Creates teams and players. */
import { findRecord } from '../api/records.js';
import { callFor, resource as rowOf } from '../api/resources.js';
import type { Call } from '../api/types.js';
import type { Operation, Sent, Session, Step } from '../bulk/operation.js';
import { type TypedFields, touchedFields } from '../cli/field-flags.js';
import { errorMessage } from '../cli/failure.js';
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import type { ResourceName } from '../data/resources.js';
import { type ApiError, Failure, UnknownOutcomeError, UsageError } from '../errors.js';
import { recordReader } from './read.js';
import { creating, sendCreate } from './send.js';

type CreateJob = JsonObject & { readonly body: JsonObject };

/** The create of one record from its fields. A lost answer stays unknown: nothing shows whose record it made. */
export function createOperation(
  resource: ResourceName,
  fields: (context: Context, values: never) => Promise<TypedFields>,
): Operation {
  const bodyOf = async (context: Context, values: never) => {
    const body = touchedFields(await fields(context, values));
    const { noun } = rowOf(resource);
    if (Object.keys(body).length === 0)
      throw new UsageError(`A ${noun} cannot be created without any field.`, {
        hint: `See: rosterctl ${resource} create --help`,
      });
    return body;
  };
  return creation({ resource, confirm: 'several' }, bodyOf, (context, body) =>
    createSession(context, resource, body),
  );
}

/** The create of one record by the body that its command line gives. */
export function creation(
  parts: Pick<Operation, 'resource' | 'confirm'>,
  bodyOf: (context: Context, values: never) => Promise<JsonObject>,
  open: (context: Context, body: JsonObject) => Session,
): Operation {
  return {
    ...parts,
    requiresRun: true,
    createsRow: true,
    // What is asked for stands in the job alone.
    rows: async () => ({
      rows: [{ row: 1, id: 'new' }],
      header: ['id'],
      note: undefined,
      digest: '',
    }),
    job: async (context, values): Promise<CreateJob> => ({ body: await bodyOf(context, values) }),
    open: (context, { body }: CreateJob) => open(context, body),
  };
}

/** What a create writes: all fields of its body. */
export function createStep(call: Call): Step {
  const changes = Object.entries(call.body ?? {}).map(([field, to]) => ({
    field,
    from: undefined,
    to,
  }));
  return { call, changes };
}

function createSession(context: Context, resource: ResourceName, body: JsonObject): Session {
  const { noun } = rowOf(resource);
  const reader = recordReader(context, resource);
  const reread = async (record: JsonObject): Promise<JsonObject> => {
    try {
      return (await reader.read(String(record['id']), 'after')).record ?? record;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      context.note(
        `The ${noun} was created, but it could not be read again: ${errorMessage(context, String(record['id']), error)}`,
      );
      return record;
    }
  };
  return {
    ...creating(context),
    resends: 0,
    plan: () => ({ steps: [createStep(callFor(resource, 'create', undefined, body))] }),
    async send({ call }) {
      const sent = await sendCreate(context, call, resource);
      return sent.sign ? sent : { ...sent, record: sent.record ?? locatedIn(sent.answer.headers) };
    },
    async confirm(_, __, { answer, record, sign }) {
      const made = record ?? findRecord(answer.body, resource);
      if (sign && made)
        context.note(`The ${noun} was created, although the service answered: ${messageOf(sign)}.`);
      else if (sign) throw doubtful(sign);
      if (made) return reread(made);
      context.note(
        `The ${noun} was created; the service sent no record, so it was not checked. See: rosterctl ${resource} list`,
      );
      return undefined;
    },
    verify: async () => ({ outcome: 'unclear' }),
    present: (record) => record ?? {},
  };
}

/** The id of a record that a `Location` header names. */
function locatedIn(headers: Sent['answer']['headers']): JsonObject | undefined {
  const id = headers['location']?.split(/[?#]/)[0]?.split('/').at(-1);
  return id ? { id: decodeURIComponent(id) } : undefined;
}

function messageOf({ details, code }: ApiError): string {
  return details.message ?? code;
}

/** A code or a status word alone may speak of something else than this record. */
function doubtful(sign: ApiError): Failure {
  if (sign.details.sign !== 'code') return sign;
  return new UnknownOutcomeError(
    `${sign.call.method} ${sign.call.path} was answered with ${sign.status} and an error code (${messageOf(sign)}).`,
    sign.call,
    {
      hint: 'Look whether it was created before you send this again.',
      cause: sign,
      delivery: 'applied',
    },
  );
}
