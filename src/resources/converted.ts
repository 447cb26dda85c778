/** Conversions: tells if an application was converted, and to which player (contract 2.1). */
import { isObject, isTextOrNumber, type JsonObject } from '../data/json.js';
import { plainText } from '../data/path.js';

/** True if an application has been converted to a player. */
export function isConverted(record: JsonObject): boolean {
  return playerIdOf(record) !== undefined || isObject(record['convertedPlayer']);
}

/** The id of the player that an application was converted to, if any; a numeric one as text. */
export function playerIdOf({ convertedPlayerId, convertedPlayer }: JsonObject): string | undefined {
  const id = isObject(convertedPlayer) ? convertedPlayer['id'] : undefined;
  return [convertedPlayerId, id]
    .filter(isTextOrNumber)
    .map(plainText)
    .find((text) => text !== '');
}
