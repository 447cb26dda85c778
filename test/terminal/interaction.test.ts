import { describe, expect, test } from 'vitest';
import { CancelledError, UsageError } from '../../src/errors.js';
import { pagerEnvironment } from '../../src/terminal/other-programs.js';
import { createProgress } from '../../src/terminal/progress.js';
import { TerminalPrompts } from '../../src/terminal/prompt.js';
import { screen } from '../support/screen.js';

/** A process without events. */
const world = {
  signal: new AbortController().signal,
  onContinue: () => () => {},
  onSuspend: () => () => {},
  plain: false,
};

describe('without an interactive terminal', () => {
  test.each([
    ['stdin and stderr are no terminals', false, false, 'this is not a terminal'],
    [
      'prompting is forbidden',
      true,
      true,
      'prompts are off (--no-input, ROSTERCTL_NO_INPUT or CI)',
    ],
  ])('a prompt is a usage error with a hint: %s', async (_, interactive, noInput, why) => {
    const made = screen({ interactive });
    const prompts = new TerminalPrompts(made.streams, {
      noInput,
      ...world,
    });
    expect(prompts.unavailable).toBe(why);
    const failure = await prompts.confirm('Delete?').catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(UsageError);
    expect((failure as UsageError).hint).toBe('Give it as a flag; see --help.');
    expect(made.stdout() + made.stderr()).toBe('');
  });

  test('a terminal whose stdin is a pipe is not called none', () => {
    const { streams } = screen({ interactive: true });
    const piped = { ...streams, stdin: { ...streams.stdin, isTerminal: false } };
    const { unavailable } = new TerminalPrompts(piped, { noInput: false, ...world });
    expect(unavailable).toBe('stdin is not a terminal');
  });

  test('a prompt after Ctrl-C is cancelled', async () => {
    const made = screen({ interactive: true });
    const prompts = new TerminalPrompts(made.streams, {
      noInput: false,
      ...world,
      signal: AbortSignal.abort(),
    });
    await expect(prompts.confirm('Delete?')).rejects.toThrow(CancelledError);
    expect(made.stdout() + made.stderr()).toBe('');
  });

  test('prompting is possible in a terminal', () => {
    const { streams } = screen({ interactive: true });
    expect(
      new TerminalPrompts(streams, {
        noInput: false,
        ...world,
      }).unavailable,
    ).toBeUndefined();
  });
});

test('progress never touches stdout, and nothing is written with --quiet', () => {
  const made = screen({ interactive: true, columns: 80 });
  const line = createProgress(made.streams, { quiet: true, onSuspend: () => () => {} }).start(
    () => 'x',
  );
  line.stop();
  expect(made.stdout() + made.stderr()).toBe('');
});

test("the pager keeps the user's own LESS and drops the key", () => {
  expect(pagerEnvironment({ LESS: '-S', ROSTERCTL_API_KEY: 'k', PATH: '/bin' })).toEqual({
    LESS: '-S',
    PATH: '/bin',
    LESSSECURE: '1',
  });
});
