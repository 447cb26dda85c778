/** Picks a missing or unknown argument of a command from a list at the terminal. */

import { isGivenIn, type RawValues } from '../cli/check.js';
import type { Context, LocalContext } from '../context.js';
import type { ManifestCommand, ManifestParam } from '../data/command-manifest.js';
import { type Candidate, ReferencesError, UnknownNameError } from '../data/outcome-errors.js';
import { parseReference, wordOfId } from '../data/references.js';
import { type ResourceName, resourceNames, resourceWords } from '../data/resources.js';
import { ApiError, NotFoundError } from '../errors.js';
import { matchChoices } from '../terminal/choices.js';
import { type Pickable, profileChoices, recordChoices, runChoices } from './choices.js';

/** The verbs that take a sole match without asking; whatever else writes always asks. */
const takesSoleMatch = ['get', 'download', 'preview', 'open', 'show', 'use', 'resume'];

/** The verbs whose list allows to mark several. */
const takesSeveral = ['set-status'];

/**
 * Returns the values of a command line with an argument that the user picked, or that is the sole
 * match of a command that does not write. Returns undefined if there is nothing to pick: rows come
 * from flags, several words were given, the failure is about something else, or nothing matches.
 * Throws CancelledError on Escape or Ctrl-C.
 */
export async function pickArgument(
  context: LocalContext,
  command: ManifestCommand,
  values: RawValues,
  failure: unknown,
): Promise<RawValues | undefined> {
  const [arg] = command.args;
  if (!arg) return undefined;
  const given = [values[arg.name]].flat().filter((word) => typeof word === 'string');
  const [term] = given;
  const resource = resourceOf(arg);
  const matches = failure instanceof ReferencesError ? failure.candidates : undefined;
  const isOpen = term === undefined || matches || isUnknown(failure, term, resource);
  if (given.length > 1 || !isOpen) return undefined;
  const selects = command.flags.some(
    ({ name, group }) => group === 'selection' && isGivenIn(values, name),
  );
  if (selects) return undefined;
  const verb = command.words.at(-1) ?? '';
  const choices = matches
    ? among(await choicesFor(context, arg, ''), matches)
    : await choicesFor(context, arg, verb);
  const searched = matches || term === undefined ? undefined : parseReference(term).value;
  const found = matchChoices(choices, searched);
  const [first] = found;
  if (!first) return undefined;
  const noun = resource ? resourceWords[resource].noun : arg.completes;
  if (found.length === 1 && takesSoleMatch.includes(verb)) {
    const who = [first.value, first.about && `(${first.about})`].filter(Boolean).join(' ');
    context.message(term === undefined ? `The only ${noun}: ${who}` : `"${term}" is ${who}.`);
    return withValue(values, arg, [first.value]);
  }
  if (takesSeveral.includes(verb) && term === undefined) {
    const plural = resource ? resourceWords[resource].plural : `${noun}s`;
    return withValue(values, arg, await context.prompts.mark(`Which ${plural}?`, choices));
  }
  const options = searched === undefined ? {} : { term: searched };
  return withValue(values, arg, [await context.prompts.search(`Which ${noun}?`, choices, options)]);
}

async function choicesFor(
  context: LocalContext,
  arg: ManifestParam,
  verb: string,
): Promise<readonly Pickable[]> {
  const resource = resourceOf(arg);
  if (resource) return recordChoices(context as Context, resource, verb);
  return arg.completes === 'profile' ? profileChoices(context) : runChoices(context, verb);
}

function resourceOf({ completes }: ManifestParam): ResourceName | undefined {
  return resourceNames.find((name) => completes === `id:${name}`);
}

/**
 * True if the failure says of this very word that nothing is called so, and not the answer to a
 * write: then nothing was written.
 */
function isUnknown(failure: unknown, word: string, resource: ResourceName | undefined): boolean {
  if (failure instanceof UnknownNameError) return !resource && failure.word === word;
  if (failure instanceof NotFoundError) return resource !== undefined;
  if (!(failure instanceof ApiError) || !resource) return false;
  const { method, path } = failure.call;
  return method === 'GET' && path.includes(`{${resourceWords[resource].idName}}`);
}

function withValue(values: RawValues, arg: ManifestParam, picked: readonly string[]): RawValues {
  const words = resourceOf(arg) ? picked.map(wordOfId) : picked;
  return { ...values, [arg.name]: arg.takes === 'values' ? words : words[0] };
}

/** The records to which an ambiguous reference answers. */
function among(choices: readonly Pickable[], matches: readonly Candidate[]): readonly Pickable[] {
  const ids = new Set(matches.map(({ id }) => id));
  return choices.filter(({ value }) => ids.has(value));
}
