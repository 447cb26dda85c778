import { spawn } from 'node:child_process';
import { existsSync, openSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { InputError, OutputError, PipeClosedError } from '../../src/errors.js';
import { createStreams, wantsColor } from '../../src/terminal/streams.js';
import { closed } from '../support/run.js';

function streamsOn(
  given: {
    stdin?: PassThrough;
    stdout?: Writable;
    stderr?: Writable;
    env?: Record<string, string>;
  } = {},
) {
  return createStreams({
    stdin: given.stdin ?? new PassThrough(),
    stdout: given.stdout ?? new PassThrough(),
    stderr: given.stderr ?? new PassThrough(),
    env: given.env ?? {},
  });
}

test('a terminal that reports 0 columns counts as 80 wide and gets no animation', () => {
  const serial = Object.assign(new PassThrough(), { isTTY: true, columns: 0, rows: 0 });
  const usual = Object.assign(new PassThrough(), { isTTY: true, columns: 100, rows: 30 });
  const size = ({ stderr, canAnimate }: ReturnType<typeof streamsOn>) => [
    stderr.columns,
    stderr.rows,
    canAnimate,
  ];
  expect(size(streamsOn({ stderr: serial }))).toEqual([80, 24, false]);
  expect(size(streamsOn({ stderr: usual }))).toEqual([100, 30, true]);
});

// In bytes: CSI 2 J, CSI 6 n, OSC 0 ... ST.
test.each([
  [
    { LC_ALL: 'C' },
    '?2J ?6n ?0;title? Zoe ??',
    '\\u00db2J \\u00db6n \\u00dd0;title\\u00dc Zoe\\u0308 \\u661f\\u898b',
  ],
  [
    { XTERM_LOCALE: 'C' },
    '?2J ?6n ?0;title? Zoe ??',
    '\\u00db2J \\u00db6n \\u00dd0;title\\u00dc Zoe\\u0308 \\u661f\\u898b',
  ],
  [{ LANG: 'C.UTF-8', XTERM_LOCALE: 'C' }, undefined, undefined],
  [{}, undefined, undefined],
])(
  'letters whose bytes control a terminal that reads bytes are replaced with %j',
  async (env, text, data) => {
    const hostile = 'Û2J Û6n Ý0;titleÜ Zoe\u0308 星見';
    const shown = async (written: string | Uint8Array) => {
      const stdout = Object.assign(new PassThrough(), { isTTY: true });
      await streamsOn({ stdout, env }).stdout.write(written);
      return String(stdout.read());
    };
    expect(await shown(hostile)).toBe(text ?? hostile);
    expect(await shown(Buffer.from(hostile))).toBe(data ?? hostile);
  },
);

test.each([
  [{ LANG: 'C' }, true, 'a - b > c\nMandelk~  x\n  ... 3 more\nMüller\n'],
  [{ LANG: 'en_US.UTF-8' }, true, undefined],
  [{ LANG: 'C' }, false, undefined],
])('marks with %j on a terminal (%s)', async (env, isTTY, expected) => {
  const text = 'a · b → c\nMandelk…  x\n  … 3 more\nMüller\n';
  for (const name of ['stdout', 'stderr'] as const) {
    const target = Object.assign(new PassThrough(), { isTTY });
    await streamsOn({ env, [name]: target })[name].write(text);
    expect(String(target.read())).toBe(expected ?? text);
  }
});

function escaped(text: string, signs: RegExp, escape: (code: string) => string): string {
  return text.replace(signs, (sign) => escape(sign.charCodeAt(0).toString(16)));
}

function breaksWith(code: string): Writable {
  return new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error(code), { code })),
  });
}

describe('colour', () => {
  test.each([
    [true, {}, true],
    [false, {}, false],
    [true, { NO_COLOR: '1' }, false],
    [true, { NO_COLOR: '' }, true],
    [true, { TERM: 'dumb' }, false],
    [true, { CLICOLOR: '0' }, false],
    [false, { CLICOLOR: '1' }, false],
    [false, { CLICOLOR_FORCE: '1' }, true],
    [false, { CLICOLOR_FORCE: '0' }, false],
    [false, { FORCE_COLOR: '1' }, true],
    [true, { FORCE_COLOR: '0' }, false],
    [true, { FORCE_COLOR: '1', NO_COLOR: '1' }, true],
  ])('terminal %s with %j: %s', (isTerminal, env, expected) => {
    expect(wantsColor(isTerminal, env)).toBe(expected);
  });

  test('--no-color beats everything', () => {
    const streams = streamsOn({ env: { FORCE_COLOR: '1' } });
    expect(streams.stdout.color).toBe(true);
    streams.withoutColor();
    expect(streams.stdout.color).toBe(false);
  });
});

test('a valid COLUMNS is used, an invalid one is ignored', () => {
  expect(streamsOn({ env: { COLUMNS: '33' } }).stdout.columns).toBe(33);
  expect(streamsOn({ env: { COLUMNS: '0' } }).stdout.columns).toBe(80);
  expect(streamsOn({ env: { COLUMNS: 'wide' } }).stdout.columns).toBe(80);
});

describe('writing', () => {
  test('a write resolves once the bytes are handed over', async () => {
    const accepted: string[] = [];
    const slow = new Writable({
      highWaterMark: 1,
      write: (chunk, _encoding, done) =>
        setTimeout(() => done(void accepted.push(String(chunk))), 5),
    });
    const streams = streamsOn({ stdout: slow });
    await streams.stdout.write('one');
    expect(accepted).toEqual(['one']);
    await Promise.all([streams.stdout.write('two'), streams.stdout.write(Buffer.from('three'))]);
    expect(accepted).toEqual(['one', 'two', 'three']);
  });

  test('a closed pipe is a PipeClosedError, for this write and later ones', async () => {
    const streams = streamsOn({ stdout: breaksWith('EPIPE') });
    await expect(streams.stdout.write('x')).rejects.toThrow(PipeClosedError);
    await expect(streams.stdout.write('y')).rejects.toThrow(PipeClosedError);
  });

  test('a full disk is an OutputError that names it', async () => {
    const streams = streamsOn({ stdout: breaksWith('ENOSPC') });
    await expect(streams.stdout.write('x')).rejects.toThrow(OutputError);
    await expect(streams.stdout.write('x')).rejects.toThrow(/the disk is full.*ENOSPC/);
  });

  test('an error between two writes is thrown by the next one', async () => {
    const stdout = new PassThrough();
    const streams = streamsOn({ stdout });
    await streams.stdout.write('x');
    stdout.destroy(Object.assign(new Error('gone'), { code: 'EIO' }));
    await expect(streams.stdout.write('y')).rejects.toThrow(/EIO/);
  });

  test('a closed stderr is ignored', async () => {
    const streams = streamsOn({ stderr: breaksWith('EPIPE') });
    await expect(streams.stderr.write('x')).resolves.toBeUndefined();
  });
});

describe('secrets', () => {
  test('the key never reaches stderr, in any of its encodings', async () => {
    const stderr = new PassThrough();
    const streams = streamsOn({ stderr });
    streams.redact('k"ey +1/2');
    streams.redact('abc');
    await streams.stderr.write(
      `k"ey +1/2 ${JSON.stringify('k"ey +1/2')} ${encodeURIComponent('k"ey +1/2')} abc\n`,
    );
    expect(String(stderr.read())).toBe('[redacted] "[redacted]" [redacted] abc\n');
  });

  test('the key is redacted in the encodings of a service, and where a text is truncated within it', async () => {
    const stderr = new PassThrough();
    const streams = streamsOn({ stderr });
    const key = 'rk_live/CANARY+0123456789=';
    streams.redact(key);
    const lines = [
      encodeURIComponent(key)
        .toLowerCase()
        .replace('rk_live', 'rk_live')
        .replace('canary', 'CANARY'),
      JSON.stringify(key).replaceAll('/', '\\/'),
      key.replace('/', '&#x2F;').replace('+', '&#x2B;').replace('=', '&#x3D;'),
      Buffer.from(key).toString('base64'),
      Buffer.from(key).toString('base64url'),
      `the invalid key: ${key.slice(0, 20)}…`,
    ];
    await streams.stderr.write(lines.join('\n'));
    const shown = String(stderr.read());
    expect(shown).not.toMatch(/CANARY|UUNBTkFSW/);
    expect(shown.match(/\[redacted\]/g)).toHaveLength(lines.length);
    expect(shown).toContain('the invalid key: [redacted]…');
  });

  test.each([
    ['rk_live/CANA', '[redacted]'],
    ['the key rk_live/CANA…', 'the key [redacted]…'],
    ['rk_live/CANARY0123 and so on', '[redacted] and so on'],
    ['rk_live/CANA is how the keys begin', 'rk_live/CANA is how the keys begin'],
    [
      'rk_live/CANA is how rk_live/CANARY0123456789= begins',
      'rk_live/CANA is how [redacted] begins',
    ],
    ['rk_live/…', 'rk_live/…'],
  ])('of a part of the key, %s is shown as %s', async (text, shown) => {
    const stderr = new PassThrough();
    const streams = streamsOn({ stderr });
    streams.redact('rk_live/CANARY0123456789=');
    await streams.stderr.write(text);
    expect(String(stderr.read())).toBe(shown);
  });

  const escapes: readonly [by: string, escape: (text: string) => string][] = [
    ['Mustache', (text) => escaped(text, /[&<>"'`=/]/g, (code) => `&#x${code.toUpperCase()};`)],
    ['Handlebars', (text) => escaped(text, /[&<>"'`=]/g, (code) => `&#x${code.toUpperCase()};`)],
    ['a template of Go', (text) => text.replaceAll('+', '&#43;').replaceAll('&', '&amp;')],
    ['names', (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')],
    ['JSON of Go', (text) => escaped(text, /[&<>]/g, (code) => `\\u00${code}`)],
    ['JSON of Gson', (text) => escaped(text, /[&<>=']/g, (code) => `\\u00${code}`)],
    ['JSON in JSON', (text) => escaped(text, /[&<>=']/g, (code) => `\\\\u00${code}`)],
    ['a URL in a URL', (text) => encodeURIComponent(encodeURIComponent(text))],
    ['a path in a URL', (text) => encodeURI(text).replaceAll('&', '%26')],
  ];
  test.each(escapes)('the key is redacted as it is escaped by %s', async (_, escape) => {
    const stderr = new PassThrough();
    const streams = streamsOn({ stderr });
    const key = 'rk+live/CANARY&01<23456/789==';
    streams.redact(key);
    await streams.stderr.write(`the invalid key ${escape(key)} of ${escape('A/B+C=D')}\n`);
    expect(String(stderr.read())).toBe(`the invalid key [redacted] of ${escape('A/B+C=D')}\n`);
  });

  test('of two keys that begin alike, no part of the second is shown, nor of one in base64url', async () => {
    const stderr = new PassThrough();
    const streams = streamsOn({ stderr });
    const [first, second] = ['aaaaaaaaaaaaaaaa', 'zzzzzzzzzzzzzzzz'].map(
      (end) => `rk_live_acme_esports_club_2026_${end}`,
    );
    const odd = 'eZ3T-8.2BxuD3MbSRP7tyz6.~g~~vr5~oZ2kHviI';
    for (const key of [first, second, odd]) streams.redact(String(key));
    const forms = [
      Buffer.from(String(second)).toString('base64'),
      Buffer.from(odd).toString('base64url'),
    ];
    await streams.stderr.write(`Unknown ${forms.join(' and ')} sent\n`);
    expect(String(stderr.read())).toMatch(/^Unknown \[redacted\]=* and \[redacted\] sent\n$/);
  });

  test('the key is redacted where a text is truncated within an escape of it', async () => {
    const stderr = new PassThrough();
    const streams = streamsOn({ stderr });
    streams.redact('rk_live_8f3a/Zq9+Lw2=TtYyUuIiOoPp');
    await streams.stderr.write('invalid: rk_live_8f3a%2FZq9%2BLw2%3…\n');
    expect(String(stderr.read())).toBe('invalid: [redacted]…\n');
  });

  test('the query of a signed URL never reaches stderr, nor its signature alone', async () => {
    const stderr = new PassThrough();
    const streams = streamsOn({ stderr });
    streams.redactUrl(
      'https://files.example.test/a.pdf?expires=1700000000&signature=0123456789abcdef0123',
    );
    await streams.stderr.write(
      'GET https://files.example.test/a.pdf?expires=1700000000&signature=0123456789abcdef0123\n',
    );
    await streams.stderr.write('bad signature 0123456789abcdef0123 at 1700000000\n');
    stderr.end();
    expect(await readText(stderr)).toBe(
      'GET https://files.example.test/a.pdf?[redacted]\nbad signature [redacted] at 1700000000\n',
    );
  });

  test.each([
    [false, 'https://files.example.test/a.png?[redacted] and https://example.test/?page=2'],
    [true, 'https://files.example.test/a.png?token=0123 and https://example.test/?page=2'],
  ])(
    'of a link in a note, at a terminal (%s), the signature is shown as in %s',
    async (isTTY, shown) => {
      const stderr = Object.assign(new PassThrough(), { isTTY });
      await streamsOn({ stderr }).stderr.write(
        'https://files.example.test/a.png?token=0123 and https://example.test/?page=2',
      );
      expect(String(stderr.read())).toBe(shown);
    },
  );

  test('the name of a file in a signed URL is no secret', async () => {
    const stderr = new PassThrough();
    const streams = streamsOn({ stderr });
    const disposition = 'attachment; filename="Player contract.pdf"';
    const query = String(
      new URLSearchParams({
        name: 'Player contract Nimbus Kite.pdf',
        key: 'documents/2026/contract-nimbus.pdf',
        'response-content-disposition': disposition,
        sig: '0123456789abcdef0123',
      }),
    );
    streams.redactUrl(`https://files.example.test/a?${query}`);
    const text = `Player contract Nimbus Kite.pdf, documents/2026/contract-nimbus.pdf, ${disposition}`;
    await streams.stderr.write(`${text} ${query}\n`);
    expect(String(stderr.read())).toBe(`${text} [redacted]\n`);
  });

  test('stdout is not redacted', async () => {
    const stdout = new PassThrough();
    const streams = streamsOn({ stdout });
    streams.redact('secret-key');
    await streams.stdout.write('secret-key');
    expect(String(stdout.read())).toBe('secret-key');
  });
});

describe('stdin', () => {
  test('is read completely', async () => {
    const stdin = new PassThrough();
    stdin.end('two\nlines');
    expect(String(await streamsOn({ stdin }).stdin.readAll(100))).toBe('two\nlines');
  });

  test('has a limit', async () => {
    const stdin = new PassThrough();
    stdin.end('123456');
    await expect(streamsOn({ stdin }).stdin.readAll(5)).rejects.toThrow(InputError);
  });
});

describe('in a separate process', () => {
  let folder = '';
  let program = '';

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rosterctl-streams-'));
    const entry = join(folder, 'entry.ts');
    const source = fileURLToPath(new URL('../../src/terminal/streams.ts', import.meta.url));
    await writeFile(
      entry,
      `import { createStreams } from ${JSON.stringify(source)};
const streams = createStreams(process as never);
const size = Number(process.argv[2]);
try {
  for (let remaining = size; remaining > 0; remaining -= 1000) await streams.stdout.write('x'.repeat(999) + '\\n');
  process.exitCode = 0;
} catch (error) {
  await streams.stderr.write((error as Error).name + ': ' + (error as Error).message);
  process.exitCode = 7;
}
`,
    );
    const bundle = await rolldown({ input: entry, platform: 'node' });
    program = join(folder, 'program.mjs');
    await bundle.write({ file: program, format: 'esm' });
    await bundle.close();
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const start = (size: number, stdout: 'pipe' | number) =>
    spawn(process.execPath, [program, String(size)], {
      stdio: ['ignore', stdout, 'pipe'],
      env: {},
    });
  const end = async (child: ReturnType<typeof start>) => {
    let stderr = '';
    child.stderr?.on('data', (chunk) => (stderr += chunk));
    const code = await closed(child);
    return { code, stderr };
  };

  test('a full device is an error', async ({ skip }) => {
    skip(!existsSync('/dev/full'), 'there is no /dev/full');
    const { code, stderr } = await end(start(1000, openSync('/dev/full', 'w')));
    expect(stderr).toMatch(/^OutputError: .*ENOSPC/);
    expect(code).toBe(7);
  });

  test('a pipe gets a megabyte completely', async () => {
    const child = start(1_000_000, 'pipe');
    let bytes = 0;
    child.stdout?.on('data', (chunk: Buffer) => (bytes += chunk.length));
    expect(await end(child)).toEqual({ code: 0, stderr: '' });
    expect(bytes).toBe(1_000_000);
  });

  test('a closed pipe ends the writing at once', async () => {
    const child = start(1e9, 'pipe');
    child.stdout?.once('data', () => child.stdout?.destroy());
    const { code, stderr } = await end(child);
    expect(stderr).toMatch(/^PipeClosedError/);
    expect(code).toBe(7);
  });
});
