/** Checks of a success answer: it is the record that was asked for, and as the contract describes it. */
import * as z from 'zod/mini';
import type { JsonObject } from '../data/json.js';
import { type CallSite, otherRecord, ProtocolError, UnknownOutcomeError } from '../errors.js';
import type { Endpoint } from './contract.js';
import type { Drift } from './drift.js';
import { readFirst } from './response.js';
import { idParameter } from './routes.js';
import type { Call } from './types.js';

/** The call that an answer belongs to. */
interface CheckedCall {
  readonly call: Call;
  readonly row: Endpoint;
  readonly site: CallSite;
  readonly organizationId: string;
}

/**
 * Checks that an answer is the requested record, and reports where it differs from its documented
 * schema. Throws ProtocolError, or UnknownOutcomeError after an update.
 */
export function checkAnswer(
  drift: Drift,
  { call, row, site, organizationId: own }: CheckedCall,
  body: unknown,
  record: JsonObject | undefined,
): void {
  const { route, verb, result } = row;
  if (row.answers === 'grant') {
    if (result && z.safeParse(result, body).success) return;
    throw new ProtocolError(`The answer of ${route} lacks key, fileRef or uploadUrl.`, {
      hint: 'Nothing was uploaded.',
    });
  }
  if (!record) return;
  if (row.answers === 'record') drift.check(route, result, record);
  if (verb !== 'get' && verb !== 'update') return;
  const wrongId = idParameter(call.params) !== record['id'];
  const { organizationId } = record;
  const wrongOrg = organizationId !== undefined && organizationId !== own;
  if (!wrongId && !wrongOrg) return;
  const message = `The service answered ${route} with another record${wrongId ? '' : ', one of another organization'}.`;
  // Something was written, but it is impossible to tell what.
  if (verb === 'update')
    throw new UnknownOutcomeError(message, site, { hint: readFirst, delivery: 'applied' });
  throw new ProtocolError(message, { call: site, code: otherRecord });
}
