import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { spawn } from '@lydell/node-pty';
import { completeInProcess } from './in-process.js';
import { launcher } from './run.js';

/** A shell at a terminal of its own, in which keys are pressed. */
export interface ShellAtTerminal {
  /** Types the keys after an empty line; the line as it stands then. */
  press(keys: string): Promise<string>;
  /** Types the keys and Enter; the words that `rosterctl` was called with. */
  run(keys: string): Promise<readonly string[]>;
  /** Does the same while the program answers in the test's own process: for tables of lines. */
  readonly inside: Pick<ShellAtTerminal, 'press' | 'run'>;
  /** Everything that the terminal was sent so far. */
  screen(): string;
  close(): void;
}

export type ShellName = 'bash' | 'zsh' | 'fish';

/** Whether the shell can be started here; tests of absent ones are skipped with this sentence. */
export function missingShell(shell: ShellName): string | undefined {
  const ran = spawnSync(shell, ['-c', 'exit 0']);
  return ran.error ? `${shell} is not installed (apt-get install ${shell})` : undefined;
}

/** PowerShell has no `-n`, and no test presses its keys: where it is installed, that says so. */
export function missingPowershell(): string {
  return spawnSync('pwsh', ['-Version']).error
    ? 'PowerShell is not installed'
    : 'PowerShell has no way to read a script without running it';
}

interface ShellOptions {
  readonly home: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Lines for the shell's start file, before ours. */
  readonly start?: readonly string[];
  /** Lines after ours. */
  readonly end?: readonly string[];
}

const hangMs = 100_000;
/** To the end of the line, then everything before it goes. */
const emptyLine = '\u0005\u0015';

/**
 * Starts a shell whose `rosterctl` answers completion for real and else only notes its words. The
 * key Ctrl-X Ctrl-D writes the line that is being typed to a file, so that no screen is read.
 */
export async function openShell(
  shell: ShellName,
  { home, env = {}, start = [], end = [] }: ShellOptions,
): Promise<ShellAtTerminal> {
  const bin = join(home, 'bin');
  const lineFile = join(home, 'line');
  const wordsFile = join(home, 'words');
  mkdirSync(bin, { recursive: true });
  const inside = answersInside(home, bin);
  writeFileSync(
    join(bin, 'rosterctl'),
    `#!/bin/sh
${inside.lines}
if [ "$1" = __complete ]; then echo >>'${home}/starts'; exec '${process.execPath}' '${launcher}' "$@"; fi
for word in "$@"; do printf '%s\\0' "$word"; done >'${wordsFile}.part'
mv '${wordsFile}.part' '${wordsFile}'
`,
  );
  chmodSync(join(bin, 'rosterctl'), 0o755);
  const lines = [...start, ...dumpLines(shell, lineFile), ...end, `touch '${home}/ready'`, ''];
  const args = startFile(shell, home, lines.join('\n'));
  const terminal = spawn(shell, args, {
    cols: 100,
    rows: 40,
    cwd: home,
    env: {
      HOME: home,
      PATH: `${bin}:${process.env['PATH'] ?? ''}`,
      TERM: 'xterm',
      LANG: 'C.UTF-8',
      ...env,
    },
  });
  let sent = '';
  terminal.onData((data) => {
    sent += data;
    // fish asks what the terminal can do and waits for an answer.
    if (data.includes('\u001b[c') || data.includes('\u001b[0c')) terminal.write('\u001b[?62c');
  });
  const screen = () => sent;
  await appears(join(home, 'ready'), screen);
  // Keys that come before the prompt would be read by the terminal itself.
  await until(() => screen().includes('> '), 'the prompt', screen);
  const press = async (keys: string) => {
    rmSync(lineFile, { force: true });
    terminal.write(`${emptyLine}${keys}\u0018\u0004`);
    await appears(lineFile, screen);
    return readFileSync(lineFile, 'utf8').replace(/\n$/, '');
  };
  const run = async (keys: string) => {
    await press(keys);
    rmSync(wordsFile, { force: true });
    const before = sent.length;
    terminal.write('\r');
    await appears(wordsFile, screen);
    await until(() => /\n[^]*> /.test(sent.slice(before)), 'the next prompt', screen);
    return readFileSync(wordsFile, 'utf8').split('\0').slice(0, -1);
  };
  return {
    press,
    run,
    inside: {
      press: (keys) => inside.during(() => press(keys)),
      run: (keys) => inside.during(() => run(keys)),
    },
    screen,
    close: () => terminal.kill('SIGKILL'),
  };
}

/** What the completion script of bash passes in the environment. */
const ofBash = ['COMP_LINE', 'COMP_TYPE', 'COLUMNS'];

/** Lets the `rosterctl` of a shell ask the test's own process, which is quicker than starting the program. */
function answersInside(home: string, folder: string) {
  const inside = join(folder, '.inside');
  const asked = join(folder, '.asked');
  const answer = join(folder, '.answer');
  execFileSync('mkfifo', [answer]);
  const reply = async () => {
    const words = existsSync(asked) ? readFileSync(asked, 'utf8').split('\0') : [];
    if (words.pop() !== 'all') return;
    rmSync(asked);
    const env = Object.fromEntries(
      words.splice(0, ofBash.length).flatMap((each) => {
        const at = each.indexOf('=');
        return at < 0 ? [] : [[each.slice(0, at), each.slice(at + 1)]];
      }),
    );
    await writeFile(answer, completeInProcess(words, { env, home }));
  };
  return {
    lines: `if [ "$1" = __complete ] && [ -e '${inside}' ]; then
shift
printf '%s\\0' ${ofBash.map((name) => `"\${${name}+${name}=$${name}}"`).join(' ')} "$@" >'${asked}'
printf all >>'${asked}'
exec cat '${answer}'
fi`,
    async during<T>(pressing: () => Promise<T>): Promise<T> {
      writeFileSync(inside, '');
      let answering = reply();
      const looking = setInterval(() => {
        answering = answering.then(reply);
      }, 5);
      try {
        return await pressing();
      } finally {
        clearInterval(looking);
        rmSync(inside);
        await answering;
      }
    },
  };
}

function dumpLines(shell: ShellName, file: string): string[] {
  const put = (line: string) =>
    `printf '%s\\n' ${line} >'${file}.part' && mv '${file}.part' '${file}'`;
  switch (shell) {
    case 'bash':
      return [
        `__dump() { ${put('"$READLINE_LINE"')}; }`,
        `bind -x '"\\C-x\\C-d": __dump'`,
        "PS1='> '",
      ];
    case 'zsh':
      return [
        `__dump() { ${put('"$BUFFER"')}; }`,
        'zle -N __dump',
        "bindkey '^X^D' __dump",
        "PS1='> '",
      ];
    default:
      return [
        `function __dump; ${put('(commandline | string collect)').replace('&&', '; and')}; end`,
        'bind \\cx\\cd __dump',
        'bind \\cu kill-whole-line',
        'function fish_greeting; end',
        "function fish_prompt; echo '> '; end",
      ];
  }
}

function startFile(shell: ShellName, home: string, text: string): string[] {
  switch (shell) {
    case 'bash':
      writeFileSync(join(home, 'start.bash'), text);
      return ['--noprofile', '--rcfile', join(home, 'start.bash'), '-i'];
    case 'zsh':
      // Behind what an installation may have put there.
      appendFileSync(join(home, '.zshrc'), text);
      return ['-d', '-i'];
    default:
      mkdirSync(join(home, '.config', 'fish'), { recursive: true });
      // Without this folder a first start reads all man pages of the machine in the background.
      mkdirSync(join(home, '.local/share/fish/generated_completions'), { recursive: true });
      writeFileSync(join(home, '.config', 'fish', 'config.fish'), text);
      return ['-i'];
  }
}

function appears(file: string, screen: () => string): Promise<void> {
  return until(() => existsSync(file), file, screen);
}

async function until(met: () => boolean, what: string, screen: () => string): Promise<void> {
  const end = Date.now() + hangMs;
  while (!met()) {
    if (Date.now() > end)
      throw new Error(
        `${what} does not appear; the terminal: ${JSON.stringify(screen().slice(-400))}`,
      );
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
