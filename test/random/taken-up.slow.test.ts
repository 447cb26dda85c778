import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { isObject } from '../../src/data/json.js';
import { exit } from '../../src/exit-codes.js';
import { type Books, changedIds, type Desk, newDesk } from './desk.js';

// More changes, and others: RANDOM_LINES=500 RANDOM_SEED=2 npx vitest run -c vitest.faults.config.ts test/random

const numRuns = Number(process.env['RANDOM_LINES'] ?? 60);
const seed = Number(process.env['RANDOM_SEED'] ?? 8);

/** What stands for a word in capitals; an empty text leaves it out. */
const parts: Readonly<Record<string, readonly string[]>> = {
  APPS: [
    'app_0003 app_0018 app_0042',
    'app_0020',
    '--ids ids.txt',
    '--status pending',
    "--where 'name~a' --older-than 30d",
    '--unconverted --status accepted',
  ],
  PLAYERS: [
    'player_0001',
    'player_0004 player_0009',
    '--team name:Lanternfish',
    "--where 'id~_001'",
  ],
  TEAMS: ['team_0001', 'team_0002 team_0005', '--all'],
  DOCS: ['doc_0001 doc_0005', '--tag contract', '--type image/*'],
  STATUS: ['reviewing', 'shortlisted', 'accepted', 'rejected'],
  NOTE: ['', "--note 'A note'", '--append-note later', '--clear-note'],
  IF: ['', '', '--if-status pending,reviewing', "--if 'name~a'"],
  FIELDS: ['-F role=Coach', '-F custom=5 -F a.b=1', "-F 'teamIds[]=team_0002'", '-f name=Same'],
  TAGS: ['--add-tag new', '--remove-tag contract', '--tag a --tag b', '-F custom=1'],
  FILES: ['contract.pdf', 'photo.png note.txt', '-r consents', '--manifest papers.csv'],
  PACE: ['', '--concurrency 16', '--concurrency 1', '--limit 4', '--retries 0', '--rate 200/s'],
};

const changes = [
  'tryouts set-status APPS --to STATUS NOTE IF PACE',
  'tryouts set-status --csv apps.csv IF --results results.csv',
  'tryouts convert APPS --accept',
  'players update PLAYERS FIELDS PACE',
  'players update --csv players.csv',
  'players delete player_0004 player_0009 --expect 2',
  'players create --name Mira -F age=17',
  'players import roster.csv --key email --ignore-columns',
  'teams update TEAMS FIELDS PACE',
  'teams import teams.csv --key name --map Team=name',
  'documents update DOCS TAGS PACE',
  'documents delete doc_0002 doc_0003 --expect 2',
  'documents upload FILES',
];

const change = fc
  .constantFrom(...changes)
  .chain((text) =>
    fc.tuple(...text.split(' ').map((word) => fc.constantFrom(...(parts[word] ?? [word])))),
  )
  .map((words) => `${words.join(' ')} --yes --json`);

const trouble = fc
  .tuple(
    fc.constantFrom('PATCH', 'POST', 'DELETE', 'GET', ''),
    fc.constantFrom('#1', '#2', '#3', '#1-2', '#5-6'),
    fc.constantFrom(
      ...['close-before', 'close-after', 'late=50ms', 'truncate', 'status=503', 'status-after=500'],
      ...['throttle=0', 'html=502', 'status=401', 'status=403:featureNotAvailable'],
      ...['status=400:invalidRequest', 'status=403:forbidden', 'status=404', 'status=409:taken'],
    ),
  )
  .map((words) => words.join(' ').trim())
  // No client can tell a record that is gone from one that a read denies.
  .filter((fault) => !/^(?:GET|#).*404/.test(fault));

/** Repeats a line as its errors advise, until it has nothing left to do; returns the last code. */
async function takenUp(desk: Desk, line: string, resumes: boolean): Promise<number | null> {
  // The line of a filter selects anew: beside what it finishes, --limit lets it take other rows.
  const isResumed = resumes || / --limit /.test(line);
  let { code } = await desk.run(line);
  for (let turn = 0; turn < 6 && code !== exit.done; turn += 1) {
    const again =
      code === exit.rowsFailed ? 'runs retry last' : isResumed ? 'runs resume last' : undefined;
    const ran = again === undefined ? undefined : await desk.run(`${again} --yes --json`);
    // One that asks the service nothing had no run to take up.
    const wasTakenUp = ran?.code === exit.done || (ran?.sent.length ?? 0) > 0;
    ({ code } = ran && wasTakenUp ? ran : await desk.run(line));
  }
  return code;
}

/** Times, and what the service numbers anew in each sandbox. */
const passing =
  /^(?:createdAt|updatedAt|submittedAt|fileKey|fileUrl|legacyRef|gamerTags|convertedPlayer.*)$/;

/** What was done since: the records that differ, those that are new without their ids, and the events. */
function traces(before: Books, desk: Desk): readonly string[] {
  const after = desk.books();
  const lasting = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(lasting);
    if (!isObject(value)) return value;
    const kept = Object.entries(value).filter(([name]) => !passing.test(name));
    return kept.map(([name, inner]) => [name, lasting(inner)]);
  };
  const records = changedIds(before, after).map((id) => {
    const { id: _, ...fields } = after.get(id) ?? { id };
    return JSON.stringify([before.has(id) ? id : 'new', lasting(fields)]);
  });
  return [...records, ...desk.events()].toSorted();
}

/** Those of a list that another list does not hold as often. */
function surplus(list: readonly string[], other: readonly string[]): readonly string[] {
  return list.filter((text) => count(list, text) > count(other, text));
}

function count(list: readonly string[], text: string): number {
  return list.filter((each) => each === text).length;
}

test(`${numRuns} random changes, disturbed and taken up, do what they do undisturbed, and nothing twice`, async () => {
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(
      change,
      fc.uniqueArray(trouble, { minLength: 1, maxLength: 2 }),
      fc.boolean(),
      async (line, troubles, isResumed) => {
        const desks = [await newDesk(), await newDesk(troubles)] as const;
        try {
          const [calm, troubled] = desks;
          const before = calm.books();
          if ((await calm.run(line)).code !== exit.done) return;
          const beforeToo = troubled.books();
          const code = await takenUp(troubled, line, isResumed);
          const [wanted, found] = [traces(before, calm), traces(beforeToo, troubled)];
          // A create whose answer was lost, and which no list shows, is not sent again.
          if (code === exit.unknownOutcome)
            expect([line, surplus(found, wanted)]).toEqual([line, []]);
          else expect([line, code, found]).toEqual([line, exit.done, wanted]);
          compared += 1;
        } finally {
          for (const desk of desks) await desk.close();
        }
      },
    ),
    { numRuns, seed },
  );
  expect(compared).toBeGreaterThan(numRuns / 2);
}, 3_600_000);
