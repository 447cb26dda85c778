import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { cut } from '../commands/tryouts/service.js';
import { inProcess, movableClock } from '../support/in-process.js';
import { type Ran, rosterctl, temporaryFolder } from '../support/run.js';
import type { Reply } from '../support/service.js';
import {
  type Fields,
  type Instead,
  type OutcomeService,
  outcomeService,
  type Verb,
  type Write,
} from './outcome-service.js';

// Every operation with every response, for one record and for two: the outcome, the exit code, the
// message, and what the service has recorded afterwards.

const locked = { error: 'invalidRequest', message: 'The roster is locked.' };
const page = {
  status: 200,
  headers: { 'content-type': 'text/html' },
  text: '<html>Welcome</html>',
};

/** What the service does with a write; `clock`: how a long wait is shortened. */
const answers = {
  done: () => undefined,
  refused: () => ({ status: 400, json: locked }),
  'says no': () => ({ status: 200, json: { success: false, ...locked } }),
  'not done': ({ verb, record }) =>
    verb === 'delete' ? { status: 204 } : { status: 200, json: record },
  'web page': () => page,
  'web page, done': ({ apply }) => (apply(), page),
  'lost, done': ({ apply, time }) => (time > 1 ? undefined : (apply(), cut)),
  'lost, not done': ({ time }) => (time > 1 ? undefined : cut),
  'later, changed': (write, { other, forward }) => {
    if (write.time > 1) return undefined;
    write.change(other);
    // The earlier read is far too old when the wait ends.
    forward(10_000);
    return { status: 429, json: { error: 'rateLimited' }, headers: { 'retry-after': '0.1' } };
  },
  conflict: () => ({ status: 409, json: { error: 'conflict', message: 'Used elsewhere.' } }),
  gone: ({ remove }) => (remove(), { status: 404, json: { error: 'notFound' } }),
} as const satisfies Record<
  string,
  (write: Write, by: { other: Fields; forward: (ms: number) => void }) => Reply | undefined
>;
type Column = keyof typeof answers;
const columns = Object.keys(answers) as Column[];

/** How a row ends, and the process with one record; with two it is 8 for failures and conflicts. */
const outcomes = {
  changed: { result: 'changed', exit: 0, says: /^$/ },
  unchanged: { result: 'unchanged', exit: 0, says: /already/ },
  refused: { result: 'failed', exit: 3, says: /The roster is locked/ },
  notApplied: {
    result: 'failed',
    exit: 1,
    says: /accepted the (change|deletion) of \w+, but .*(still shows the old|still there)/,
  },
  unknown: { result: 'unknown', exit: 10, says: /may have taken effect|cannot be read/ },
  conflict: { result: 'conflict', exit: 6, says: /Used elsewhere/ },
  // The first step is done, so the row has changed.
  halfDone: { result: 'failed', exit: 6, says: /Used elsewhere/ },
  overtaken: { result: 'conflict', exit: 6, says: /someone else changed/i },
  gone: { result: 'failed', exit: 5, says: /not ?found/i },
} as const;
type Outcome = keyof typeof outcomes;

interface Row {
  readonly line: (things: readonly string[]) => string;
  readonly things: readonly [string, string];
  /** Several records at once make no sense, or are not supported. */
  readonly onlyOne?: true;
  /** The write that the column responds to. */
  readonly verb: Verb;
  /** How another admin changes the record during the wait. */
  readonly other?: Fields;
  /** The record after the operation; undefined: deleted. */
  readonly after?: Fields;
  /** A write before it, which is applied whatever happens to this one. */
  readonly step?: 'accepted';
  readonly cells: string;
}

const apps = ['app_1', 'app_2'] as const;
const forms = (things: readonly string[]) => things.join(' ');
const asked = (things: readonly string[]) =>
  things.length > 1 ? `--yes --expect ${things.length}` : '--yes';
const changesOf = (noun: string, id: string): Row => ({
  line: (things) => `${noun} update ${forms(things)} -F role=coach --yes --json`,
  things: [`${id}_1`, `${id}_2`],
  verb: 'update',
  other: { role: 'captain' },
  after: { role: 'coach' },
  cells:
    'changed refused refused notApplied unknown changed changed changed overtaken conflict gone',
});
const deletesOf = (noun: string, id: string): Row => ({
  line: (things) => `${noun} delete ${forms(things)} ${asked(things)} --json`,
  things: [`${id}_1`, `${id}_2`],
  verb: 'delete',
  other: { role: 'captain' },
  cells:
    'changed refused refused notApplied unknown changed changed changed overtaken conflict gone',
});
const createsOf = (noun: string): Row => ({
  line: ([name]) => `${noun} create --name "${name}" -F role=coach --json`,
  things: ['Ann', 'Bo'],
  onlyOne: true,
  verb: 'create',
  after: { role: 'coach' },
  // No read can show which record a lost create made.
  cells: 'changed refused refused - unknown unknown unknown unknown changed conflict gone',
});

/** A change of a status, by the command for one field and by the one for the status alone. */
const toRejected: Omit<Row, 'line'> = {
  things: apps,
  verb: 'update',
  other: { status: 'accepted' },
  after: { status: 'rejected' },
  cells:
    'changed refused refused notApplied unknown changed changed changed overtaken conflict gone',
};

//        done    refused says no not done web page … done  lost… … not done later … conflict gone
const rows: Readonly<Record<string, Row>> = {
  'tryouts update --status': {
    line: (ids) => `tryouts update ${forms(ids)} --status rejected --yes --json`,
    ...toRejected,
  },
  'tryouts update --append-note': {
    line: (ids) => `tryouts update ${forms(ids)} --append-note "Call on Friday" --yes --json`,
    things: apps,
    verb: 'update',
    other: { internalNotes: 'Seen on Monday.\nTheir line.' },
    after: { internalNotes: expect.stringMatching(/\d: Call on Friday$/) },
    // Both lines are kept.
    cells:
      'changed refused refused notApplied unknown changed changed changed changed conflict gone',
  },
  'tryouts set-status': {
    line: (ids) => `tryouts set-status ${forms(ids)} --to rejected --yes --json`,
    ...toRejected,
  },
  'tryouts convert': {
    line: (ids) => `tryouts convert ${forms(ids)} --yes --json`,
    things: apps,
    verb: 'convert',
    other: { convertedPlayerId: 'player_by_hand' },
    after: { convertedPlayerId: expect.stringMatching(/^player_of_/) },
    cells:
      'changed refused refused notApplied unknown changed changed changed unchanged conflict gone',
  },
  'tryouts convert --accept, the first step': {
    line: (ids) => `tryouts convert ${forms(ids)} --accept --yes --json`,
    things: apps,
    verb: 'update',
    other: { status: 'withdrawn' },
    after: { status: 'accepted', convertedPlayerId: expect.stringMatching(/^player_of_/) },
    cells:
      'changed refused refused notApplied unknown changed changed changed overtaken conflict gone',
  },
  'tryouts convert --accept, the second step': {
    line: (ids) => `tryouts convert ${forms(ids)} --accept --yes --json`,
    things: apps,
    verb: 'convert',
    step: 'accepted',
    other: { convertedPlayerId: 'player_by_hand' },
    after: { status: 'accepted', convertedPlayerId: expect.stringMatching(/^player_of_/) },
    // The status was set, whoever made the player.
    cells:
      'changed refused refused notApplied unknown changed changed changed changed halfDone gone',
  },
  'teams update': changesOf('teams', 'team'),
  'players update': changesOf('players', 'player'),
  'docs update': changesOf('docs', 'doc'),
  'teams delete': {
    ...deletesOf('teams', 'team'),
    line: ([id = '']) => `teams delete ${id} --confirm "${id.replace('_', ' ')}" --json`,
    onlyOne: true,
  },
  'players delete': deletesOf('players', 'player'),
  'docs delete': deletesOf('docs', 'doc'),
  'teams create': createsOf('teams'),
  'players create': createsOf('players'),
  'docs create': {
    ...createsOf('docs'),
    line: ([name]) =>
      `docs create --file-key k1 --file-ref r1 --content-type text/plain --size-bytes 9 --name ${name} --json`,
    after: { fileKey: 'k1' },
    // The list shows which uploaded file a document records.
    cells: 'changed refused refused - unknown changed changed changed changed conflict gone',
  },
  'docs upload': {
    line: (paths) => `docs upload ${paths.map((path) => `HOME/${path}`).join(' ')} --json`,
    things: ['a.txt', 'b.txt'],
    verb: 'create',
    after: { contentType: 'text/plain' },
    cells: 'changed refused refused - unknown changed changed changed changed conflict gone',
  },
};

/**
 * Undetectable for any client: a success response that names a record which does not exist
 * afterwards.
 */
const unseen = Object.keys(rows).filter((name) => rows[name]?.verb === 'create');

type Run = (line: string, options: { env: Record<string, string>; home: string }) => Promise<Ran>;

/** How the rows of a command ended, and what the service recorded. */
interface Cell {
  readonly code: number | null;
  readonly results: readonly { readonly result: string; readonly error?: Fields; step?: string }[];
  readonly says: string;
  readonly service: OutcomeService;
}

async function runCell(
  { line, verb, other = {} }: Row,
  column: Column,
  things: readonly string[],
  outside?: Run,
): Promise<Cell> {
  const home = temporaryFolder();
  mkdirSync(join(home, 'files'));
  for (const name of ['a.txt', 'b.txt']) writeFileSync(join(home, name), `text of ${name}\n`);
  const clock = movableClock();
  const instead: Instead = (write) =>
    write.verb === verb
      ? answers[column](write, { other, forward: (ms) => clock.forward(ms) })
      : undefined;
  const service = await outcomeService(instead);
  const options = { env: service.env, home, clock };
  const run = outside ?? ((words, given) => inProcess(words, { ...given, clock }));
  const ran = await run(line(things).replaceAll('HOME', home), options);
  const text = JSON.parse((await inProcess('runs show last --json', options)).stdout) as {
    results: Cell['results'];
  };
  return { code: ran.code, results: text.results, says: ran.stderr + ran.stdout, service };
}

/** Checks a cell; returns what must be equal for one and for two records. */
function check(row: Row, column: Column, things: readonly string[], cell: Cell) {
  const wanted = row.cells.split(' ')[columns.indexOf(column)] as Outcome;
  const { result, exit, says } = outcomes[wanted];
  const { service, results } = cell;
  const isMany = things.length > 1 && (result === 'failed' || result === 'conflict');
  expect({ code: cell.code, results: results.map((each) => each.result), says: cell.says }).toEqual(
    {
      code: isMany ? 8 : exit,
      results: things.map(() => result),
      says: expect.stringMatching(wanted === 'changed' || wanted === 'unchanged' ? /^/ : says),
    },
  );
  const isTheirs = column === 'later, changed' && row.other?.['convertedPlayerId'] !== undefined;
  const isDone = column.endsWith(', done') || (wanted === 'changed' && !isTheirs);
  const isTwice =
    wanted === 'changed' &&
    (column === 'lost, not done' || (column === 'later, changed' && !isTheirs));
  for (const thing of things) {
    const entry = `${row.verb} ${thing}`;
    expect(service.sent.filter((each) => each === entry)).toHaveLength(isTwice ? 2 : 1);
    expect(service.applied.filter((each) => each === entry)).toHaveLength(isDone ? 1 : 0);
    const record =
      row.verb === 'create'
        ? service.created.find(({ name }) => name === thing)
        : service.record(thing);
    if (isDone && row.after) expect(record).toMatchObject(row.after);
    else if (isDone || column === 'gone') expect(record).toBeUndefined();
    else if (column === 'later, changed') expect(record).toMatchObject(row.other ?? {});
    if (row.step && column !== 'gone') expect(record).toMatchObject({ status: 'accepted' });
  }
  return results.map(({ result: ended, error, step }) => ({ ended, code: error?.['code'], step }));
}

const cells = Object.entries(rows).flatMap(([name, row]) =>
  columns
    .filter((column) => !(column === 'not done' && unseen.includes(name)))
    .map((column) => [name, column, row] as const),
);

describe.concurrent('one record and two', () => {
  test.each(cells)('%s: %s', async (_, column, row) => {
    const [first] = row.things;
    const one = check(row, column, [first], await runCell(row, column, [first]));
    if (row.onlyOne) return;
    const two = check(row, column, row.things, await runCell(row, column, row.things));
    expect(two).toEqual([...one, ...one]);
  });
});

test.each([1, 2])(
  '%d refused as converted already, by somebody else, are unchanged',
  async (count) => {
    const service = await outcomeService(({ change }) => {
      change({ convertedPlayerId: 'player_by_hand' });
      return { status: 409, json: { error: 'conflict' } };
    });
    const line = `tryouts convert ${forms(apps.slice(0, count))} --yes --json`;
    const options = { env: service.env, home: temporaryFolder() };
    const ran = await inProcess(line, options);
    expect([ran.code, service.sent.length, service.applied]).toEqual([0, count, []]);
    const { results } = JSON.parse((await inProcess('runs show last --json', options)).stdout);
    expect(results).toMatchObject(apps.slice(0, count).map((id) => ({ id, result: 'unchanged' })));
  },
);

test('no client can detect a create that is acknowledged but not applied', () => {
  const left = Object.entries(rows).filter(([, { cells: all }]) => all.split(' ').includes('-'));
  expect(left.map(([name]) => name)).toEqual(unseen);
  expect(unseen).toEqual(['teams create', 'players create', 'docs create', 'docs upload']);
});

describe('the built program', () => {
  test.each(columns.map((column, at) => [column, Object.keys(rows)[at % 12] ?? ''] as const))(
    '%s: %s',
    async (column, name) => {
      const row = rows[name];
      if (!row) throw new Error(`no row ${name}`);
      const things = row.onlyOne ? [row.things[0]] : row.things;
      check(row, column, things, await runCell(row, column, things, rosterctl));
    },
  );
});
