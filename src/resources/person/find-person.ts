/** Finds one person's records at the service: applications and players, linked by e-mail, Discord user id and conversion, never by name. */

import { resources } from '../../api/resources.js';
import { candidateOf, describeCandidates, NearReferences } from '../../bulk/reference-index.js';
import { readWholeList } from '../../bulk/whole-list.js';
import type { Context } from '../../context.js';
import type { JsonObject } from '../../data/json.js';
import {
  besideOthers,
  isForbidden,
  isUnreadableList,
  ReferencesError,
} from '../../data/outcome-errors.js';
import { labelOf, normalName } from '../../data/path.js';
import {
  answersTo,
  didYouMeanReference,
  meantReference,
  type Reference,
  referenceOf,
  referenceValues,
} from '../../data/references.js';
import {
  type Overrides,
  type ResourceName,
  referenceKindsOf,
  resourceWords,
} from '../../data/resources.js';
import { addTo } from '../../data/sorting.js';
import { foldCase, shellQuote } from '../../data/text.js';
import { type ApiError, type Failure, NotFoundError } from '../../errors.js';
import { playerIdOf } from '../converted.js';
import { tagsIn } from '../document-tags.js';
import { aboutPeople } from './holders.js';

/** The JSON output of `rosterctl person`. */
export interface PersonReport {
  readonly schema: 1;
  readonly reference: string;
  readonly organization: string;
  readonly applications: readonly JsonObject[];
  readonly players: readonly JsonObject[];
  /** Why two of these records are one person. */
  readonly links: readonly PersonLink[];
  /** Documents whose names or tags mention the person; null where they could not be listed. */
  readonly possibleDocuments: readonly { readonly id: string; readonly name: string }[] | null;
  /** The files that this command wrote. */
  readonly files: readonly string[];
  readonly notSearched: readonly string[];
}

interface PersonLink {
  readonly from: string;
  readonly to: string;
  readonly by: 'email' | 'discordUserId' | 'convertedPlayerId';
}

/** An application or a player, with the values that link it to others. */
interface PersonRecord {
  readonly resource: ResourceName;
  readonly record: JsonObject;
  /** `email:ann@example.org`, `discordUserId:9…`, `convertedPlayerId:player_1` */
  readonly keys: readonly string[];
}

/** The places that no call of this API shows, named at the end of each answer. */
const neverSearched = [
  'the contents of files',
  'teams, and the fields of documents other than name and tags',
  'other areas of the service, such as calendar, tasks, availability and chat',
  'backups, runs and exports on this machine',
];

/**
 * Reads applications, players and documents, each list once and whole, and collects one person. A
 * list that this key cannot read, or that the service does not have, is named under `notSearched`, and
 * `failure` is why the first of them could not be read. Throws ReferencesError if no person matches, or
 * more than one; ApiError if none matches and a list was refused; GuardError if a list may be incomplete.
 */
export async function findPerson(context: Context, reference: Reference) {
  const { api, settings } = context;
  const unread: string[] = [];
  let refusal: ApiError | undefined;
  let isAnyRead = false;
  const read = async (resource: ResourceName, onRecord: (record: JsonObject) => void) => {
    try {
      await readWholeList(context, resource, onRecord, {
        so: 'so records of the person may be missing',
      });
      isAnyRead = true;
      return true;
    } catch (error) {
      if (!isUnreadableList(error)) throw error;
      refusal ??= error;
      const why = isForbidden(error)
        ? 'this key cannot list them'
        : 'this service has no list of them';
      unread.push(`${resourceWords[resource].plural} (${why})`);
      return false;
    }
  };
  const entries: PersonRecord[] = [];
  for (const resource of aboutPeople)
    await read(resource, (record) => {
      entries.push({ resource, record, keys: keysOf(context, resource, record) });
    });
  const seeds = entries.filter(({ record, resource }) =>
    answersTo(record, reference, resource, settings.overrides),
  );
  // The person may be in the list that was refused.
  if (refusal && seeds.length === 0) throw isAnyRead ? besideOthers(refusal) : refusal;
  const { members, links } = onePerson(reference, seeds, entries, settings.overrides);
  const names = members
    .map(({ record }) => labelOf(record, ''))
    .filter(isTelling)
    .map(foldCase);
  const documents: { id: string; name: string }[] = [];
  const isListed = await read('documents', (record) => {
    const name = labelOf(record, '');
    const texts = [name, ...(tagsIn(record['tags']) ?? [])].map(foldCase);
    if (names.some((each) => texts.some((text) => text.includes(each))))
      documents.push({ id: String(record['id']), name });
  });
  const of = (resource: ResourceName) =>
    members.filter((entry) => entry.resource === resource).map(({ record }) => record);
  const person: PersonReport = {
    schema: 1,
    reference: reference.text,
    organization: api.organizationId,
    applications: of('tryouts'),
    players: of('players'),
    links,
    possibleDocuments: isListed ? documents : null,
    files: [],
    notSearched: [...unread, ...neverSearched],
  };
  return { person, failure: refusal && besideOthers(refusal) };
}

/** A name of one short word would be found in too many documents. */
function isTelling(name: string): boolean {
  return name.trim().length > 3;
}

function keysOf(context: Context, resource: PersonRecord['resource'], record: JsonObject) {
  const { overrides } = context.settings;
  const emails = referenceValues(resource, 'email', overrides)(record) ?? [];
  const users = referenceValues(resource, 'discord', overrides)(record) ?? [];
  const playerId = resources[resource].calls.convert ? playerIdOf(record) : String(record['id']);
  return [
    ...emails.map((email) => `email:${foldCase(email)}`),
    ...users.filter((user) => isUserId(user, record)).map((id) => `discordUserId:${id}`),
    ...(playerId === undefined ? [] : [`convertedPlayerId:${playerId}`]),
  ];
}

/** True for the Discord user id among the values of a record; a user name may change hands. */
function isUserId(value: string, record: JsonObject): boolean {
  const named = Object.entries(record).some(
    ([key, own]) => own === value && ['discorduserid', 'discordid'].includes(normalName(key)),
  );
  return named || /^\d{15,20}$/.test(value);
}

interface LinkedRecords {
  readonly members: ReadonlySet<PersonRecord>;
  readonly links: readonly PersonLink[];
}

/** A record and those that share a key with it, at any distance. */
function linkedTo(
  seed: PersonRecord,
  byKey: ReadonlyMap<string, readonly PersonRecord[]>,
): LinkedRecords {
  const members = new Set([seed]);
  const links: PersonLink[] = [];
  const follow = (member: PersonRecord, key: string, other: PersonRecord) => {
    if (members.has(other)) return;
    members.add(other);
    const by = key.slice(0, key.indexOf(':')) as PersonLink['by'];
    links.push({ from: idOf(member), to: idOf(other), by });
  };
  // The loop reaches the members that are added meanwhile, too.
  for (const member of members)
    for (const key of member.keys)
      for (const other of byKey.get(key) ?? []) follow(member, key, other);
  return { members, links };
}

/** The records linked to these, at any distance. Throws ReferencesError unless they are one person. */
function onePerson(
  reference: Reference,
  seeds: readonly PersonRecord[],
  entries: readonly PersonRecord[],
  overrides: Overrides,
): { members: readonly PersonRecord[]; links: readonly PersonLink[] } {
  const byKey = new Map<string, PersonRecord[]>();
  for (const entry of entries) for (const key of entry.keys) addTo(byKey, key, entry);
  const people: LinkedRecords[] = [];
  for (const seed of seeds)
    if (!people.some(({ members }) => members.has(seed))) people.push(linkedTo(seed, byKey));
  const [only] = people;
  // An e-mail address is one person by itself, and so is a Discord name that one user had.
  const isOne =
    people.length === 1 ||
    reference.kind === 'email' ||
    (reference.kind === 'discord' && people.filter(hasUserId).length < 2);
  if (!only) throw noMatch(reference, meantIn(reference, entries, overrides));
  if (!isOne)
    throw severalPeople(
      reference,
      people.map(({ members }) => [...members]),
    );
  const members = new Set(people.flatMap((each) => [...each.members]));
  return {
    members: entries.filter((entry) => members.has(entry)),
    links: people.flatMap(({ links }) => links),
  };
}

function hasUserId({ members }: LinkedRecords): boolean {
  return [...members].some(({ keys }) => keys.some((key) => /^discordUserId:\d{15,20}$/.test(key)));
}

function idOf({ record }: PersonRecord): string {
  return String(record['id']);
}

/** Suggests what a reference to nobody may mean: a bare word as a reference, or the nearest records. */
function meantIn(
  reference: Reference,
  entries: readonly PersonRecord[],
  overrides: Overrides,
): string | undefined {
  const { kind, value } = reference;
  if (kind !== 'id') {
    const near = new NearReferences(reference, overrides);
    for (const { resource, record } of entries) near.see(resource, record);
    return near.meant;
  }
  const found = referenceKindsOf('tryouts')
    .map((each) => referenceOf(each, value))
    .find((each) =>
      entries.some(({ record, resource }) => answersTo(record, each, resource, overrides)),
    );
  return found ? didYouMeanReference(found) : meantReference(value, 'tryouts');
}

/** For a bare word a NotFoundError, so that a person at a terminal may pick who is meant. */
function noMatch({ kind, text, value }: Reference, meant: string | undefined): Failure {
  const search = shellQuote(value);
  const message = `No application or player matches ${text}.`;
  const hint =
    meant ??
    `Look for them: rosterctl tryouts list --search ${search}\nOr: rosterctl players list --search ${search}`;
  if (kind === 'id') return new NotFoundError(message, { isProven: true, hint });
  return new ReferencesError(message, { exitName: 'notFound', candidates: [], hint });
}

function severalPeople({ text }: Reference, people: readonly (readonly PersonRecord[])[]) {
  const candidates = people.flat().map(({ record }) => candidateOf(record));
  const lines = [`${text} matches ${people.length} people:`, ...describeCandidates(candidates)];
  return new ReferencesError(lines.join('\n'), {
    exitName: 'guarded',
    candidates,
    hint: 'Use an id or an e-mail address of the one you mean.',
  });
}
