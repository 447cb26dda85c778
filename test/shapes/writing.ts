/** Commands that write one record and two, judged by what is stored afterwards. */
import { isObject, type JsonObject } from '../../src/data/json.js';
import type { ResourceName } from '../../src/data/resources.js';
import type { StoredRecord } from '../../src/sandbox/records.js';
import type { Outcome } from './cell.js';
import type { Check } from './judge.js';
import type { Command } from './reads.js';

/** What is wanted of each row: its id or name, and whether the books have it. */
interface Rows {
  readonly things: readonly string[];
  readonly isDone: (outcome: Outcome, thing: string) => boolean;
  /** The id that the row's record has in the books, to compare with what is printed. */
  readonly idOf: (outcome: Outcome, thing: string) => string | undefined;
}

/** Everything done, once each, and the printed record is the one. */
function allDone({ things, isDone, idOf }: Rows): Check {
  return (outcome) => {
    const undone = things.filter((thing) => !isDone(outcome, thing));
    if (undone.length > 0) return `told as done, and ${undone.join(', ')} is not`;
    const printed = printedId(outcome);
    const ids = things.map((thing) => idOf(outcome, thing));
    return printed === undefined || ids.includes(printed)
      ? undefined
      : `printed ${printed}, which is another record`;
  };
}

/** A report says of a row that it is done, and it is not; or not done, and it is. */
function toldWrongly({ things, isDone, idOf }: Rows, unsaid: boolean): Check {
  return (outcome) => {
    const done = things.filter((thing) => isDone(outcome, thing));
    const said = outcome.claims.map(({ id, result }) => ({
      result,
      done: done.some((thing) => thing === id || idOf(outcome, thing) === id),
    }));
    const hoax = said.find(
      (each) => !each.done && /^(changed|unchanged|created)$/.test(each.result),
    );
    if (hoax) return `a row is told as ${hoax.result} and is not done`;
    if (unsaid) return undefined;
    const hidden = said.find((each) => each.done && each.result === 'failed');
    return hidden ? 'a row is told as failed, and it is done' : undefined;
  };
}

function printedId({ ran }: Outcome): string | undefined {
  if (!ran.stdout.startsWith('{')) return undefined;
  const printed = JSON.parse(ran.stdout) as JsonObject;
  if (printed['schema'] !== undefined) return undefined;
  const record = isObject(printed['player']) ? printed['player'] : printed;
  const { id } = record;
  return typeof id === 'string' || typeof id === 'number' ? String(id) : undefined;
}

interface Write extends Rows {
  readonly name: string;
  readonly line: string;
  /** Reads that it takes before the first write and for each row. */
  readonly reads?: number;
  /** Writes for each row. */
  readonly writes?: number;
  /** No read can tell what a create did: the answer is all there is. */
  readonly isCreate?: true;
}

function write({ name, line, reads = 6, writes = 1, isCreate, ...rows }: Write): Command {
  return {
    name,
    line,
    missing: allDone(rows),
    harm: toldWrongly(rows, isCreate === true),
    mayBePart: isCreate === true,
    due({ shape }) {
      // What may have failed on its way is sent again once a read shows that it did.
      const again = /=(30[123]|5\d\d) /.test(shape.shapes[0] ?? '') ? 3 : 0;
      const { length } = rows.things;
      return { reads: (reads + again) * length, writes: (writes + again) * length };
    },
  };
}

const isUpdated =
  (resource: ResourceName, field: string, value: string) =>
  ({ after }: Outcome, id: string): boolean =>
    after[resource].get(id)?.[field] === value;

const isGone =
  (resource: ResourceName) =>
  ({ after }: Outcome, id: string): boolean => {
    const record = after[resource].get(id);
    return record === undefined || record['deletedAt'] !== undefined;
  };

const same = (_: Outcome, id: string): string => id;

function update(line: string, resource: ResourceName, field: string, value: string): Command {
  const things = line.match(/\b[a-z]+_\d{4}\b/g) ?? [];
  return write({
    name: line.replace(/ (-F|--status|--to|--name) .*/, ''),
    line: `${line} --yes --json`,
    things,
    isDone: isUpdated(resource, field, value),
    idOf: same,
  });
}

/** Updates of one record and of two. */
export const updates: readonly Command[] = [
  update('players update player_0002 -F role=coach', 'players', 'role', 'coach'),
  update('players update player_0002 player_0014 -F role=coach', 'players', 'role', 'coach'),
  update('teams update team_0002 --name Lanterns', 'teams', 'name', 'Lanterns'),
  update('docs update doc_0002 --name Renamed', 'documents', 'name', 'Renamed'),
  update('tryouts update app_0013 --status rejected', 'tryouts', 'status', 'rejected'),
  update('tryouts set-status app_0013 app_0018 --to rejected', 'tryouts', 'status', 'rejected'),
];

function remove(line: string, resource: ResourceName): Command {
  const things = line.match(/\b[a-z]+_\d{4}\b/g) ?? [];
  return write({
    name: line.replace(/ --.*/, ''),
    line: `${line} --json`,
    things,
    isDone: isGone(resource),
    idOf: same,
  });
}

/** Deletes of one record and of two. */
export const deletes: readonly Command[] = [
  remove('players delete player_0002 --yes', 'players'),
  remove('players delete player_0002 player_0014 --yes --expect 2', 'players'),
  remove('teams delete team_0002 --confirm Lanternfish', 'teams'),
  remove('docs delete doc_0002 --yes', 'documents'),
];

/** The records that were not there before and have the name. */
function added({ before, after }: Outcome, resource: ResourceName, name: string): StoredRecord[] {
  return [...after[resource].values()].filter(
    (record) => record['name'] === name && !before[resource].has(record.id),
  );
}

function create(
  name: string,
  line: string,
  resource: ResourceName,
  things: readonly string[],
  writes = 1,
): Command {
  return write({
    name,
    line,
    things,
    isCreate: true,
    writes,
    isDone: (outcome, thing) => added(outcome, resource, thing).length === 1,
    idOf: (outcome, thing) => added(outcome, resource, thing)[0]?.id,
  });
}

/** Creates: the service alone knows which record came of it; a file's document is found by its key. */
export const creates: readonly Command[] = [
  create('players create', 'players create --name Zed -F role=coach --json', 'players', ['Zed']),
  create('teams create', 'teams create --name Zed --json', 'teams', ['Zed']),
  create(
    'docs upload',
    `docs upload 'HOME/New rules.txt' --json`,
    'documents',
    ['New rules.txt'],
    2,
  ),
  create(
    'docs upload of two',
    `docs upload 'HOME/New rules.txt' 'HOME/Plan B.txt' --json`,
    'documents',
    ['New rules.txt', 'Plan B.txt'],
    2,
  ),
];

const isConverted = ({ after }: Outcome, id: string): boolean => {
  const player = after.tryouts.get(id)?.['convertedPlayerId'];
  return typeof player === 'string' && after.players.has(player);
};

const playerOf = ({ after }: Outcome, id: string): string | undefined =>
  text(after.tryouts.get(id)?.['convertedPlayerId']);

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function convert(ids: readonly string[]): Command {
  return write({
    name: `tryouts convert ${ids.join(' ')}`,
    line: `tryouts convert ${ids.join(' ')} --yes --json`,
    things: ids,
    isDone: isConverted,
    idOf: (outcome, id) => (printedIsApplication(outcome) ? id : playerOf(outcome, id)),
  });
}

function printedIsApplication({ ran }: Outcome): boolean {
  return ran.stdout.startsWith('{"id":"app_');
}

/** Conversions of one application and of two. */
export const conversions: readonly Command[] = [
  convert(['app_0016']),
  convert(['app_0016', 'app_0022']),
];
