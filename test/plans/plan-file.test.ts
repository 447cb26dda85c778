import {
  closeSync,
  ftruncateSync,
  mkdtempSync,
  openSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { isObject, type JsonObject, parseJson, printJson } from '../../src/data/json.js';
import { type Failure, GuardError, InputError } from '../../src/errors.js';
import {
  hashOfPlan,
  type PlanContent,
  readPlanFile,
  writePlanFile,
} from '../../src/runs/plan-file.js';
import { codePoint } from '../support/code-point.js';
import { temporaryFolder } from '../support/run.js';

const folder = temporaryFolder('plans');
const read = (path: string) =>
  readPlanFile(path, { signal: new AbortController().signal, version: '9.9.9' });

let files = 0;
function nextFile(text?: string): string {
  const path = join(folder, `p${++files}.json`);
  if (text !== undefined) writeFileSync(path, text);
  return path;
}

/** The failure of reading a file of this text. */
async function refusal(text: string): Promise<Failure> {
  return read(nextFile(text)).then(
    () => {
      throw new Error(`read: ${text.slice(0, 200)}`);
    },
    (error: unknown) => error as Failure,
  );
}

const plan: PlanContent = {
  version: '0.2.0',
  madeAt: '2026-11-23T10:00:00.000Z',
  expiresAt: '2026-11-24T10:00:00.000Z',
  madeBy: { user: 'anna', host: 'laptop' },
  action: 'tryouts.update',
  resource: 'tryouts',
  profile: 'club',
  organization: 'org_7',
  service: 'https://api.example.org/v1',
  command: 'rosterctl tryouts update app_1 --status accepted',
  leftOut: { unchanged: 1, skipped: 0 },
  job: { status: 'accepted', note: { kind: 'append', text: 'Zeile\nzwei', day: '2026-11-23' } },
  guards: { ifStatus: ['pending'], conditions: [{ field: 'name', operator: '~', value: 'a' }] },
  rows: [
    {
      row: 1,
      id: 'app_1',
      ref: 'email:a@example.org',
      name: 'Änne O’Hara',
      changes: [
        { field: 'status', from: 'pending', to: 'accepted' },
        { field: 'internalNotes', from: null, to: 'Zeile\nzwei', adds: 'zwei' },
      ],
    },
    { row: 3, id: 'app_9', own: { level: 7 }, changes: [{ field: 'level', to: 7 }] },
  ],
};

const written = await writePlanFile(nextFile(), plan).then(() =>
  readFileSync(join(folder, 'p1.json'), 'utf8'),
);

test('a plan that was written is read as it was, with its hash, by its owner only', async () => {
  const path = nextFile();
  const hash = await writePlanFile(path, plan);
  expect(await read(path)).toEqual({ ...plan, hash });
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('any plan survives the file', async () => {
  const value = fc.jsonValue({ maxDepth: 3 });
  const text = fc.string({ unit: codePoint });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(text, value, value), { maxLength: 5 }),
      fc.dictionary(text, value),
      async (rows, job) => {
        const any: PlanContent = {
          ...plan,
          job,
          rows: rows.map(([name, from, to], at) => ({
            row: at + 1,
            id: `app_${at}`,
            name,
            changes: [{ field: name, from, to }],
          })),
        };
        const path = nextFile();
        const hash = await writePlanFile(path, any);
        const found = await read(path);
        expect(found.hash).toBe(hash);
        expect(printJson({ ...found, hash: '' })).toBe(
          printJson(parseJson(printJson({ ...any, hash: '' }))),
        );
      },
    ),
    { numRuns: 60 },
  );
});

test.each<[string, (text: string) => string]>([
  ['CR LF', (text) => text.replaceAll('\n', '\r\n')],
  ['no line ends', (text) => printJson(parseJson(text))],
  ['another indentation', (text) => JSON.stringify(JSON.parse(text), undefined, '\t')],
  ['a byte order mark', (text) => `\ufeff${text}`],
  ['members in another order', (text) => printJson(reversed(parseJson(text)))],
  ['escaped letters', (text) => text.replaceAll('Ä', '\\u00c4')],
])('%s is harmless', async (_, change) => {
  const changed = change(written);
  expect(changed).not.toBe(written);
  expect(await read(nextFile(changed))).toMatchObject(plan);
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, item]) => [key, reversed(item)]),
  );
}

/** The paths of all values that hold no others, and of all members. */
function pathsOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  const inner = Array.isArray(value) || isObject(value) ? Object.entries(value) : [];
  return [
    ...(path.length > 0 ? [path] : []),
    ...inner.flatMap(([key, item]) => pathsOf(item, [...path, key])),
  ];
}

/** A copy in which one value is another one; undefined removes it. */
function edited(value: unknown, [key = '', ...rest]: readonly string[], to: unknown): unknown {
  const copy = Array.isArray(value) ? [...(value as unknown[])] : { ...(value as JsonObject) };
  const at = copy as Record<string, unknown>;
  at[key] = rest.length === 0 ? to : edited(at[key], rest, to);
  if (rest.length === 0 && to === undefined) {
    if (Array.isArray(copy)) copy.splice(Number(key), 1);
    else delete at[key];
  }
  return copy;
}

const paths = pathsOf(JSON.parse(written));

test('an edit of any single value is refused, whatever it is', async () => {
  expect(paths.length).toBeGreaterThan(40);
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...paths),
      fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.string(), fc.integer(), fc.constant(undefined)),
      async (path, to) => {
        const now = edited(JSON.parse(written), path, to);
        fc.pre(hashOfPlan(now as JsonObject) !== hashOfPlan(JSON.parse(written) as JsonObject));
        const error = await refusal(printJson(now));
        expect(error).toSatisfy((each) => each instanceof GuardError || each instanceof InputError);
      },
    ),
    { numRuns: 400 },
  );
});

test('a value that a careless editor changes is named as an edit, with exit code 11', async () => {
  for (const [from, to] of [
    ['"accepted"', '"rejected"'],
    ['app_9', 'app_8'],
    ['2026-11-24T10', '2027-11-24T10'],
    ['"row": 1', '"row": 2'],
    ['org_7', 'org_8'],
  ] as const) {
    const now = written
      .replace(from, to)
      .replace('"row":1', to === '"row": 2' ? '"row":2' : '"row":1');
    expect(now).not.toBe(written);
    const error = await refusal(now);
    expect([error.code, error.exitName]).toEqual(['edited', 'guarded']);
  }
});

test('a member that is added, or a row that is removed, is an edit', async () => {
  const value = JSON.parse(written) as { rows: unknown[] };
  expect((await refusal(printJson({ ...value, force: true }))).code).toBe('edited');
  expect((await refusal(printJson({ ...value, rows: value.rows.slice(1) }))).code).toBe('edited');
});

/** The text of a plan with these members, hashed again as somebody would who knows how. */
function forged(members: JsonObject): string {
  const { hash: _, ...value } = { ...(JSON.parse(written) as JsonObject), ...members };
  return printJson({ ...value, hash: hashOfPlan(value) });
}

test('a plan of another format is refused and names the version that made it', async () => {
  const error = await refusal(forged({ rosterctlPlan: 2, version: '0.9.0' }));
  expect(error).toBeInstanceOf(GuardError);
  expect(error.message).toContain('made by rosterctl 0.9.0');
  expect(error.message).toContain('This version, 9.9.9,');
});

test.each<[string, JsonObject]>([
  ['without rows', { rows: undefined }],
  ['a row without an id', { rows: [{ row: 1, id: '', changes: [{ field: 'a', to: 1 }] }] }],
  ['a row without changes', { rows: [{ row: 1, id: 'a', changes: [] }] }],
  ['rows out of order', { rows: [...plan.rows].toReversed() }],
  ['a record twice', { rows: [plan.rows[0], { ...plan.rows[0], row: 2 }] }],
  ['no time', { expiresAt: 'never' }],
  ['an unknown guard', { guards: { unless: 'x' } }],
  ['an unknown member', { force: true }],
])('a file with the hash of a plan and not its form is no plan: %s', async (_, members) => {
  const error = await refusal(forged(members));
  expect([error.exitName, error.message]).toEqual([
    'usage',
    expect.stringContaining('is not a plan file'),
  ]);
});

test.each([
  ['', 'not valid JSON'],
  ['hello', 'not valid JSON'],
  ['[]', 'not a JSON object'],
  ['null', 'not a JSON object'],
  ['{}', 'is not a plan file.'],
  ['{"rosterctlPlan":"1"}', 'is not a plan file.'],
  [written.slice(0, -20), 'not valid JSON, or was cut'],
  [`${'['.repeat(5_000)}${']'.repeat(5_000)}`, 'not valid JSON'],
])('%j is no plan', async (text, why) => {
  const error = await refusal(text);
  expect(error).toBeInstanceOf(InputError);
  expect(error.message).toContain(why);
});

test('bytes that are no text are no plan', async () => {
  const path = nextFile();
  writeFileSync(path, Buffer.from([0x7b, 0xff, 0xfe, 0x7d]));
  await expect(read(path)).rejects.toThrow('is not a plan file: it is not UTF-8 text');
});

test('a file of a gigabyte is refused', async () => {
  const path = join(mkdtempSync(join(folder, 'big-')), 'big.json');
  const file = openSync(path, 'w');
  ftruncateSync(file, 2 ** 30);
  closeSync(file);
  await expect(read(path)).rejects.toThrow('is not a plan file: it is larger than 128 MiB');
});

test('a missing file says so', async () => {
  await expect(read(join(folder, 'none.json'))).rejects.toThrow('No such file: ');
});

test('a plan never replaces a file', async () => {
  const path = nextFile('mine');
  await expect(writePlanFile(path, plan)).rejects.toThrow('already exists');
  expect(readFileSync(path, 'utf8')).toBe('mine');
});
