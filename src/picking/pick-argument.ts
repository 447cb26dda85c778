/** Picks a missing or unknown argument from a list at the terminal: records, profiles and unfinished runs, as aligned lines. */

import { tableCell } from '../cli/cells.js';
import { isGiven, type RawValues } from '../cli/check.js';
import { fieldsToTellApart, isTeamField, withNames } from '../cli/lists/columns.js';
import type { TypedLine } from '../cli/typed-line.js';
import { type Context, connected, type LocalContext } from '../context.js';
import type { ManifestParam } from '../data/command-manifest.js';
import type { JsonObject } from '../data/json.js';
import { type Candidate, ReferencesError, UnknownNameError } from '../data/outcome-errors.js';
import { labelOf, nameWithId, plainText } from '../data/path.js';
import { parseReference, referenceValues, wordOfId } from '../data/references.js';
import { perResource, type ResourceName, resourceNames, resourceWords } from '../data/resources.js';
import { inUsualOrder } from '../data/sorting.js';
import { foldCase, plural } from '../data/text.js';
import { ApiError, NotFoundError } from '../errors.js';
import { isConverted } from '../resources/converted.js';
import { aboutPeople } from '../resources/person/holders.js';
import { teamNames } from '../resources/team-names.js';
import { gamesOf } from '../resources/tryout-filters.js';
import { createNameFinder, shortRunNames, soleRecord } from '../runs/find-run.js';
import { ofConnection } from '../runs/plan.js';
import { countsAsError, summaryLine } from '../runs/report.js';
import { type RunStore, retriedBy, runNames, storeOf } from '../runs/store.js';
import {
  mayHaveChanged,
  readRuns,
  rowsLeft,
  type StoredRun,
  summaryOf,
} from '../runs/stored-run.js';
import { verbs } from '../runs/verb.js';
import { type Choice, matchChoices } from '../terminal/choices.js';
import { alignedLines } from '../terminal/layout.js';
import { singleLine } from '../terminal/safe-text.js';
import { truncate } from '../terminal/width.js';

/** The verbs that take a sole match without asking, as all that only read do; whatever else writes always asks. */
const takesSoleMatch = ['use', 'resume'];

/** The verbs whose list lets the user mark several. */
const takesSeveral = ['set-status'];

/**
 * Returns the values of a command line with an argument that the user picked, or that is the sole
 * match of a command that does not write. Returns undefined if there is nothing to pick: rows come
 * from flags, several words were given, the failure is about something else, or nothing matches.
 * Throws CancelledError on Escape or Ctrl-C.
 */
export async function pickArgument(
  context: LocalContext,
  { command, values }: TypedLine,
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
    ({ name, group }) => group === 'selection' && isGiven(values[name]),
  );
  if (selects) return undefined;
  const verb = command.words.at(-1) ?? '';
  const choices = matches
    ? among(await choicesFor(context, arg, verb === 'person' ? verb : ''), matches)
    : await choicesFor(context, arg, verb);
  const searched = matches || term === undefined ? undefined : parseReference(term).value;
  const found = matchChoices(choices, searched);
  const [first] = found;
  if (!first) return undefined;
  const ownNoun = resource ? resourceWords[resource].noun : arg.completes;
  const noun = verb === 'person' ? verb : ownNoun;
  if (found.length === 1 && (!command.writes || takesSoleMatch.includes(verb))) {
    const who = [first.value, first.about && `(${first.about})`].filter(Boolean).join(' ');
    context.message(term === undefined ? `The only ${noun}: ${who}` : `"${term}" is ${who}.`);
    return withValue(values, arg, [first.value]);
  }
  if (takesSeveral.includes(verb) && term === undefined) {
    const many = resource ? resourceWords[resource].plural : `${noun}s`;
    return withValue(values, arg, await context.prompts.mark(`Which ${many}?`, choices));
  }
  const chosen = await context.prompts.search(`Which ${noun}?`, choices, searched);
  return withValue(values, arg, [chosen]);
}

async function choicesFor(
  context: LocalContext,
  arg: ManifestParam,
  verb: string,
): Promise<readonly Pickable[]> {
  const resource = resourceOf(arg);
  if (resource && verb === 'person') return personChoices(await connected(context));
  if (resource) return recordChoices(await connected(context), resource, verb);
  return arg.completes === 'profile' ? profileChoices(context) : runChoices(context, verb);
}

function resourceOf({ completes }: ManifestParam): ResourceName | undefined {
  return resourceNames.find((name) => completes === `id:${name}`);
}

/**
 * True if the failure says that this word names no record, profile or run, and did not follow a
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

/** One line to pick, and the words that describe it if it is the sole match. */
interface Pickable extends Choice {
  readonly about?: string | undefined;
}

/** The columns of a record's line besides its id and name, and the fields that a search covers. */
interface RecordLine {
  /** By default those that distinguish namesakes. */
  readonly fields?: readonly string[];
  readonly more: (record: JsonObject) => readonly string[];
  readonly keywords: readonly string[];
}

const lines: { readonly [R in ResourceName]: RecordLine } = {
  ...perResource(() => ({ more: () => [], keywords: ['email', 'discordUsername'] })),
  documents: { fields: ['contentType', 'sizeBytes'], more: () => [], keywords: [] },
  tryouts: {
    fields: ['status', 'submittedAt'],
    more: (record) => [[...new Set(gamesOf(record))].join(', ')],
    keywords: ['email', 'discordUsername', 'discordUserId'],
  },
};

/** Returns the records of a resource in the order of its table. Throws what reading the list throws. */
async function recordChoices(
  context: Context,
  resource: ResourceName,
  verb: string,
): Promise<readonly Pickable[]> {
  const sorted = await sortedRecords(context, resource);
  const options = { now: context.now(), time: 'relative' as const };
  const picked = verb === 'convert' ? convertible(sorted) : sorted;
  const { fields: own, more, keywords } = lines[resource];
  const fields = own ?? fieldsToTellApart(picked);
  const teams = fields.some(isTeamField) ? await teamNames(context) : undefined;
  return aligned(
    picked.map((record) => {
      const id = String(record['id']);
      const details = fields.map((field) => {
        const value = record[field];
        return tableCell(isTeamField(field) ? withNames(value, teams) : value, field, options);
      });
      const name = labelOf(record, '');
      return {
        value: id,
        cells: [id, name, ...details, ...more(record)],
        keywords: keywords.map((field) => plainText(record[field])).join('\n'),
        about: [name, own && details[0]].filter(Boolean).join(', '),
        chosen: nameWithId(name, id),
      };
    }),
  );
}

async function sortedRecords(
  { api }: Context,
  resource: ResourceName,
): Promise<readonly JsonObject[]> {
  const all: JsonObject[] = [];
  for await (const record of api.list(resource)) all.push(record);
  return inUsualOrder(all, resource);
}

/** Returns a line for each e-mail address among the records about people, and for each record without one. */
async function personChoices(context: Context): Promise<readonly Pickable[]> {
  const people = new Map<string, Parameters<typeof aligned>[0][number]>();
  for (const resource of aboutPeople) {
    const addresses = referenceValues(resource, 'email', context.settings.overrides);
    for (const record of await sortedRecords(context, resource)) {
      const id = String(record['id']);
      const name = labelOf(record, '');
      const [email = ''] = addresses(record) ?? [];
      const person = email === '' ? id : foldCase(email);
      if (people.has(person)) continue;
      people.set(person, {
        value: id,
        cells: [id, name, resourceWords[resource].noun, email],
        keywords: plainText(record['discordUsername']),
        about: name,
        chosen: nameWithId(name, id),
      });
    }
  }
  return aligned([...people.values()]);
}

/** Applications that are not players yet, the accepted ones first. */
function convertible(records: readonly JsonObject[]): readonly JsonObject[] {
  const open = records.filter((record) => !isConverted(record));
  return open.toSorted((a, b) => Number(isAccepted(b)) - Number(isAccepted(a)));
}

function isAccepted({ status }: JsonObject): boolean {
  return status === 'accepted';
}

function profileChoices({ config }: LocalContext): readonly Pickable[] {
  return aligned(
    config.profiles().map(({ name, organization = '', baseUrl = '', active }) => ({
      value: name,
      cells: [name, organization, baseUrl.replace(/^https?:\/\//, ''), active ? '(active)' : ''],
      about: organization,
    })),
  );
}

/** How many runs are considered, newest first. */
const newest = 50;

/** Which runs a verb can work on; any other run is refused, and not listed. */
const canTake: Readonly<Record<string, (run: StoredRun, store: RunStore) => boolean>> = {
  resume: ({ finished }) => !finished,
  retry: ({ finished, head, state }, store) =>
    finished &&
    [...state.results.values()].some(({ result }) => countsAsError(result)) &&
    retriedBy(store, head.run) === undefined,
  undo: (run) => verbs[run.head.verb].canUndo && mayHaveChanged(run),
};

/** Returns the runs of the connection in force that a verb can work on, newest first. */
async function runChoices(context: LocalContext, verb: string): Promise<readonly Pickable[]> {
  const store = storeOf(context);
  const names = runNames(store, verb === 'resume' ? ['open'] : undefined);
  // Damaged runs are named by `runs list`.
  const runs = await readRuns(store, names.slice(-newest));
  const isOurs = ofConnection(context);
  const ours = runs.filter((run) => isOurs(run.head) && (canTake[verb]?.(run, store) ?? true));
  const nameOf = await createNameFinder(context);
  const shortName = shortRunNames(store);
  return aligned(
    ours.toReversed().map((run) => {
      const { head, finished } = run;
      const started = tableCell(head.startedAt, 'startedAt', {
        now: context.now(),
        time: 'relative',
      });
      const summary = summaryOf(run);
      const action = head.action.replace('.', ' ');
      const left = `${rowsLeft(run)} of ${plural(summary.total, 'row')} left`;
      const outcome = finished ? summaryLine({ summary, action: head.action }) : left;
      const name = shortName(head.run);
      return {
        value: name,
        cells: [name, action, soleRecord(run, nameOf) ?? outcome, started],
        about: `${action}, ${outcome}`,
        chosen: `${name} (${action})`,
      };
    }),
  );
}

/** Longer cells are cut, so that the columns after them stay on the screen. */
const widestCell = 28;

function aligned(
  rows: readonly (Omit<Pickable, 'label'> & { readonly cells: readonly string[] })[],
): readonly Pickable[] {
  const cellsOfRows = rows.map(({ cells }) =>
    cells.map((cell) => ({ text: truncate(singleLine(cell), widestCell) })),
  );
  const labels = alignedLines(cellsOfRows, Infinity);
  return rows.map((row, index) => ({ ...row, label: labels[index] ?? '' }));
}
