/** What the fields of a tryout application say of it (contract 2.1). */
import { isObject, type JsonObject } from '../data/json.js';

/** Whether an application is a player already. */
export function isConverted(record: JsonObject): boolean {
  return playerIdOf(record) !== undefined || isObject(record['convertedPlayer']);
}

/** The player that an application became; undefined where there is none. */
export function playerIdOf({ convertedPlayerId, convertedPlayer }: JsonObject): string | undefined {
  const id = isObject(convertedPlayer) ? convertedPlayer['id'] : undefined;
  return [convertedPlayerId, id].find((each) => typeof each === 'string' && each !== '') as
    | string
    | undefined;
}
