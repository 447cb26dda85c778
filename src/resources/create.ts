/** Creates teams and players, and provides the parts that every create shares. */

import { callFor, resources } from '../api/resources.js';
import { readFirst } from '../api/response.js';
import type { Call } from '../api/types.js';
import { type FieldValues, readFields, touchedFields } from '../cli/field-flags.js';
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import type { ResourceName } from '../data/resources.js';
import { percentDecoded, shellQuote } from '../data/text.js';
import type { Operation, Sent, Session, Step } from '../engine/operation.js';
import { type ApiError, type Failure, UnknownOutcomeError, UsageError } from '../errors.js';
import { creating } from './send.js';
import { noteOtherValues, presentAgain, readOnlyFields } from './update.js';

type CreateJob = JsonObject & { readonly body: JsonObject };

/** Creates one record; a lost answer stays unknown, because no read shows which request created it. */
export function createOperation(resource: ResourceName): Operation {
  const bodyOf = async (context: Context, values: FieldValues) => {
    const body = touchedFields(
      await readFields(context, values, readOnlyFields(context, resource)),
    );
    const { noun } = resources[resource];
    if (Object.keys(body).length === 0)
      throw new UsageError(`A new ${noun} needs at least one field, such as --name.`, {
        hint: `See: rosterctl ${resource} create --help`,
      });
    return body;
  };
  return creation(resource, bodyOf, (context, body) => createSession(context, resource, body));
}

/** The operation that creates one record with the body given by its invocation. */
export function creation(
  resource: ResourceName,
  bodyOf: Operation['job'],
  open: (context: Context, body: JsonObject) => Session,
): Operation {
  return {
    resource,
    verb: 'create',
    confirm: 'never',
    // The job alone holds what to create.
    rows: async () => ({
      rows: [{ row: 1, id: 'new' }],
      digest: '',
    }),
    job: async (context, values): Promise<CreateJob> => ({ body: await bodyOf(context, values) }),
    open: (context, { body }: CreateJob) => open(context, body),
    findMade({ body: { name, title, email } = {} }: Partial<CreateJob>) {
      const text = [name, title, email].find((value) => typeof value === 'string' && value !== '');
      const list = `rosterctl ${resource} list`;
      return typeof text === 'string' ? `${list} --search ${shellQuote(text)}` : list;
    },
  };
}

/** The step that writes all fields of a body to a new record. */
export function createStep(call: Call): Step {
  const fields = Object.entries(call.body ?? {});
  return { call, changes: fields.map(([field, to]) => ({ field, from: undefined, to })) };
}

function createSession(context: Context, resource: ResourceName, body: JsonObject): Session {
  const { noun } = resources[resource];
  const base = creating(context, resource);
  const say = (why: string) => `The ${noun} was created, but it could not be read again: ${why}`;
  return {
    ...base,
    resends: 0,
    plan: () => ({ steps: [createStep(callFor(resource, 'create', undefined, body))] }),
    send: async (step, row, isFresh) => withLocation(await base.send(step, row, isFresh)),
    async checkSuccess({ call }, _, { answer, record: made, sign }) {
      if (sign && made)
        context.note(`The ${noun} was created, although the service answered: ${sign.said}.`);
      else if (sign) throw createFailure(sign);
      if (made) {
        const record = await presentAgain(context, resource, String(made['id']), made, say);
        if (record !== made)
          noteOtherValues(
            context,
            `The ${noun} was created as ${String(made['id'])}`,
            body,
            record,
          );
        return record;
      }
      if (leavesCreateOpen(answer.status)) {
        const { method, template: path } = context.api.route(call);
        throw new UnknownOutcomeError(
          `${method} ${path} returned ${answer.status} and no record.`,
          { method, path },
          { hint: readFirst, delivery: 'applied' },
        );
      }
      context.note(
        `The ${noun} was created; the service sent no record, so it was not checked. See: rosterctl ${resource} list`,
      );
      return undefined;
    },
    verify: 'never',
    present: (record) => record ?? {},
  };
}

/** True for a success that does not say that the record was created: accepted, or several results. */
export function leavesCreateOpen(status: number): boolean {
  return status === 202 || status === 207;
}

/** The result of a create; a success without a record has the id that its `Location` header names. */
export function withLocation(sent: Sent): Sent {
  if (sent.sign || sent.record) return sent;
  const id = sent.answer.headers['location']?.split(/[?#]/)[0]?.split('/').at(-1);
  return { ...sent, record: id ? { id: percentDecoded(id) } : undefined };
}

/** The failure for a 2xx that reports an error; unknown outcome for a bare code, which may refer to something else. */
export function createFailure(sign: ApiError): Failure {
  if (sign.details.sign !== 'code') return sign;
  return new UnknownOutcomeError(
    `${sign.call.method} ${sign.call.path} returned ${sign.status} and an error code (${sign.said}).`,
    sign.call,
    { hint: readFirst, cause: sign, delivery: 'applied' },
  );
}
