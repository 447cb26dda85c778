import { endpoint } from '../../api/contract.js';
import { findRecord } from '../../api/records.js';
import { partsOf } from '../../api/routes.js';
import { notDone, settle } from '../../api/settle.js';
import type { Call } from '../../api/types.js';
import type { Context } from '../../context.js';
import { isObject, type JsonObject } from '../../data/json.js';
import { shellQuote } from '../../data/words.js';
import { ApiError, UnknownOutcomeError } from '../../errors.js';
import { readShowing } from '../write-records.js';
import { applications, readApplication } from './application.js';
import { isConverted } from './filters.js';

/**
 * A lost answer is thrown; a 409 is settled by the application itself. Throws UnknownOutcomeError
 * where the service said yes and neither its answer nor the application names a player: it may come
 * later, and a second conversion would make a second one.
 */
export async function convertOnce(
  context: Context,
  call: Call,
  id: string,
  before: JsonObject,
): Promise<JsonObject> {
  try {
    const { body } = await context.api.send(call);
    const record = await shown(context, id, body);
    if (!record) return isObject(body) ? body : before;
    if (isConverted(record)) return record;
    const player = playerIn(body, id);
    if (player !== undefined) return { ...record, convertedPlayerId: player };
    const { method, template } = partsOf(endpoint(call.endpoint).route);
    throw new UnknownOutcomeError(
      `The service accepted the conversion of ${id}, and the application shows no player.`,
      { method, path: template },
      { hint: `See: rosterctl tryouts get ${shellQuote(id)}`, delivery: 'applied' },
    );
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 409) throw error;
    const record = await readApplication(context, id).catch(() => undefined);
    if (!record || !isConverted(record)) throw error;
    return record;
  }
}

/** Sends the conversion. An answer that is lost and a 409 are settled by the application itself. */
export async function convert(
  context: Context,
  call: Call,
  id: string,
  before: JsonObject,
): Promise<JsonObject> {
  const witness = async () => {
    const record = await readApplication(context, id);
    return isConverted(record) ? record : notDone;
  };
  const send = () => context.api.send(call);
  const outcome = await settle(send, witness, context, { resends: 1 }).catch(
    async (error: unknown) => {
      if (!(error instanceof ApiError) || error.status !== 409) throw error;
      const seen = await witness().catch(() => undefined);
      if (typeof seen !== 'object') throw error;
      return { seen };
    },
  );
  if ('answer' in outcome) {
    const { body } = outcome.answer;
    return (await shown(context, id, body)) ?? (isObject(body) ? body : before);
  }
  const { seen: record } = outcome;
  context.note(`${id} is converted to ${playerOf(record)}; another request may have done it.`);
  return record;
}

/** The application as it reads after a conversion; undefined where it cannot be read. */
async function shown(
  context: Context,
  id: string,
  answer: unknown,
): Promise<JsonObject | undefined> {
  const record = await readShowing(context, applications, id, isConverted);
  if (!record || isConverted(record)) return record;
  const player = playerIn(answer, id);
  const named = player === undefined ? '' : ` and answered with ${player}`;
  context.note(
    `The service accepted the conversion of ${id}${named}; the application does not show its player yet.`,
  );
  return record;
}

/** The player that an answer names; the application itself, which it may give as well, is none. */
function playerIn(answer: unknown, id: string): string | undefined {
  const found = findRecord(answer, 'players')?.['id'];
  return typeof found === 'string' && found !== id ? found : undefined;
}

/** `Ann (player_1)`: the player of a converted application. */
export function playerOf(record: JsonObject): string {
  const player = isObject(record['convertedPlayer']) ? record['convertedPlayer'] : undefined;
  const id = record['convertedPlayerId'] ?? player?.['id'];
  const name = player?.['name'];
  return typeof name === 'string' ? `${name} (${String(id)})` : String(id);
}
