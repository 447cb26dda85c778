/** The get commands: the records of one or several ids, a single one with its card for a person. */
import { type FailedItem, ValueWithExit } from '../cli/command-output.js';
import type { Context } from '../context.js';
import { isObject, type JsonObject } from '../data/json.js';
import { type ResourceName, resourceWords } from '../data/resources.js';
import { quotedIfSpaced } from '../data/text.js';
import { Failure } from '../errors.js';
import { mostSevere } from '../exit-codes.js';
import type { CardMaker } from './cards/card.js';
import { failureOfId, idsOfWords, recordReader } from './read.js';

/** The cards of the resources that have one, in modules that no pipe and no format for machines needs. */
const cardMakers: { readonly [R in ResourceName]?: () => Promise<CardMaker> } = {
  teams: async () => (await import('./cards/roster.js')).teamCard,
  players: async () => (await import('./cards/roster.js')).playerCard,
  documents: async () => (await import('./cards/roster.js')).documentCard,
  tryouts: async () => (await import('./cards/application.js')).applicationCard,
};

/**
 * Returns what `getRecords` does for words of the command line; a single record together with its card
 * if a person reads it on a terminal. The disk is read while the service answers. Throws what
 * `getRecords` throws.
 */
export async function getCommand(
  context: Context,
  resource: ResourceName,
  words: readonly string[],
): Promise<OneOrMany> {
  const ids = await idsOfWords(context, resource, words);
  const finding = getRecords(context, resource, ids);
  const [id] = ids;
  const isCard = context.isInteractive && !context.settings.fields && ids.length === 1;
  const load = cardMakers[resource];
  if (!isCard || !load || id === undefined) return finding;
  const reading = import('./cards/history.js').then((history) =>
    history.pastChanges(context, resource, [id]),
  );
  const [found, makeCard, changes] = await Promise.all([finding, load(), reading]);
  if (!isObject(found) || found instanceof ValueWithExit) return found;
  const past = changes.get(id) ?? [];
  return new ValueWithExit(found, 'done', { lines: await makeCard(context, found, past) });
}

/** The result of a `get`: a record, or several. */
type OneOrMany =
  | JsonObject
  | readonly JsonObject[]
  | ValueWithExit<JsonObject | readonly JsonObject[]>;

/**
 * Returns the record of a single id, or for several ids the records found, in the given order. Ids that
 * are missing, or that the service answered with nothing or with another record, are reported on stderr.
 * Throws every other failure.
 */
async function getRecords(context: Context, resource: ResourceName, ids: readonly string[]) {
  const reader = recordReader(context, resource);
  const read = async (id: string) => (await reader.read(id, 'list')).record ?? {};
  const [only] = ids;
  if (only !== undefined && ids.length === 1) return read(only);
  const found: JsonObject[] = [];
  const failures: FailedItem[] = [];
  for (const id of ids) {
    const record = await read(id).catch((error: unknown) => failureOfId(error, resource, id));
    if (!(record instanceof Failure)) found.push(record);
    else {
      failures.push({ id, error: record });
      context.message(
        record.exitName === 'notFound'
          ? `The ${resourceWords[resource].noun} ${quotedIfSpaced(id)} was not found.`
          : record.message,
      );
    }
  }
  if (failures.length === 0) return found;
  const exitName = mostSevere(failures.map(({ error }) => error.exitName));
  const failed = failures.find(({ error }) => error.exitName === exitName);
  return new ValueWithExit(found, exitName, { failed: () => failed });
}
