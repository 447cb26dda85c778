/** Commands that read: lists, single records, sums, and the oracle of each. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { resources } from '../../src/api/resources.js';
import { isObject, type JsonObject } from '../../src/data/json.js';
import { perResource, type ResourceName, resourceNames } from '../../src/data/resources.js';
import type { StoredRecord } from '../../src/sandbox/records.js';
import type { Books, Outcome } from './cell.js';
import { type Check, differing, idIn, pagesOf, type Task } from './judge.js';

/** A command line of the matrix: how it is typed, and what it has to do. */
export interface Command extends Task {
  readonly name: string;
  readonly line: string | ((books: Books, idOf: (record: StoredRecord) => string) => string);
}

/** How commands call a resource: documents by their short name. */
const nouns = { ...perResource((name): string => name), documents: 'docs' };

type Picks = (record: StoredRecord) => boolean;

function wanted({ before }: Outcome, resource: ResourceName, picks: Picks): StoredRecord[] {
  return [...before[resource].values()].filter(picks);
}

/** The list is complete, and each record is as the books have it. */
function sameRows(resource: ResourceName, picks: Picks, read: (text: string) => unknown): Check {
  return (outcome) => {
    const rows = read(outcome.ran.stdout);
    if (!Array.isArray(rows) || !rows.every(isObject)) return 'no rows printed';
    const records = new Map(
      wanted(outcome, resource, picks).map((record) => [idIn(outcome, record), record]),
    );
    const ids = rows.map((row) => idOfRow(row, records));
    const odd = rows.find(
      (row, at) => !outcome.shape.looksOtherwise && !isSame(row, records.get(ids[at] ?? '')),
    );
    return (
      differing(ids, [...records.keys()]) ??
      (odd && `not as stored: ${JSON.stringify(odd).slice(0, 120)}`)
    );
  };
}

/** The id of a printed record, which may lie elsewhere; without one it is known by its times. */
function idOfRow(row: JsonObject, records: ReadonlyMap<string, StoredRecord>): string {
  const inner = Object.values(row).filter(isObject);
  for (const each of [row, ...inner])
    for (const key of ['id', '_id', 'uuid', 'Id'])
      if (records.has(String(each[key]))) return String(each[key]);
  const text = JSON.stringify(row);
  const isIt = ([, record]: [string, StoredRecord]) =>
    [record['name'], record['createdAt'], record['email'] ?? '"'].every((value) =>
      text.includes(String(value)),
    );
  return [...records].find(isIt)?.[0] ?? text;
}

/** The name of a converted player is not in the books of applications; its id is. */
function isSame(row: JsonObject, record: StoredRecord | undefined): boolean {
  return isDeepStrictEqual(withoutPlayer(row), withoutPlayer(record));
}

function withoutPlayer(record: JsonObject | undefined): unknown {
  if (record === undefined) return undefined;
  const { convertedPlayer: _, ...rest } = record;
  return JSON.parse(JSON.stringify(rest));
}

const json = (printed: string): unknown => (printed === '' ? undefined : JSON.parse(printed));
const lines = (printed: string): string[] => printed.split('\n').filter((line) => line !== '');
const ndjson = (printed: string): unknown => lines(printed).map((line) => JSON.parse(line));
const every: Picks = () => true;

/** A list in json, ndjson or as ids, with or without a filter. */
function list(resource: ResourceName, flags: string, picks: Picks = every): Command {
  const ids: Check = (outcome) =>
    differing(
      lines(outcome.ran.stdout),
      wanted(outcome, resource, picks).map((record) => idIn(outcome, record)),
    );
  const format = /-o (\w+)/.exec(flags)?.[1];
  return {
    name: `${nouns[resource]} list ${flags}`,
    line: `${nouns[resource]} list ${flags}`,
    missing: format === 'ids' ? ids : sameRows(resource, picks, format === 'json' ? json : ndjson),
    mayBePart: true,
    due: (outcome) => ({ reads: pagesOf(outcome, resource), writes: 0 }),
  };
}

/** The first few of a list: any records of it, but so many. */
const firstThree: Command = {
  ...list('players', '-L 3 -o json'),
  missing({ ran, before, shape }) {
    const rows = json(ran.stdout) as JsonObject[];
    const known = [...before.players.values()].map((record) => idIn({ shape }, record));
    const isKnown = (row: JsonObject) => shape.looksOtherwise || known.includes(String(row['id']));
    const count = Math.min(3, before.players.size);
    return rows.length === count && rows.every(isKnown) ? undefined : `${rows.length} of ${count}`;
  },
};

const stats: Command = {
  name: 'tryouts stats',
  line: 'tryouts stats -o json',
  missing({ ran, before }) {
    const printed = json(ran.stdout) as JsonObject;
    const { size } = before.tryouts;
    const pending = [...before.tryouts.values()].filter(({ status }) => status === 'pending');
    const counted = printed['byStatus'] as JsonObject;
    return printed['total'] === size && (counted['pending'] ?? 0) === pending.length
      ? undefined
      : `counts ${String(printed['total'])} of ${size}`;
  },
  mayBePart: true,
  due: (outcome) => ({ reads: pagesOf(outcome, 'tryouts'), writes: 0 }),
};

/** A backup holds every record of every resource that is backed up, or there is none under a good name. */
const backup: Command = {
  name: 'backup create',
  line: 'backup create HOME/files/backup --no-files -o json',
  async missing(outcome) {
    const [name] = snapshotsOf(outcome);
    if (name === undefined) return 'no snapshot';
    const folder = join(outcome.home, 'files/backup', name);
    for (const resource of resourceNames) {
      const stdout = readFileSync(join(folder, `${resource}.ndjson`), 'utf8');
      const lacks = await sameRows(
        resource,
        every,
        ndjson,
      )({ ...outcome, ran: { ...outcome.ran, stdout } });
      if (lacks !== undefined) return `${resource}: ${lacks}`;
    }
    return undefined;
  },
  harm: (outcome) => snapshotsOf(outcome).join(', ') || undefined,
  due: (outcome) => ({
    reads: resourceNames.reduce((sum, resource) => sum + pagesOf(outcome, resource), 0),
    writes: 0,
  }),
};

const snapshotsOf = ({ home }: Outcome): string[] => {
  const folder = join(home, 'files/backup');
  return existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('Z')) : [];
};

/** A page for the board counts every application, or is not written. */
const report: Command = {
  name: 'report',
  line: 'report --md HOME/files/page.md',
  missing({ home, before }) {
    const file = join(home, 'files/page.md');
    if (!existsSync(file)) return 'no page';
    const page = readFileSync(file, 'utf8');
    const { size } = before.tryouts;
    return page.includes(`Counted: ${size} applications`)
      ? undefined
      : 'another number of applications';
  },
  harm: ({ home }) => (existsSync(join(home, 'files/page.md')) ? 'a page was written' : undefined),
  due: (outcome) => ({ reads: pagesOf(outcome, 'tryouts'), writes: 0 }),
};

/** The last record of a resource: it stands on the last page of the list. */
function lastOf(books: Books, resource: ResourceName): StoredRecord {
  return [...books[resource].values()].at(-1) ?? { id: 'none_0001', organizationId: '' };
}

/** One, and another where the first has no readable body. */
function readsOfOne(outcome: Outcome, resource: ResourceName): number {
  return resources[resource].calls.get ? 2 : pagesOf(outcome, resource);
}

/** One record, found by its id; a document is found in the list. */
function get(resource: ResourceName): Command {
  const noun = nouns[resource];
  return {
    name: `${noun} get LAST`,
    line: (books, idOf) => `${noun} get ${idOf(lastOf(books, resource))} -o json`,
    missing(outcome) {
      const record = lastOf(outcome.before, resource);
      const row = json(outcome.ran.stdout);
      if (!isObject(row)) return 'no record printed';
      const isIt = outcome.shape.looksOtherwise
        ? JSON.stringify(row).includes(String(record['name']))
        : isSame(row, record);
      return isIt ? undefined : `another record: ${JSON.stringify(row).slice(0, 120)}`;
    },
    // "Not found" is an answer that a script acts on.
    harm: ({ ran, before }) =>
      ran.code === 5 && before[resource].size > 0 ? 'told as not found, and it exists' : undefined,
    due: (outcome) => ({
      reads: readsOfOne(outcome, resource),
      writes: 0,
    }),
  };
}

/** A record that there is not: exit 5, or a refusal to say. */
function getMissing(resource: ResourceName): Command {
  const noun = nouns[resource];
  return {
    name: `${noun} get MISSING`,
    line: () => `${noun} get ${resource.slice(0, 4)}_9999 -o json`,
    exits: [5],
    missing: () => undefined,
    due: (outcome) => ({
      reads: readsOfOne(outcome, resource),
      writes: 0,
    }),
  };
}

/** Everything that reads a whole list. */
export const listReads: readonly Command[] = [
  list('players', '-o json'),
  list('players', '-o ids'),
  list('players', '-o ndjson'),
  list('players', '--where squad=blue -o json', (record) => record['squad'] === 'blue'),
  firstThree,
  list('teams', '-o json'),
  list('documents', '-o ids'),
  list('tryouts', '-o ndjson'),
  stats,
  report,
  backup,
  get('documents'),
  getMissing('documents'),
];

/** What reads one record by its route. */
export const singleReads: readonly Command[] = [
  get('teams'),
  getMissing('teams'),
  get('players'),
  getMissing('players'),
  get('tryouts'),
  getMissing('tryouts'),
];
