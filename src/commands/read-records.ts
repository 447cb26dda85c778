import { Outcome } from '../cli/define.js';
import type { FailedOne } from '../cli/failure.js';
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { Failure, otherRecord, ProtocolError } from '../errors.js';
import { isNotFound } from '../data/outcome-errors.js';
import { type ResourceName, resourceWords } from '../data/resources.js';
import { gravest } from '../exit-codes.js';
import { recordReader } from '../resources/read.js';

/**
 * One id: its record; several: those found, in the order asked. An id that is missing, or that the
 * service answered with another record, is named on stderr. Throws every other failure.
 */
export async function getRecords(
  context: Context,
  resource: ResourceName,
  ids: readonly string[],
): Promise<JsonObject | readonly JsonObject[] | Outcome<readonly JsonObject[]>> {
  const reader = recordReader(context, resource);
  const read = async (id: string) => (await reader.read(id, 'list')).record ?? {};
  const [only] = ids;
  if (only !== undefined && ids.length === 1) return read(only);
  const found: JsonObject[] = [];
  const failures: FailedOne[] = [];
  for (const id of ids) {
    // oxlint-disable-next-line no-await-in-loop
    const record = await read(id).catch((error: unknown) => ofOneId(error, resource, id));
    if (!(record instanceof Failure)) found.push(record);
    else {
      failures.push({ id, error: record });
      context.tell(
        record.exitName === 'notFound'
          ? `The ${resourceWords[resource].noun} ${id} was not found.`
          : record.message,
      );
    }
  }
  if (failures.length === 0) return found;
  const exitName = gravest(failures.map(({ error }) => error.exitName));
  const failed = failures.find(({ error }) => error.exitName === exitName);
  return new Outcome(found, exitName, { failed: () => failed });
}

/** A failure that says nothing of the other ids; throws any other. */
function ofOneId(error: unknown, resource: ResourceName, id: string): Failure {
  const { noun } = resourceWords[resource];
  if (isNotFound(error)) return error;
  if (error instanceof ProtocolError && error.code === otherRecord)
    return new ProtocolError(`The service answered with another record for the ${noun} ${id}.`, {
      ...error.details,
      cause: error,
    });
  throw error;
}
