import { EventEmitter, once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type OutputContext, printValue } from '../../src/cli/output.js';
import {
  linesView,
  listView,
  oneOrManyView,
  recordView,
  rowsView,
  type View,
} from '../../src/cli/views.js';
import type { Settings } from '../../src/config/settings.js';
import { parseJson } from '../../src/data/json.js';
import { PipeClosedError, UsageError } from '../../src/errors.js';
import { createStreams } from '../../src/terminal/streams.js';
import { outputContext } from '../support/output-context.js';
import { type ScreenOptions, screen } from '../support/screen.js';

interface Showing extends ScreenOptions {
  readonly settings?: Partial<Settings>;
  readonly flags?: OutputContext['flags'];
}

/** Presents a value and returns stdout and the notes. */
async function shown<T>(value: T, view: View<T>, showing: Showing = {}) {
  const made = screen(showing);
  const notes: string[] = [];
  await printValue(value, view, {
    ...outputContext(showing.settings),
    streams: made.streams,
    note: (line) => notes.push(line),
    flags: showing.flags ?? {},
  });
  return { stdout: made.stdout(), notes };
}

/** The context of `printValue`. */
const worldOf = (
  streams: OutputContext['streams'],
  settings: Partial<Settings>,
): OutputContext => ({ ...outputContext(settings), streams });

const format = (output: Settings['output'], more: Partial<Settings> = {}) => ({
  settings: { output, ...more },
});

const ann = {
  id: 'app_1',
  organizationId: 'org_1',
  status: 'pending',
  name: 'Ann',
  email: 'ann@example.test',
  internalNotes: null,
  formResponses: { rank: 'gold', 'why?': 'to\twin' },
  gamerTags: [{ id: 't1', game: 'valorant', gamerTag: 'Ann#EU' }],
  submittedAt: '2026-11-21T09:00:00Z',
};
const bob = {
  ...ann,
  id: 'app_2',
  name: 'Bob',
  status: 'accepted',
  email: 'bob@example.test',
  gamerTags: [],
  submittedAt: '2026-11-21T11:00:00Z',
};

async function* stream<T>(...items: readonly T[]): AsyncGenerator<T> {
  for (const item of items) yield item;
}

async function* broken(): AsyncGenerator<typeof ann> {
  yield ann;
  yield bob;
  throw new Error('the answer broke');
}

describe('a list on a terminal', () => {
  test('is a table under human heads, times relative', async () => {
    const { stdout } = await shown(stream(ann, bob), listView('tryouts'), { columns: 120 });
    expect(stdout).toBe(
      [
        'Id     Name  Status    Submitted  Games     E-mail',
        'app_1  Ann   pending   3 h ago    valorant  ann@example.test',
        'app_2  Bob   accepted  1 h ago    -         bob@example.test',
        '+1 field: --fields',
        '',
      ].join('\n'),
    );
  });

  test('-v has the names of the fields under the heads', async () => {
    const settings = { verbose: true, fields: ['id', 'submittedAt'] };
    const { stdout } = await shown([ann], listView('tryouts'), { columns: 80, settings });
    expect(stdout).toBe('Id     Submitted\nid     submittedAt\napp_1  3 h ago\n');
    const bare = { ...settings, noHeader: true };
    const { stdout: rows } = await shown([ann], listView('tryouts'), {
      columns: 80,
      settings: bare,
    });
    expect(rows).toBe('app_1  3 h ago\n');
  });

  test('-q leaves out the footer', async () => {
    const settings = { quiet: true, overrides: { 'columns.tryouts': 'id' } };
    const { stdout } = await shown([ann], listView('tryouts'), { columns: 80, settings });
    expect(stdout).toBe('Id\napp_1\n');
  });

  test('ROSTERCTL_FORCE_TTY gives a pipe the same table, without a footer', async () => {
    const settings = { forcedWidth: 40 };
    const { stdout } = await shown([ann], listView('tryouts'), { settings });
    expect(stdout).toBe('Id     Name  Status   Submitted\napp_1  Ann   pending  3 h ago\n');
  });

  test('orders unknown fields by frequency, and omits file references', async () => {
    const documents = [
      {
        id: 'd2',
        sizeBytes: 1_500_000,
        name: 'b.pdf',
        fileUrl: 'ref://x',
        createdAt: '2026-11-20T12:00:00Z',
        pages: 3,
        signed: true,
        organizationId: 'org_1',
        empty: null,
      },
      {
        id: 'd1',
        sizeBytes: 12,
        name: 'a.pdf',
        fileKey: 'documents/x',
        createdAt: '2026-11-21T12:00:00Z',
        signed: false,
        organizationId: 'org_1',
        tags: ['x', 'y'],
      },
    ];
    const { stdout } = await shown(documents, listView('documents'), { columns: 120 });
    expect(stdout).toBe(
      [
        'Id  Name   Size     Tags  Signed  Pages  Created',
        'd2  b.pdf  1.4 MiB  -     yes     3      1 d ago',
        'd1  a.pdf  12 B     x, y  no      -      just now',
        '',
      ].join('\n'),
    );
  });

  test('has the configured or chosen columns', async () => {
    const overrides = { 'columns.tryouts': 'name, Games, gamerTags.0.game' };
    const configured = await shown([ann], listView('tryouts'), {
      columns: 80,
      settings: { overrides },
    });
    expect(configured.stdout).toBe('Name  Games     gamerTags.0.game\nAnn   valorant  valorant\n');
    const chosen = await shown([ann], listView('tryouts'), {
      columns: 80,
      settings: { fields: ['formResponses.rank', 'id'], overrides },
    });
    expect(chosen.stdout).toBe('formResponses.rank  Id\ngold                app_1\n');
  });

  test('that is empty prints a note, and nothing on stdout', async () => {
    const { stdout, notes } = await shown([], listView('teams'), { columns: 80 });
    expect({ stdout, notes }).toEqual({
      stdout: '',
      notes: ['No teams yet. Create one: rosterctl teams create --name NAME'],
    });
  });

  test('--time sets the style of times', async () => {
    const settings = { time: 'iso', fields: ['submittedAt'] } as const;
    const { stdout } = await shown([ann], listView('tryouts'), { columns: 80, settings });
    expect(stdout).toBe('Submitted\n2026-11-21T09:00:00Z\n');
  });
});

describe('a record on a terminal', () => {
  test('shows all fields, nested ones indented', async () => {
    const { stdout } = await shown({ ...ann, internalNotes: 'one\ntwo' }, recordView('tryouts'), {
      columns: 60,
      settings: { time: 'iso' },
    });
    expect(stdout).toBe(
      [
        'id              app_1',
        'organizationId  org_1',
        'status          pending',
        'name            Ann',
        'email           ann@example.test',
        'internalNotes   one',
        '                two',
        'formResponses',
        '  rank  gold',
        '  why?  to  win',
        'gamerTags',
        '  - id        t1',
        '    game      valorant',
        '    gamerTag  Ann#EU',
        'submittedAt     2026-11-21T09:00:00Z',
        '',
      ].join('\n'),
    );
  });

  test('shows a size in bytes as well', async () => {
    const { stdout } = await shown({ id: 'd', sizeBytes: 2048 }, recordView('documents'), {
      columns: 60,
    });
    expect(stdout).toBe('id         d\nsizeBytes  2.0 KiB (2,048 bytes)\n');
  });

  test('shows a field that is only called size as a number, because it may count people', async () => {
    const { stdout } = await shown({ id: 't', size: 5 }, recordView('teams'), { columns: 60 });
    expect(stdout).toBe('id    t\nsize  5\n');
  });

  test('several requested records keep the requested order', async () => {
    const { stdout } = await shown([ann, bob], oneOrManyView('tryouts'), {
      columns: 120,
    });
    expect(stdout.indexOf('Ann')).toBeLessThan(stdout.indexOf('Bob'));
  });
});

describe('a pipe', () => {
  test('gets a table as tab-separated full values with a header', async () => {
    const { stdout } = await shown(stream(ann, bob), listView('tryouts'));
    expect(stdout.split('\n')).toEqual([
      'id\tstatus\tname\temail\tsubmittedAt\tdiscordUsername\tgamerTags\tinternalNotes\tconvertedPlayerId\tupdatedAt',
      'app_1\tpending\tAnn\tann@example.test\t2026-11-21T09:00:00Z\t\t[{"id":"t1","game":"valorant","gamerTag":"Ann#EU"}]\t\t\t',
      'app_2\taccepted\tBob\tbob@example.test\t2026-11-21T11:00:00Z\t\t[]\t\t\t',
      '',
    ]);
  });

  test('gets escapes for characters that would break a line', async () => {
    const { stdout } = await shown([{ id: 'a\tb\\c\nd\u001b' }], listView('teams'));
    expect(stdout).toBe('id\tname\na\\tb\\\\c\\nd\\u001b\t\n');
  });

  test('gets a record as key and value lines', async () => {
    const { stdout } = await shown(ann, recordView('tryouts'), { settings: { fields: undefined } });
    expect(stdout).toContain('id\tapp_1\n');
    expect(stdout).toContain('gamerTags.0.game\tvalorant\n');
    expect(stdout).toContain('formResponses.why?\tto\\twin\n');
    expect(stdout).toContain('internalNotes\t\n');
  });

  test('gets a header for an empty list', async () => {
    expect((await shown([], listView('teams'))).stdout).toBe('id\tname\n');
  });

  test('a field that occurs only in later records has a column, too', async () => {
    const records = Array.from({ length: 150 }, (_, index) => ({ id: `t${index}` }));
    const view: View<typeof records> = {};
    const { stdout, notes } = await shown([...records, { id: 'x', late: 1 }], view);
    expect(stdout.split('\n')).toHaveLength(153);
    expect(stdout).toMatch(/^id\tlate\nt0\t\n/);
    expect(stdout).toMatch(/\nx\t1\n$/);
    expect(notes).toEqual([]);
  });
});

describe('json', () => {
  test('a list is an array in the service order, compact when piped, indented on a terminal', async () => {
    const piped = await shown(stream(ann, bob), listView('tryouts'), format('json'));
    expect(piped.stdout).toBe(`${JSON.stringify([ann, bob])}\n`);
    const terminal = await shown(stream(ann, bob), listView('tryouts'), {
      ...format('json'),
      columns: 80,
    });
    expect(terminal.stdout).toBe(`${JSON.stringify([ann, bob], null, 2)}\n`);
  });

  test('an empty list is []', async () => {
    expect((await shown(stream<typeof ann>(), listView('teams'), format('json'))).stdout).toBe(
      '[]\n',
    );
    expect((await shown([], listView('teams'), { ...format('json'), columns: 80 })).stdout).toBe(
      '[]\n',
    );
  });

  test('one record is an object, several are an array', async () => {
    const view = oneOrManyView('tryouts');
    expect((await shown(ann, view, format('json'))).stdout).toBe(`${JSON.stringify(ann)}\n`);
    expect((await shown([ann], view, format('json'))).stdout).toBe(`${JSON.stringify([ann])}\n`);
  });

  test('chosen fields are keyed as typed, and a missing one is null', async () => {
    const fields = ['gamerTags.0.gamerTag', 'internalNotes', 'id'];
    const { stdout } = await shown([ann, bob], listView('tryouts'), format('json', { fields }));
    expect(JSON.parse(stdout)).toEqual([
      { 'gamerTags.0.gamerTag': 'Ann#EU', internalNotes: null, id: 'app_1' },
      { 'gamerTags.0.gamerTag': null, internalNotes: null, id: 'app_2' },
    ]);
    expect(Object.keys((JSON.parse(stdout) as object[])[0] as object)).toEqual(fields);
  });

  test('a long number and a __proto__ key are preserved', async () => {
    const text = '{"id":"x","discord":12345678901234567890,"__proto__":{"a":1}}';
    const record = parseJson(text) as typeof ann;
    expect((await shown([record], listView('teams'), format('json'))).stdout).toBe(`[${text}]\n`);
    const chosen = await shown(
      [record],
      listView('teams'),
      format('json', { fields: ['__proto__', 'discord'] }),
    );
    expect(chosen.stdout).toBe('[{"__proto__":{"a":1},"discord":12345678901234567890}]\n');
  });

  test('is written completely or not at all', async () => {
    const made = screen();
    const world = worldOf(made.streams, { output: 'json' });
    await expect(printValue(broken(), listView('tryouts'), world)).rejects.toThrow(
      'the answer broke',
    );
    expect(made.stdout()).toBe('');
  });
});

describe('ndjson', () => {
  test('is one record per line', async () => {
    const { stdout } = await shown(stream(ann, bob), listView('tryouts'), format('ndjson'));
    expect(stdout).toBe(`${JSON.stringify(ann)}\n${JSON.stringify(bob)}\n`);
  });

  test('prints the records that arrived before the response broke off', async () => {
    const made = screen();
    const world = worldOf(made.streams, { output: 'ndjson' });
    await expect(printValue(broken(), listView('tryouts'), world)).rejects.toThrow(
      'the answer broke',
    );
    expect(made.stdout()).toBe(`${JSON.stringify(ann)}\n${JSON.stringify(bob)}\n`);
  });

  test('writes a record before the next one arrives', async () => {
    const made = screen();
    const gate = new EventEmitter();
    const second = once(gate, 'open');
    async function* slow() {
      yield ann;
      await second;
      yield bob;
    }
    const world = worldOf(made.streams, { output: 'ndjson' });
    const done = printValue(slow(), listView('tryouts'), world);
    while (made.stdout() === '') await new Promise((resolve) => setImmediate(resolve));
    expect(made.stdout()).toBe(`${JSON.stringify(ann)}\n`);
    gate.emit('open');
    await done;
    expect(made.stdout().split('\n')).toHaveLength(3);
  });

  test('a closed pipe ends the list', async () => {
    const { stdin, stderr } = process;
    const { Writable } = await import('node:stream');
    const stdout = new Writable({
      write: (_c, _e, done) => done(Object.assign(new Error(), { code: 'EPIPE' })),
    });
    let asked = 0;
    let closed = false;
    async function* endless() {
      try {
        for (;;) {
          asked++;
          await new Promise((resolve) => setImmediate(resolve));
          yield ann;
        }
      } finally {
        closed = true;
      }
    }
    const streams = createStreams({ stdin, stdout, stderr, env: {} });
    const world = worldOf(streams, { output: 'ndjson' });
    await expect(printValue(endless(), listView('tryouts'), world)).rejects.toThrow(
      PipeClosedError,
    );
    expect(closed).toBe(true);
    expect(asked).toBeLessThan(20);
  });
});

describe('csv', () => {
  test('has the dotted columns of all records, new ones next to related ones', async () => {
    const records = [
      { id: 'a', tags: ['x', 'y'], gamerTags: [], note: '=1+1' },
      { id: 'b', gamerTags: [{ game: 'v' }, { game: 'w' }], note: null, late: -1 },
    ];
    const { stdout } = await shown(records, listView('players'), format('csv'));
    expect(stdout).toBe(
      "id,tags,gamerTags.0.game,gamerTags.1.game,note,late\r\na,x;y,,,'=1+1,\r\nb,,v,w,,-1\r\n",
    );
  });

  test('delimiter, byte order mark and raw cells', async () => {
    const { stdout } = await shown(
      [{ id: 'a;b', n: '=1' }],
      listView('teams'),
      format('csv', { delimiter: ';', bom: true, csvRaw: true }),
    );
    expect(stdout).toBe('\ufeffid;n\r\n"a;b";=1\r\n');
  });

  test('an empty list is the documented header', async () => {
    const { stdout } = await shown([], listView('tryouts'), format('csv'));
    expect(stdout).toMatch(/^id,organizationId,status,name,.*updatedAt\r\n$/);
    const fields = ['name', 'id'];
    expect((await shown([], listView('teams'), format('csv', { fields }))).stdout).toBe(
      'name,id\r\n',
    );
  });

  test('writes nothing if the list breaks off', async () => {
    const made = screen();
    const world = worldOf(made.streams, { output: 'csv' });
    await expect(printValue(broken(), listView('tryouts'), world)).rejects.toThrow(
      'the answer broke',
    );
    expect(made.stdout()).toBe('');
  });
});

describe('ids', () => {
  test('are one per line, whatever fields were chosen', async () => {
    const { stdout } = await shown(
      [ann, bob],
      listView('tryouts'),
      format('ids', { fields: ['name'] }),
    );
    expect(stdout).toBe('app_1\napp_2\n');
    expect((await shown(ann, recordView('tryouts'), format('ids'))).stdout).toBe('app_1\n');
  });

  test('are verbatim, as --ids reads them', async () => {
    const odd = ['a\\b', 'a\u2028b', '100%', '"q"'].map((id) => ({ ...ann, id }));
    const { stdout } = await shown(odd, listView('tryouts'), format('ids'));
    expect(stdout).toBe('a\\b\na\u2028b\n100%\n"q"\n');
  });

  test('stay one line each, also with characters that no command accepts in an id', async () => {
    const { stdout } = await shown([{ ...ann, id: 'a\nb' }], listView('tryouts'), format('ids'));
    expect(stdout).toBe('a\\nb\n');
  });

  test('of rows without ids are their first column', async () => {
    const view = rowsView<{ name: string }>(['name']);
    expect((await shown([{ name: 'default' }], view, format('ids'))).stdout).toBe('default\n');
  });

  test('of a result without ids are an error', async () => {
    await expect(shown({ total: 1 }, recordView('teams'), format('ids'))).rejects.toThrow(
      UsageError,
    );
  });
});

describe('--fields', () => {
  test.each(['table', 'json', 'ndjson', 'csv'] as const)(
    'an unknown field in %s prints nothing and names the known ones',
    async (output) => {
      const made = screen();
      const world = worldOf(made.streams, { output, fields: ['id', 'statsu'] });
      const failure = await printValue(stream(ann, bob), listView('tryouts'), world).catch(
        (error: unknown) => error,
      );
      expect(failure).toBeInstanceOf(UsageError);
      expect((failure as UsageError).message).toBe('Unknown field "statsu". Did you mean status?');
      expect((failure as UsageError).hint).toContain('formResponses.rank');
      expect(made.stdout()).toBe('');
    },
  );

  test('accepts a field that only a later record has', async () => {
    const { stdout } = await shown(
      [{ id: 'a' }, { id: 'b', x: 1 }],
      listView('teams'),
      format('ndjson', { fields: ['x'] }),
    );
    expect(stdout).toBe('{"x":null}\n{"x":1}\n');
  });

  test('accepts fields unknown to the contract for an empty list', async () => {
    expect(
      (await shown([], listView('teams'), format('json', { fields: ['anything'] }))).stdout,
    ).toBe('[]\n');
  });

  test('accepts only the fixed fields of our own rows', async () => {
    const view = rowsView<{ name: string }>(['name']);
    await expect(shown([], view, format('json', { fields: ['nam'] }))).rejects.toThrow(
      'Did you mean name?',
    );
  });
});

describe('a view with lines of its own', () => {
  const view = linesView((value: { total: number }, { paint, columns }) => [
    `${paint.bold('total')} ${value.total} of ${columns}`,
  ]);

  test('shows them to a person and in a piped table', async () => {
    expect((await shown({ total: 3 }, view, { columns: 70 })).stdout).toBe('total 3 of 70\n');
    expect((await shown({ total: 3 }, view)).stdout).toBe('total 3 of 80\n');
    expect(
      (await shown({ total: 3 }, view, { columns: 70, env: { FORCE_COLOR: '1' } })).stdout,
    ).toBe('\u001b[1mtotal\u001b[22m 3 of 70\n');
  });

  test('shows the value to a machine', async () => {
    expect((await shown({ total: 3 }, view, format('json'))).stdout).toBe('{"total":3}\n');
    expect((await shown({ total: 3 }, view, format('csv'))).stdout).toBe('total\r\n3\r\n');
    expect((await shown({ total: 3 }, view, { settings: { fields: ['total'] } })).stdout).toBe(
      'total\t3\n',
    );
  });

  test('can name the records that it holds', async () => {
    const report: View<{ results: readonly { id: string; result: string }[] }> = {
      rows: ({ results }) => results,
      idRows: ({ results }) => results.filter(({ result }) => result === 'changed'),
      closing: ({ results }) => ({ type: 'summary', total: results.length }),
    };
    const value = {
      results: [
        { id: 'a', result: 'changed' },
        { id: 'b', result: 'failed' },
      ],
    };
    expect((await shown(value, report, format('ids'))).stdout).toBe('a\n');
    expect((await shown(value, report, format('ndjson'))).stdout).toBe(
      '{"id":"a","result":"changed"}\n{"id":"b","result":"failed"}\n{"type":"summary","total":2}\n',
    );
    expect((await shown(value, report, format('csv'))).stdout).toBe(
      'id,result\r\na,changed\r\nb,failed\r\n',
    );
    expect((await shown(value, report, format('json'))).stdout).toBe(`${JSON.stringify(value)}\n`);
  });
});

test('bytes are written unchanged, except to a terminal', async () => {
  const view: View<Uint8Array> = {};
  const bytes = Buffer.from('\u001b[31mx');
  expect((await shown(bytes, view)).stdout).toBe('\u001b[31mx');
  const seen = await shown(bytes, view, { columns: 80 });
  expect(seen.stdout).toBe('\\u001b[31mx\n');
});

describe('--out', () => {
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rosterctl-out-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  test('writes a private file', async () => {
    const out = join(folder, 'teams.csv');
    const { stdout } = await shown([{ id: 'a' }], listView('teams'), {
      columns: 80,
      settings: { out, output: 'csv' },
    });
    expect(stdout).toBe('');
    expect(await readFile(out, 'utf8')).toBe('id\r\na\r\n');
    expect((await stat(out)).mode & 0o777).toBe(0o600);
  });

  test('a table in a file is tab-separated', async () => {
    const out = join(folder, 'teams.txt');
    await shown([{ id: 'a' }], listView('teams'), { columns: 80, settings: { out } });
    expect(await readFile(out, 'utf8')).toBe('id\tname\na\t\n');
  });

  test('a list that breaks off leaves the old file unchanged', async () => {
    const out = join(folder, 'list.ndjson');
    await writeFile(out, 'before');
    await expect(shown(broken(), listView('tryouts'), { settings: { out } })).rejects.toThrow(
      'broke',
    );
    expect(await readFile(out, 'utf8')).toBe('before');
    expect(await readdir(folder)).toEqual(['list.ndjson']);
  });

  test('- is stdout', async () => {
    expect(
      (await shown([{ id: 'a' }], listView('teams'), format('ndjson', { out: '-' }))).stdout,
    ).toBe('{"id":"a"}\n');
  });
});
