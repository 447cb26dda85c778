import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ids, several } from './bulk/user.js';
import { keep } from './commands/tryouts/service.js';
import { readBack } from './screens/emulator.js';
import { inShell } from './support/converse.js';
import { temporaryFolder } from './support/run.js';

// Ctrl-Z and fg, typed into a shell with job control.

/** A pager that leaves its process id beside itself and reads lines from the keyboard until one is `q`. */
function pagerIn(home: string, first: string): string {
  const pager = join(home, 'pager');
  writeFileSync(
    pager,
    `#!/bin/sh
echo $$ > "$0.pid"
${first}
cat
echo READY
while read line < /dev/tty; do echo "HEARD $line"; [ "$line" = q ] && exit; done
`,
  );
  chmodSync(pager, 0o755);
  return pager;
}

/** Resolves once that pager has stopped. */
async function pagerStopped(home: string): Promise<void> {
  const pid = readFileSync(join(home, 'pager.pid'), 'utf8').trim();
  while (!/^State:\tT/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))) await sleep(20);
}

/** Pages for a pager: a list, and a page of help, which needs no context. */
const pages = ['rosterctl -p sandbox tryouts list', 'rosterctl tryouts list --help'];

/** Types Ctrl-Z while such a pager shows a page, then the keys; returns everything the terminal showed. */
async function stopInPager(
  page: string,
  first: string,
  keys: Parameters<typeof inShell>[1],
  home = temporaryFolder(),
) {
  const { shown } = await inShell(
    home,
    [[/shell> /, `${page}\r`], [/READY/, '\u001a'], ...keys, [/HEARD q[^]*shell> /, 'exit\r']],
    { ROSTERCTL_PAGER: pagerIn(home, first) },
  );
  return shown;
}

test.each(pages)(
  'Ctrl-Z in a pager that does not stop leaves the keyboard to it: %s',
  async (page) => {
    // As less in its secure mode.
    const shown = await stopInPager(page, "trap '' TSTP", [
      [/\^Z/, 'again\r'],
      [/HEARD again/, 'q\r'],
    ]);
    expect(shown).not.toContain('Stopped');
    expect(shown).not.toContain('not found');
  },
);

test.each(pages)(
  'Ctrl-Z in a pager that stops returns to the shell, and fg resumes both: %s',
  async (page) => {
    const home = temporaryFolder();
    // A pager that a busy machine lets run only now still reads what is typed for the shell.
    const fg = () => pagerStopped(home).then(() => 'fg\r');
    const keys: Parameters<typeof inShell>[1] = [
      [/Stopped[^]*shell> /, 'echo in the $((1+1))nd shell\r'],
      [/in the 2nd shell[^]*shell> /, 'fg\r'],
      [/rosterctl/, 'again\r'],
      [/HEARD again/, '\u001a'],
      [/Stopped[^]*shell> /, fg],
      [/rosterctl/, 'q\r'],
    ];
    const shown = await stopInPager(page, '', keys, home);
    expect(shown.match(/Stopped/g)).toHaveLength(2);
  },
);

test('a command that ends in the background leaves the terminal as the program in front has set it', async () => {
  const home = temporaryFolder();
  const line = [
    'rosterctl sandbox start > ready &',
    'until [ -s ready ]; do sleep 0.1; done; stty -echo; kill $!; wait $!; stty -a; exit',
  ];
  const { shown } = await inShell(home, [[/shell> /, `${line.join(' ')}\r`]]);
  expect(shown).toMatch(/ icanon iexten -echo /);
});

test('a pager that stops long before its Ctrl-Z reaches rosterctl does not leave rosterctl behind', async () => {
  // The order of the two signals is the kernel's choice, and a busy machine sets them far apart.
  const isStopped = "grep -q 'State:.T' /proc/$$/status";
  const first = `(until ${isStopped}; do sleep 0.1; done; sleep 0.2; echo ASLEEP) & kill -STOP $$`;
  const home = temporaryFolder();
  const { shown } = await inShell(
    home,
    [
      [/shell> /, 'rosterctl tryouts list --help\r'],
      [/ASLEEP/, '\u001a'],
      [/Stopped[^]*shell> /, 'fg\r'],
      [/READY/, 'q\r'],
      [/HEARD q[^]*shell> /, 'exit\r'],
    ],
    { ROSTERCTL_PAGER: pagerIn(home, first) },
  );
  expect(shown.match(/Stopped/g)).toHaveLength(1);
});

test('Ctrl-Z next to a progress line leaves the shell an empty line and a cursor; fg continues counting', async () => {
  const service = await keep(several(400));
  const line = ['tryouts', 'set-status', ...ids(400), '--to', 'rejected', '--max-changes', '400'];
  const { shown } = await inShell(
    temporaryFolder(),
    [
      // Slow enough for typing.
      [/shell> /, `rosterctl ${line.join(' ')} --yes --rate 50/s\r`],
      [/\d+ of 400, /, '\u001a'],
      [/Stopped[^]*shell> /, 'fg\r'],
      [/\d+ of 400, /, '\u001a'],
      [/Stopped[^]*shell> /, 'fg\r'],
      [/\d+ of 400, /, '\u0003'],
      [/Stopped after[^]*shell> /, 'exit\r'],
    ],
    service.env,
  );
  const stops = [...shown.matchAll(/\[1\]\+ +Stopped/g)].map(({ index }) => shown.slice(0, index));
  expect(stops).toHaveLength(2);
  for (const before of stops) {
    // oxlint-disable-next-line no-control-regex
    const [drawn = ''] =
      /\d+ of 400, [^]*$/.exec(before.slice(before.lastIndexOf('\u001b[?25l'))) ?? [];
    // oxlint-disable-next-line no-control-regex
    expect(drawn).toMatch(/\u001b\[[0-2]?K[^]*\u001b\[\?25h\s*$/);
  }
});

test('fg redraws a prompt stopped by Ctrl-Z, with its choice and the typed text', async () => {
  const { shown } = await inShell(temporaryFolder(), [
    [/shell> /, 'rosterctl -p sandbox players delete player_0001\r'],
    [/\(y\/N\)/, 'ye'],
    [/ye/, '\u001a'],
    [/Stopped[^]*shell> /, 'fg\r'],
    [/\(y\/N\)[^]* ye/, 's\r'],
    [/shell> /, 'echo "code $?"\r'],
    [/code \d+/, 'exit\r'],
  ]);
  expect(shown).toContain('code 0');
});

test('fg asks a plain question again, and Ctrl-C leaves no empty line below it', async () => {
  const { shown } = await inShell(
    temporaryFolder(),
    [
      [/shell> /, 'rosterctl -p sandbox players delete player_0001\r'],
      [/\(y\/N\)/, '\u001a'],
      [/Stopped[^]*shell> /, 'fg\r'],
      [/\(y\/N\)/, '\u0003'],
      [/Nothing was done[^]*shell> /, 'exit\r'],
    ],
    { ROSTERCTL_PROMPTS: 'plain' },
  );
  expect(shown).toMatch(/\(y\/N\) \^C\r\nNothing was done\./);
});

test('Ctrl-Z in a list to search leaves none of it below the shell, and fg draws it again', async () => {
  const { shown } = await inShell(temporaryFolder(), [
    [/shell> /, 'rosterctl -p sandbox teams get\r'],
    [/Which team\?[^]*Esc/, '\u001a'],
    [/Stopped[^]*shell> /, 'fg\r'],
    [/Which team\?[^]*Esc/, '\u0003'],
    [/Nothing was done[^]*shell> /, 'exit\r'],
  ]);
  const stopped = await readBack(shown.slice(0, shown.lastIndexOf('fg\r')), 100);
  expect(stopped.lines.slice(1).map((line) => line.trimEnd())).toEqual([
    '? Which team?',
    expect.stringMatching(/^\[1\]\+ {2}Stopped +rosterctl -p sandbox teams get$/),
    'shell>',
  ]);
  expect(stopped.cursor.isVisible).toBe(true);
});
