import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rememberRecords } from '../../src/config/completion-cache.js';
import { resolvePaths } from '../../src/config/paths.js';
import type { ResourceName } from '../../src/data/resources.js';
import { rosterctl, temporaryFolder } from '../support/run.js';
import { missingShell, openShell, type ShellAtTerminal, type ShellName } from '../support/tab.js';

// Presses TAB in real shells at a real terminal.

/** Ids with shell metacharacters; each must arrive as one word and do nothing else. */
const hostileIds = [
  'h1 $(touch canary)',
  'h2`touch canary`',
  `h3'"; touch canary; #`,
  'h4!!\\&|<>*?~',
];
const hostileQuestion = 'Why "you"? $(touch canary): `touch canary`';
/** Ids that no line can show as they are; they are not offered. */
const unseenIds = ['h5\u001b]0;title\u0007', 'h6\ntouch canary', 'h7\u202etxt', '-rf'];

/** Players whom a TAB finds by what people know of them. */
const people = [
  {
    id: 'player_1',
    name: 'Nimbus Kite',
    email: 'nimbus@example.org',
    discordUsername: 'nimbus_demo',
    gamerTags: [{ gamerTag: 'Kite #1' }],
  },
  { id: 'player_2', name: 'Nimue $(touch canary)', email: 'nimue@example.org' },
  { id: 'player_3', name: 'Ünal 李', email: 'uenal@example.org' },
];

async function prepare(): Promise<string> {
  const home = temporaryFolder();
  const paths = resolvePaths({
    env: { HOME: home },
    platform: process.platform,
    uid: process.getuid?.(),
  });
  mkdirSync(join(home, '.config', 'rosterctl'), { recursive: true, mode: 0o700 });
  const profiles = {
    work: { baseUrl: 'https://api.example.com/v1', organization: 'org_1' },
    club: { baseUrl: 'https://api.example.com/v1', organization: 'org_2' },
  };
  const config = JSON.stringify({ activeProfile: 'work', defaults: {}, profiles });
  writeFileSync(join(home, '.config', 'rosterctl', 'config.json'), config, { mode: 0o600 });
  const records: [profile: 'work' | 'club', resource: ResourceName, ids: readonly string[]][] = [
    ['work', 'tryouts', ['app_1', 'app_2', 'zone:7', ...hostileIds, ...unseenIds]],
    ['work', 'teams', ['team_1']],
    ['club', 'teams', ['club_1']],
  ];
  for (const [profile, resource, ids] of records) {
    const { baseUrl, organization } = profiles[profile];
    const place = { profile, baseUrl, organizationId: organization };
    const memory = rememberRecords(paths, place, resource);
    const more = {
      shirtSize: 'M',
      gamerTags: [{ game: 'Rocket League' }, { game: 'Valorant' }],
      formResponses: { [hostileQuestion]: 'Yes' },
    };
    for (const id of ids) memory.observe({ id, name: `\u001b[31mAda\u0007 of ${id}`, ...more });
    await memory.write({ whole: true });
  }
  const { baseUrl, organization } = profiles.work;
  const place = { profile: 'work', baseUrl, organizationId: organization };
  const memory = rememberRecords(paths, place, 'players');
  for (const record of people) memory.observe(record);
  await memory.write({ whole: true });
  mkdirSync(join(home, 'a folder'));
  writeFileSync(join(home, 'some file.pdf'), '');
  return home;
}

const packageScript = '/usr/share/bash-completion/bash_completion';

const shells: readonly {
  readonly title: string;
  readonly shell: ShellName;
  readonly needs?: string;
  readonly start: (home: string, script: string) => readonly string[];
}[] = [
  {
    title: 'bash without the bash-completion package',
    shell: 'bash',
    start: (_, script) => [`. '${script}'`],
  },
  {
    title: 'bash with the bash-completion package',
    shell: 'bash',
    needs: packageScript,
    start: (home, script) => {
      const folder = join(home, '.local', 'share', 'bash-completion', 'completions');
      return [`mkdir -p '${folder}' && cp '${script}' '${folder}/rosterctl'`, `. ${packageScript}`];
    },
  },
  {
    title: 'bash where = and : part no words, with strict settings',
    shell: 'bash',
    start: (_, script) => [
      'COMP_WORDBREAKS=${COMP_WORDBREAKS//[=:]/}',
      `. '${script}'`,
      'set -uf',
      'set -o posix',
      'IFS=,:',
    ],
  },
  {
    title: 'zsh',
    shell: 'zsh',
    start: (_, script) => ['autoload -Uz compinit', 'compinit -u', `. '${script}'`],
  },
  { title: 'fish', shell: 'fish', start: (_, script) => [`. '${script}'`] },
];

describe.each(shells)('$title', ({ shell, needs, start }) => {
  const missing =
    missingShell(shell) ?? (needs && !existsSync(needs) ? `${needs} is not there` : '');
  if (missing) {
    test('completes', ({ skip }) => skip(missing));
    return;
  }
  let home: string;
  let at: ShellAtTerminal;

  beforeAll(async () => {
    home = await prepare();
    const script = join(home, 'script');
    writeFileSync(script, (await rosterctl(`completion ${shell}`)).stdout);
    at = await openShell(shell, { home, start: start(home, script) });
  });
  afterAll(() => at.close());

  test.each([
    ['a noun', 'rosterctl tr', 'rosterctl tryouts '],
    ['a noun by its other name', 'rosterctl doc', /^rosterctl doc/],
    ['a verb', 'rosterctl tryouts set', 'rosterctl tryouts set-status '],
    ['a verb of a noun by its other name', 'rosterctl docs prev', 'rosterctl docs preview '],
    ['a verb from another tool', 'rosterctl tryouts edi', 'rosterctl tryouts edit '],
    ['a flag of the command', 'rosterctl tryouts list --searc', 'rosterctl tryouts list --search '],
    ['a flag of every command', 'rosterctl teams list --dry', 'rosterctl teams list --dry-run '],
    [
      'a flag after flags',
      'rosterctl -p work teams list -q --dry',
      'rosterctl -p work teams list -q --dry-run ',
    ],
    [
      'no flag twice',
      'rosterctl teams list --dry-run --dry',
      'rosterctl teams list --dry-run --dry',
    ],
    [
      'a repeatable flag twice',
      'rosterctl teams list --where a=b --wher',
      'rosterctl teams list --where a=b --where ',
    ],
    [
      'an enum value',
      'rosterctl tryouts list --status pen',
      'rosterctl tryouts list --status pending ',
    ],
    [
      'an enum value behind =',
      'rosterctl tryouts list --status=pen',
      'rosterctl tryouts list --status=pending ',
    ],
    [
      'the second of a comma list',
      'rosterctl tryouts list --status pending,rev',
      'rosterctl tryouts list --status pending,reviewing ',
    ],
    [
      'a comma list behind =',
      'rosterctl tryouts list --status=pending,rev',
      'rosterctl tryouts list --status=pending,reviewing ',
    ],
    ['an enum of every command', 'rosterctl teams list -o nd', 'rosterctl teams list -o ndjson '],
    ['a profile', 'rosterctl -p cl', 'rosterctl -p club '],
    ['a profile behind =', 'rosterctl --profile=cl', 'rosterctl --profile=club '],
    ['a config key', 'rosterctl config get completion.', 'rosterctl config get completion.cache '],
    [
      'a word of a setting',
      'rosterctl config set output nd',
      'rosterctl config set output ndjson ',
    ],
    ['a help topic', 'rosterctl help exit', 'rosterctl help exit-codes '],
    ['a command to explain', 'rosterctl help tryouts conv', 'rosterctl help tryouts convert '],
    [
      'a documented field',
      'rosterctl tryouts list --fields submi',
      'rosterctl tryouts list --fields submittedAt ',
    ],
    [
      'a field that the service sent',
      'rosterctl tryouts list --fields id,shirt',
      'rosterctl tryouts list --fields id,shirtSize ',
    ],
    [
      'a field to compare',
      'rosterctl tryouts list --where shirt',
      'rosterctl tryouts list --where shirtSize=',
    ],
    [
      'a field of --json=',
      'rosterctl tryouts list --json=shirt',
      'rosterctl tryouts list --json=shirtSize ',
    ],
    [
      'a game that the service sent',
      'rosterctl tryouts list --game Rock',
      'rosterctl tryouts list --game Rocket\\ League ',
    ],
    [
      'a game behind =',
      'rosterctl tryouts list --game=Rock',
      'rosterctl tryouts list --game=Rocket\\ League ',
    ],
    ['a flag behind a glued value', 'rosterctl -pclub teams lis', 'rosterctl -pclub teams list '],
    [
      'a flag behind a quoted word',
      'rosterctl teams list --search "a b" --dry',
      'rosterctl teams list --search "a b" --dry-run ',
    ],
    [
      'nothing where any text may stand',
      'rosterctl teams list --search te',
      'rosterctl teams list --search te',
    ],
    ['an id', 'rosterctl teams get team', 'rosterctl teams get team_1 '],
    ['an id with a colon', 'rosterctl tryouts get zone:', 'rosterctl tryouts get zone:7 '],
    [
      'an id of the named profile',
      'rosterctl -p club teams get cl',
      'rosterctl -p club teams get club_1 ',
    ],
    [
      'no id of another profile',
      'rosterctl -p work teams get cl',
      'rosterctl -p work teams get cl',
    ],
    ['a shell', 'rosterctl completion powe', 'rosterctl completion powershell '],
    ['a file', 'rosterctl docs upload some', 'rosterctl docs upload some\\ file.pdf '],
    [
      'a file behind =',
      'rosterctl teams list --out=some',
      'rosterctl teams list --out=some\\ file.pdf ',
    ],
    ['a file at home', 'rosterctl docs upload ~/some', 'rosterctl docs upload ~/some\\ file.pdf '],
    [
      'a file behind a quote',
      'rosterctl docs upload "some',
      'rosterctl docs upload "some file.pdf" ',
    ],
    [
      'a file to write to',
      'rosterctl teams list > some',
      'rosterctl teams list > some\\ file.pdf ',
    ],
    [
      'a file to write to, without a space',
      'rosterctl teams list 2>>some',
      'rosterctl teams list 2>>some\\ file.pdf ',
    ],
    [
      'an enum value behind = and a quote',
      'rosterctl tryouts list --status="pen',
      /^rosterctl tryouts list --status="?pending"? $/,
    ],
    [
      'a comma list behind = and a quote',
      'rosterctl tryouts list --status="pending,rev',
      /^rosterctl tryouts list --status="?pending,reviewing"? $/,
    ],
    ['the second command of a line', 'true; rosterctl tr', 'true; rosterctl tryouts '],
    ['behind a variable', 'X=1 rosterctl tr', 'X=1 rosterctl tryouts '],
    ['a program named by its path', 'bin/rosterctl tr', 'bin/rosterctl tryouts '],
    ['a program in the home folder', '~/bin/rosterctl tr', '~/bin/rosterctl tryouts '],
    ['a folder', 'rosterctl docs download -D a', /^rosterctl docs download -D a\\ folder\/? ?$/],
    ['nothing where nothing fits', 'rosterctl nonsense so', 'rosterctl nonsense so'],
  ])('completes %s', async (_, typed, line) => {
    const got = await at.inside.press(`${typed}\t`);
    if (typeof line === 'string') expect(got).toBe(line);
    else expect(got).toMatch(line);
  });

  test('starts the program once', async () => {
    const starts = join(home, 'starts');
    for (const typed of ['tryouts list --sta', 'tryouts get app_1', '-p cl', 'docs upload some']) {
      writeFileSync(starts, '');
      await at.press(`rosterctl ${typed}\t`);
      expect(readFileSync(starts, 'utf8')).toBe('\n');
    }
  });

  test('shows ids with their names, made safe', async () => {
    const before = at.screen().length;
    await at.inside.press('rosterctl tryouts get app_\t\t');
    const shown = () => at.screen().slice(before);
    // oxlint-disable-next-line no-control-regex
    const words = () => shown().replace(/\u001b(?:\[[\d;]*m|\(B)/g, '');
    await expect.poll(words).toMatch(/app_1 .*\\u001b\[31mAda\\u0007 of app_1/);
    expect(shown()).not.toContain('\u001b[31mAda');
  });

  test('a typed name becomes its id', async () => {
    const got = await at.inside.press('rosterctl players get Nimb\t');
    expect(got).toMatch(/^rosterctl players get player_1 ?$/);
    expect(await at.inside.press('rosterctl players get "Nimb\t')).toMatch(/get "?player_1"? ?$/);
  });

  test('a typed name of several stays, and shows their ids', async () => {
    const before = at.screen().length;
    await at.inside.press('rosterctl players get Nim\t\t');
    await expect
      .poll(() => at.screen().slice(before))
      .toMatch(/player_1[^]*player_2|player_2[^]*player_1/);
    if (shell === 'fish') return;
    expect(await at.inside.press('rosterctl players get Nim\t')).toBe('rosterctl players get Nim');
  });

  test.each([
    ['name:Nimb', 'name:Nimbus Kite'],
    ['name:nimue', 'name:Nimue $(touch canary)'],
    ['name:Ün', 'name:Ünal 李'],
    ['email:nimb', 'email:nimbus@example.org'],
    ['email:nimbus@ex', 'email:nimbus@example.org'],
    ['discord:nim', 'discord:nimbus_demo'],
    ['tag:Ki', 'tag:Kite #1'],
    ['id:player_1', 'id:player_1'],
  ])('behind its prefix, %s completes to %s in one word', async (typed, word) => {
    expect(await at.inside.run(`rosterctl players get ${typed}\t`)).toEqual([
      'players',
      'get',
      word,
    ]);
    expect(existsSync(join(home, 'canary'))).toBe(false);
  });

  test.each(hostileIds.map((id, index) => [id.slice(0, 2), id, index]))(
    'the hostile id %s arrives as one word and does nothing',
    async (start_, id, index) => {
      const { run } = index === 0 ? at : at.inside;
      expect(await run(`rosterctl tryouts get ${start_}\t`)).toEqual(['tryouts', 'get', id]);
      expect(existsSync(join(home, 'canary'))).toBe(false);
    },
  );

  test('a hostile question of the form arrives as one word and does nothing', async () => {
    expect(await at.inside.run('rosterctl tryouts list --form Why\t')).toEqual([
      'tryouts',
      'list',
      '--form',
      `${hostileQuestion}=`,
    ]);
    expect(existsSync(join(home, 'canary'))).toBe(false);
  });

  test.each([
    ['a single quote that is open, $(…)', "'h1", 0],
    ['a double quote that is open, $(…)', '"h1', 0],
    ['a single quote that is open, backticks', "'h2", 1],
    ['a double quote that is open, backticks', '"h2', 1],
    ['a single quote that is open, quotes', "'h3", 2],
    ['a double quote that is open, quotes', '"h3', 2],
    ['a single quote that is open, history', "'h4", 3],
  ])('an id behind %s arrives as one word', async (_, typed, index) => {
    expect(await at.inside.run(`rosterctl tryouts get ${typed}\t`)).toEqual([
      'tryouts',
      'get',
      hostileIds[index],
    ]);
    expect(existsSync(join(home, 'canary'))).toBe(false);
  });

  test('completes in the middle of a line', async () => {
    const back = '\u0002'.repeat(' --json'.length);
    expect(await at.inside.press(`rosterctl teams lis --json${back}\t`)).toMatch(
      /^rosterctl teams list {1,2}--json$/,
    );
    const further = '\u0002'.repeat(' --json "lis"'.length);
    const line = `echo Ünal 李; rosterctl teams lis --json "lis"${further}\t`;
    expect(await at.inside.press(line)).toMatch(
      /^echo Ünal 李; rosterctl teams list {1,2}--json "lis"$/,
    );
  });

  test.each(['h5', 'h6', 'h7', '-- -r'])(
    'an id that a command line cannot show is not offered: %s',
    async (typed) => {
      expect(await at.inside.press(`rosterctl tryouts get ${typed}\t`)).toBe(
        `rosterctl tryouts get ${typed}`,
      );
    },
  );
});

describe('zsh that matches in other ways', () => {
  const missing = missingShell('zsh');
  if (missing) {
    test('completes', ({ skip }) => skip(missing));
    return;
  }
  let at: ShellAtTerminal;

  beforeAll(async () => {
    const home = await prepare();
    const script = join(home, 'script');
    writeFileSync(script, (await rosterctl('completion zsh')).stdout);
    const start = [
      'autoload -Uz compinit',
      'compinit -u',
      "zstyle ':completion:*' matcher-list 'm:{a-z}={A-Z}' 'm:{a-zA-Z}={A-Za-z} l:|=* r:|=*'",
      "zstyle ':completion:*' completer _complete _approximate",
      `. '${script}'`,
    ];
    at = await openShell('zsh', { home, start });
  });
  afterAll(() => at.close());

  test.each([
    ['another case', 'rosterctl TEA', 'rosterctl teams '],
    ['a flag in another case', 'rosterctl teams list --DRY', 'rosterctl teams list --dry-run '],
    ['the middle of an id', 'rosterctl tryouts get one:', 'rosterctl tryouts get zone:7 '],
    ['a word with a mistake', 'rosterctl tryouts cnvert', 'rosterctl tryouts convert '],
  ])('completes %s', async (_, typed, line) => {
    const { press } = typed.endsWith('TEA') ? at : at.inside;
    expect(await press(`${typed}\t`)).toBe(line);
  });
});

describe.each(['bash', 'zsh', 'fish'] as const)('%s after completion --install', (shell) => {
  const missing = missingShell(shell);
  if (missing) {
    test('completes', ({ skip }) => skip(missing));
    return;
  }
  test.for([
    ['a fresh start file', []],
    ...(shell === 'bash' ? [['the bash-completion package', [`. ${packageScript}`]] as const] : []),
    ...(shell === 'zsh'
      ? [['compinit before', ['autoload -Uz compinit', 'compinit']] as const]
      : []),
  ] as const)('a new shell completes: %s', async ([what, before], { skip }) => {
    skip(what.includes('package') && !existsSync(packageScript), `${packageScript} is not there`);
    const home = await prepare();
    if (shell === 'zsh') writeFileSync(join(home, '.zshrc'), [...before, ''].join('\n'));
    const installed = await rosterctl(`completion ${shell} --install`, { home });
    expect(installed).toMatchObject({ code: 0, stderr: '' });
    const start = shell === 'bash' ? [...before, '. "$HOME/.bashrc"'] : [];
    const at = await openShell(shell, { home, start });
    try {
      expect(await at.press('rosterctl teams get te\t')).toBe('rosterctl teams get team_1 ');
    } finally {
      at.close();
    }
  });
});
