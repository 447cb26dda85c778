import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { inProcess } from './support/in-process.js';
import { temporaryFolder } from './support/run.js';
import { organization, type Recorded, type Reply, recordingService } from './support/service.js';

const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);

type Kept = Record<string, unknown> & { readonly id: string };

/** A service whose only list holds what the test puts there, in any order; it takes every write. */
const kept = new Map<string, Kept>();
const service = await recordingService(({ method, url, body }: Recorded): Reply => {
  const [, , , organizationOrId = '', id = organizationOrId] = url.split('?')[0]?.split('/') ?? [];
  const record = kept.get(decodeURIComponent(id));
  if (method === 'GET' && !record)
    return { status: 200, json: { data: [...kept.values()], total: kept.size } };
  if (!record) return { status: 404, json: { error: 'notFound' } };
  if (method !== 'GET') Object.assign(record, JSON.parse(body.toString()));
  return { status: 200, json: record };
});

const names = ['Zoe', 'zoe', 'Émile', 'E\u0301mile', 'émile', 'Ａ', '😀', 'ß', 'Ann', 'ann 2', ''];
const times = ['2026-03-01T10:00:00Z', '2026-03-01T11:00:00+01:00', '2026-04-01', 'soon', null];
const record = fc.record(
  {
    name: fc.oneof(fc.constantFrom(...names, null, 7), fc.string({ maxLength: 3 })),
    submittedAt: fc.constantFrom(...times),
    createdAt: fc.constant('2026-03-01T10:00:00Z'),
    status: fc.constantFrom('pending', 'reviewing', 'accepted'),
    email: fc.constantFrom('a@example.com', 'b@example.com'),
    gamerTags: fc.constantFrom([], [{ id: 't', game: 'Chess', gamerTag: 'x' }]),
  },
  { requiredKeys: ['status', 'email', 'gamerTags'] },
);
const lists = fc.uniqueArray(
  fc.tuple(
    fc.string({ unit: fc.constantFrom('a', 'B', '1', '_'), minLength: 1, maxLength: 4 }),
    record,
  ),
  {
    selector: ([id]) => id,
    minLength: 6,
    maxLength: 25,
  },
);

const cases = [
  [
    'tryouts',
    ['--status pending', '--game chess', '--search example', "--where 'email~a'"],
    'set-status --to shortlisted',
  ],
  ['players', ["--where 'status=pending'", '--search example'], 'update -F role=x'],
  ['teams', ["--where 'status!=accepted'", '--search example'], 'update -F role=x'],
  ['documents', ["--where 'status=pending'", '--search example'], 'update -F role=x'],
] as const;

const column = (text: string, by: RegExp) =>
  text
    .split(/\r?\n/)
    .slice(1, -1)
    .map((line) => line.split(by, 1)[0]);

const told = async (line: string) => {
  const { stderr } = await inProcess(line, { env: service.env, home: temporaryFolder() });
  return stderr;
};

describe.each(cases)('the first five %s', (resource, filters, write) => {
  test('are the same by table, ids, csv, ndjson, json, dry run and run', async () => {
    await fc.assert(
      fc.asyncProperty(lists, fc.constantFrom(...filters), async (records, filter) => {
        kept.clear();
        for (const [id, fields] of records)
          kept.set(id, { id, organizationId: organization, ...fields });
        const home = temporaryFolder();
        const run = async (line: string, env = {}) => {
          const ran = await inProcess(line, { env: { ...service.env, ...env }, home });
          expect([line, ran.code, ran.stderr.includes('"error"')]).toEqual([line, 0, false]);
          return ran.stdout;
        };
        const list = `${resource} list ${filter} -L 5`;
        const ids = (await run(`${list} -o ids`)).split('\n').slice(0, -1);
        expect(column(await run(list), /\t/)).toEqual(ids);
        expect(
          column(await run(`${list} --fields id`, { ROSTERCTL_FORCE_TTY: '80' }), / /),
        ).toEqual(ids);
        expect(column(await run(`${list} -o csv --csv-raw --fields id`), /,/)).toEqual(ids);
        expect(idsOf(JSON.parse(await run(`${list} --json`)) as Kept[])).toEqual(ids);
        const lines = (await run(`${list} -o ndjson`)).split('\n').slice(0, -1);
        expect(idsOf(lines.map((line) => JSON.parse(line) as Kept))).toEqual(ids);
        if (ids.length === 0) return;
        const changing = `${resource} ${write} ${filter} -L 5 --json --yes`;
        const reported = (text: string) =>
          idsOf((JSON.parse(text) as { results: readonly Kept[] }).results);
        expect(reported(await run(`${changing} --dry-run`))).toEqual(ids);
        expect(reported(await run(changing))).toEqual(ids);
      }),
      { numRuns: 12, endOnFailure: true },
    );
  });
});

test('--limit 0 is refused before any request', async () => {
  const before = service.requests.length;
  const ran = await inProcess('teams list --limit 0 -o ids', {
    env: service.env,
    home: temporaryFolder(),
  });
  expect([ran.code, ran.stdout, service.requests.length]).toEqual([2, '', before]);
});

test('a limit that cut says so on stderr, except with -q', async () => {
  kept.clear();
  for (const id of ['a', 'b', 'c']) kept.set(id, { id, name: id });
  for (const format of ['table', 'ids', 'csv', 'json', 'ndjson'])
    expect(await told(`teams list -L 2 -o ${format}`)).toBe('Showing the first 2 of 3 teams.\n');
  expect(await told("teams list -L 2 --template '{name}'")).toBe(
    'Showing the first 2 of 3 teams.\n',
  );
  expect(await told('teams list -L 2 -q')).toBe('');
  expect(await told('teams list -L 3')).toBe('');
});
