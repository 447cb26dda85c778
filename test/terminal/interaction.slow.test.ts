import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { spawn } from '@lydell/node-pty';
import xterm from '@xterm/headless';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { keepOpen } from '../support/converse.js';
import { forbidden, withoutColor } from '../support/hostile.js';

let folder = '';

/** A program that does one thing with a real terminal and prints the outcome at the end. */
const program = `
import { TerminalPrompts } from '${source('prompt')}';
import { createProgress } from '${source('progress')}';
import { showInPager } from '${source('other-programs')}';
import { createStreams } from '${source('streams')}';
import { writeSync } from 'node:fs';
let drawn = '';
const write = process.stderr.write.bind(process.stderr);
process.stderr.write = ((text: string, ...rest: never[]) => ((drawn += text), write(text, ...rest))) as never;
const moment = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
/** Waits until a line that moves shows a text, however busy the machine is; where nothing moves, for some frames. */
async function sees(text: string) {
  if (!streams.canAnimate) return moment(700);
  while (!drawn.includes(text)) await moment(20);
}
const streams = createStreams(process as never, {
  isTerminal: () => true,
  write: (descriptor, bytes) => writeSync(descriptor, bytes),
});
const prompts = new TerminalPrompts(streams, { noInput: false, plain: process.argv[3] === 'plain', signal: new AbortController().signal, onContinue: () => () => {}, onSuspend: () => () => {} });
streams.redact('sekret-key');
const hostile = 'Delete \\u001b]0;title\\u0007 sekret-key\\nreally?';
const doing: Record<string, () => Promise<unknown>> = {
  confirm: () => prompts.confirm(hostile),
  text: () => prompts.text('Name?', { validate: (value) => (value === 'no' ? 'not \\u001b[31mthat' : undefined) }),
  secret: () => prompts.secret('Key?'),
  select: () => prompts.select('Which?', [{ value: 'a', label: 'first\\u001b[2J' }, { value: 'b', label: 'second' }]),
  search: () => prompts.search('Which?', [{ value: 'a', label: 'Ann\\u001b[2J', keywords: 'ann@example.com' }, { value: 'b', label: 'Ben' }]),
  mark: () => prompts.mark('Which ones?', [{ value: 'a', label: 'Ann' }, { value: 'b', label: 'Ben' }, { value: 'c', label: 'Cy' }]),
  crowd: () => prompts.search('Which?', Array.from({ length: 64 }, (_, at) => ({ value: 'p' + at, label: 'Person ' + at }))),
  many: () => prompts.mark('Which ones?', Array.from({ length: 64 }, (_, at) => ({ value: 'p' + at, label: 'Person ' + at }))),
  async progress() {
    let text = 'working \\u001b]0;x\\u0007 sekret-key';
    const line = createProgress(streams, { quiet: false, onSuspend: () => () => {} }).start(() => text);
    await sees('working');
    text = 'nearly ' + 'long '.repeat(50);
    await sees('nearly');
    line.stop();
    return 'stopped';
  },
  async bar() {
    const line = createProgress(streams, { quiet: false, onSuspend: () => () => {} }).start(() => '123 of 400, 1.5/s, 3 min left', () => 0.5);
    await sees('123 of 400');
    line.stop();
  },
  async notes() {
    const line = createProgress(streams, { quiet: false, onSuspend: () => () => {} }).start(() => 'working');
    await sees('working');
    await streams.stderr.write('a note\\n');
    await streams.stdout.write('a row\\n');
    await moment(300);
    line.stop();
  },
  pager: () => showInPager('one\\ntwo\\n', process.argv[3] ?? '', { env: process.env }),
};
try {
  const value = await doing[process.argv[2] ?? '']?.();
  process.stdout.write('\\nANSWER ' + JSON.stringify(value) + '\\n');
} catch (error) {
  process.stdout.write('\\nFAILED ' + (error as Error).name + '\\n');
}
process.stdout.write('RAW ' + (process.stdin as { isRaw?: boolean }).isRaw + '\\n');
`;

function source(name: string): string {
  return fileURLToPath(new URL(`../../src/terminal/${name}.ts`, import.meta.url));
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rosterctl-terminal-'));
  const entry = join(folder, 'entry.ts');
  await writeFile(entry, program);
  const bundle = await rolldown({
    input: entry,
    platform: 'node',
    resolve: { modules: [fileURLToPath(new URL('../../node_modules', import.meta.url))] },
  });
  await bundle.write({ dir: folder, format: 'esm', entryFileNames: 'program.mjs' });
  await bundle.close();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Typing {
  /** The screen text to wait for, and the keys to type then. */
  readonly keys?: readonly (readonly [shown: string, typed: string])[];
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
}

/** Runs the program in a pseudo terminal of 40 columns and returns its output. */
async function inTerminal(what: string, { keys = [], env = {}, args = [] }: Typing = {}) {
  const child = spawn(process.execPath, [join(folder, 'program.mjs'), what, ...args], {
    cols: 40,
    rows: 10,
    env: { PATH: process.env['PATH'] ?? '', TERM: 'xterm-256color', ...env },
  });
  keepOpen(child);
  let got = '';
  let from = 0;
  const remaining = [...keys];
  const step = () => {
    const [next] = remaining;
    if (!next) return;
    const at = withoutColor(got).indexOf(next[0], from);
    if (at < 0) return;
    from = at + next[0].length;
    remaining.shift();
    // The prompt discards keys typed before it is drawn.
    setTimeout(() => child.write(next[1]), 100);
  };
  child.onData((data) => {
    got += data;
    step();
  });
  await new Promise<void>((resolve) => child.onExit(() => resolve()));
  return got;
}

/** Removes the control sequences by which a prompt or spinner moves the cursor and clears lines. */
function withoutDrawing(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return (
    withoutColor(text)
      // oxlint-disable-next-line no-control-regex
      .replace(/\u001b\[(?:\?(?:25|2026)[hl]|\d*[A-GJK]|\d*;?\d*H)/g, '')
      .replaceAll('\r', '')
  );
}

describe('a prompt at a terminal', () => {
  test.each([
    ['y\r', 'ANSWER true'],
    ['yes\r', 'ANSWER true'],
    ['n\r', 'ANSWER false'],
    ['\r', 'ANSWER false'],
    ['\u0003', 'FAILED CancelledError'],
    ['\u001b', 'FAILED CancelledError'],
    ['\u0004', 'FAILED CancelledError'],
  ])('%j means %s and restores the terminal', async (typed, outcome) => {
    const got = await inTerminal('confirm', { keys: [['y/N', typed]] });
    expect(got).toContain(outcome);
    expect(got).toContain('RAW false');
    // The cursor is shown again.
    expect(got.lastIndexOf('\u001b[?25h')).toBeGreaterThanOrEqual(got.lastIndexOf('\u001b[?25l'));
  });

  test('sanitizes its text and redacts secrets in it', async () => {
    const got = await inTerminal('confirm', { keys: [['y/N', 'n\r']] });
    expect(withoutDrawing(got)).not.toMatch(forbidden);
    expect(got).not.toContain('sekret-key');
    expect(withoutDrawing(got)).toContain('\\u001b]0;title\\u0007');
  });

  test('asks for a text until it is valid', async () => {
    const got = await inTerminal('text', {
      keys: [
        ['Name?', 'no\r'],
        ['not \\u001b[31mthat', '\u0015Ann\r'],
      ],
    });
    expect(got).toContain('ANSWER "Ann"');
  });

  test('masks a key', async () => {
    const got = await inTerminal('secret', { keys: [['Key?', 'abc123\r']] });
    expect(got.split('ANSWER')[0]).not.toContain('abc123');
    expect(got).toContain('ANSWER "abc123"');
  });

  test('offers choices with the arrow keys', async () => {
    const got = await inTerminal('select', { keys: [['second', '\u001b[B\r']] });
    expect(got).toContain('ANSWER "b"');
    expect(withoutDrawing(got)).not.toMatch(forbidden);
  });

  test('has no colour with NO_COLOR', async () => {
    const got = await inTerminal('confirm', { keys: [['y/N', 'n\r']], env: { NO_COLOR: '1' } });
    expect(got).toContain('ANSWER false');
    expect(withoutColor(got)).toBe(got);
  });
});

describe('the count below a list', () => {
  test('says how many there are, how many are not on the screen, and how many match', async () => {
    const got = await inTerminal('crowd', {
      keys: [
        ['64 in all, 59 more: type to search', 'person 63'],
        ['1 of 64 match: type to search', '\r'],
      ],
    });
    expect(got).toContain('ANSWER "p63"');
  });

  test('stands below a list to mark several, too, which ends at its ends', async () => {
    const got = await inTerminal('many', {
      keys: [['64 in all, 59 more: type to search', '\u001b[A \r']],
    });
    expect(got).toContain('ANSWER ["p0"]');
  });
});

test('a list erases what a narrower window left below it, at each key and at the end', async () => {
  const terminal = new xterm.Terminal({ cols: 40, rows: 24, allowProposedApi: true });
  const child = spawn(process.execPath, [join(folder, 'program.mjs'), 'search'], {
    cols: 40,
    rows: 24,
    env: { PATH: process.env['PATH'] ?? '', TERM: 'xterm-256color' },
  });
  child.onData((data) => terminal.write(data));
  const shown = () =>
    Array.from({ length: 24 }, (_, at) =>
      terminal.buffer.active.getLine(at)?.translateToString(true),
    ).join('\n');
  const leaveBelow = (text: string) =>
    new Promise<void>((resolve) => terminal.write(`\u001b7\u001b[20;1H${text}\u001b8`, resolve));
  const until = (text: string) => vi.waitFor(() => expect(shown()).toContain(text), 60_000);
  await until('2 in all');
  await leaveBelow('broken line');
  child.write('\u001b[B');
  await until('> Ben');
  expect(shown()).not.toContain('broken line');
  await leaveBelow('another line');
  child.write('\u001b');
  await until('FAILED');
  expect(shown()).toContain('> Ben');
  expect(shown()).not.toContain('another line');
  terminal.dispose();
});

describe('a list to mark several', () => {
  test('is narrowed down by typing, and a new search keeps the marks', async () => {
    const got = await inTerminal('many', {
      keys: [
        ['64 in all', 'p63'],
        ['1 of 64 match', ' \u007f'],
        ['(1 marked)', '\u007f7'],
        ['1 of 64 match', ' \r'],
      ],
    });
    expect(got).toContain('ANSWER ["p7","p63"]');
  });

  test('marks all that match with Ctrl-A, and takes the marks back with another', async () => {
    const got = await inTerminal('many', {
      keys: [
        ['64 in all', 'p61'],
        ['1 of 64 match', '\u0001\u0015p62'],
        ['1 of 64 match', '\u0001\u0015p63'],
        ['1 of 64 match', '\u0001\u0001\r'],
      ],
    });
    expect(got).toContain('ANSWER ["p61","p62"]');
    const all = await inTerminal('many', { keys: [['64 in all', '\u0001\r']] });
    expect(withoutColor(all)).toContain('64 marked');
  });

  test('asks for a mark before Enter, and says that nothing matches', async () => {
    const got = await inTerminal('mark', {
      keys: [
        ['3 in all', 'xyz'],
        ['Nothing matches.', '\u0001 \r'],
        ['Mark at least one', '\u0015be'],
        ['1 of 3 match', ' \r'],
      ],
    });
    expect(got).toContain('ANSWER ["b"]');
  });
});

test('the prompts say in the same words that nothing matches, and ask again for an answer', async () => {
  const searched = await inTerminal('search', {
    keys: [
      ['Ben', 'xyz'],
      ['Nothing matches.', '\u0015be'],
      ['1 of ', '\r'],
    ],
  });
  expect(searched).toContain('ANSWER "b"');
  const confirmed = await inTerminal('confirm', {
    keys: [
      ['y/N', 'perhaps\r'],
      ['Answer y or n.', '\u0015y\r'],
    ],
  });
  expect(confirmed).toContain('ANSWER true');
});

test('a question and a list are ASCII where the locale is not UTF-8', async () => {
  const env = { LC_ALL: 'C' };
  const asked = await inTerminal('confirm', { keys: [['y/N', 'y\r']], env });
  expect(withoutDrawing(asked)).toContain('ok Delete');
  const marked = await inTerminal('mark', { keys: [['Space marks', ' \r']], env });
  expect(withoutDrawing(marked)).toContain('>o Ann\n o Ben');
  expect(withoutDrawing(marked)).toContain('>* Ann');
  const selected = await inTerminal('select', { keys: [['second', '\r']], env });
  const searched = await inTerminal('search', { keys: [['Ben', '\r']], env });
  for (const got of [marked, selected, searched]) expect(got).toMatch(/^[\0-\u007f]*$/);
});

describe('plain prompts', () => {
  test('right-align the numbers of a long list', async () => {
    const got = await inTerminal('crowd', {
      keys: [['and 44 more', '20\r']],
      args: ['plain'],
    });
    expect(got.replaceAll('\r', '')).toContain('\n   9  Person 8\n  10  Person 9\n');
    expect(got).toContain('ANSWER "p19"');
  });

  test.each([
    ['confirm', [['(y/N)', 'y\r']], 'ANSWER true'],
    ['confirm', [['(y/N)', '\r']], 'ANSWER false'],
    ['confirm', [['(y/N)', '\u0004']], 'FAILED CancelledError'],
    ['confirm', [['(y/N)', '\u001b\r']], 'FAILED CancelledError'],
    [
      'text',
      [
        ['Name?', 'no\r'],
        ['not ', 'Ann\r'],
      ],
      'ANSWER "Ann"',
    ],
    ['select', [['2  second', '2\r']], 'ANSWER "b"'],
    [
      'search',
      [
        ['2  Ben', 'example.com\r'],
        ['1  Ann', '1\r'],
      ],
      'ANSWER "a"',
    ],
    [
      'search',
      [
        ['2  Ben', 'nobody\r'],
        ['Nothing matches', '2\r'],
      ],
      'ANSWER "b"',
    ],
    ['mark', [['3  Cy', '1, 3\r']], 'ANSWER ["a","c"]'],
  ] as const)('%s with %j: %s, and the cursor never moves', async (what, keys, outcome) => {
    const got = await inTerminal(what, { keys, args: ['plain'] });
    expect(got).toContain(outcome);
    expect(got).toContain('RAW false');
    expect(got).not.toContain('\u001b');
    expect(got.replaceAll('\r', '')).not.toMatch(forbidden);
  });

  test('a key is not shown, and can be corrected', async () => {
    const got = await inTerminal('secret', {
      keys: [['Key?', 'abx\u007fc123\r']],
      args: ['plain'],
    });
    expect(got.split('ANSWER')[0]).not.toMatch(/abx|c123/);
    // What Emacs looks for (comint-password-prompt-regexp) before it hides the answer in its shell.
    expect(got).toMatch(/^Enter .+ password: /);
    expect(got).toContain('ANSWER "abc123"');
    expect(got).toContain('RAW false');
    const cancelled = await inTerminal('secret', {
      keys: [['Key?', 'ab\u0003']],
      args: ['plain'],
    });
    expect(cancelled).toContain('FAILED CancelledError');
  });
});

describe('progress', () => {
  test('spins on a terminal, sanitized and on one line, and is erased at the end', async () => {
    const got = await inTerminal('progress');
    const plain = withoutDrawing(got);
    expect(plain).toContain('working \\u001b]0;x\\u0007 [redacted]');
    expect(plain).toContain('nearly long');
    expect(plain).not.toMatch(forbidden);
    expect(got).toContain('ANSWER "stopped"');
    expect(got.lastIndexOf('\u001b[?25h')).toBeGreaterThan(got.lastIndexOf('\u001b[?25l'));
    // oxlint-disable-next-line no-control-regex
    expect(got.slice(0, got.indexOf('ANSWER'))).toMatch(/\u001b\[0?K\u001b\[\?25h\s*$/);
  });

  test('leaves the counts their room on 40 columns', async () => {
    const got = await inTerminal('bar');
    expect(withoutColor(got)).toMatch(/█+░+ 123 of 400, 1\.5\/s, 3 min left/);
  });

  test('is cleared for a note and a row printed meanwhile', async () => {
    const got = await inTerminal('notes');
    // oxlint-disable-next-line no-control-regex
    for (const text of ['a note', 'a row'])
      expect(got).toMatch(new RegExp(`\u001b\\[0?[KG][^\\w]*${text}\r\n`));
    expect(got).not.toMatch(/working *a/);
  });

  test.each([{ CI: '1' }, { TERM: 'dumb' }])('does not move with %j', async (env) => {
    const got = await inTerminal('progress', { env });
    expect(got).not.toContain('\u001b');
    expect(got).toContain('ANSWER "stopped"');
  });
});

describe('the pager', () => {
  test('gets the text, without the key and in secure mode', async () => {
    const pager = join(folder, 'my pager');
    await writeFile(
      pager,
      '#!/bin/sh\necho "key=[$ROSTERCTL_API_KEY] secure=$LESSSECURE arg=$1"\ncat\n',
    );
    await chmod(pager, 0o755);
    const got = await inTerminal('pager', {
      args: [`'${pager}' '$(touch x)'`],
      env: { ROSTERCTL_API_KEY: 'sekret-key' },
    });
    expect(got).toContain('key=[] secure=1 arg=$(touch x)');
    expect(got).toContain('one\r\ntwo');
    expect(got).toContain('ANSWER true');
  });

  test.each(['/nowhere/pager', '/etc/passwd/pager', '', "'open", "sh -c 'exit 2'"])(
    'returns false if it cannot be started, or fails: %j',
    async (command) => {
      expect(await inTerminal('pager', { args: [command] })).toContain('ANSWER false');
    },
  );

  test('that quits early is no failure', async () => {
    expect(await inTerminal('pager', { args: ['true'] })).toContain('ANSWER true');
  });
});
