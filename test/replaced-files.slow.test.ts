import { rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  allChunks,
  cutInBlock,
  gone,
  type Installed,
  install,
  replaced,
  sentence,
  start,
} from './support/installed.js';
import { temporaryFolder } from './support/run.js';

// An update of rosterctl replaces its files while a command starts or runs, or leaves them incomplete.

describe('a command that starts on incomplete files says so', () => {
  test.each<[string, (installed: Installed) => void]>([
    ['chunks that were cut', allChunks((path) => truncateSync(path, 900))],
    ['a main file that is gone', ({ dist }) => rmSync(join(dist, 'main.cjs'))],
    ['a main file that was cut', ({ dist }) => cutInBlock(join(dist, 'main.cjs'))],
    ['a table that is gone', ({ dist }) => rmSync(join(dist, 'table.json'))],
    ['a table that was cut', ({ dist }) => truncateSync(join(dist, 'table.json'), 900)],
  ])('%s', (_, damage) => {
    const installed = install();
    damage(installed);
    expect(start(installed, '-p sandbox teams list')).toEqual([1, '', sentence]);
  });

  test.each<[string, (path: string) => void]>([
    ['is gone', (path) => rmSync(path)],
    ['was cut', (path) => truncateSync(path, 20)],
  ])('%s: package.json, for --version', (_, damage) => {
    const installed = install();
    damage(join(installed.folder, 'package.json'));
    for (const flag of ['--version', '-V']) {
      expect(start(installed, flag)).toEqual([1, '', sentence]);
    }
  });

  test('to a script as JSON', () => {
    const installed = install();
    for (const path of installed.chunks) rmSync(path);
    const [code, , stderr] = start(installed, '-p sandbox teams list --json');
    expect([code, JSON.parse(String(stderr))]).toEqual([
      1,
      { error: expect.objectContaining({ code: 'installation', exitCode: 1, retryable: false }) },
    ]);
  });
});

describe('a change during which the files are replaced', () => {
  const many = 'players update player_1 player_2 --name Bea --yes';

  test.each([
    [`${many} --json`, '"changed":2'],
    [`${many} -o csv`, '2,player_2,changed,Ann,Bea'],
    [`${many} -o ids`, 'player_1\nplayer_2\n'],
    [`${many} --fields id,result`, 'player_2\tchanged\n'],
    ['players update player_1 --name Bea', '1\tplayer_1\tchanged'],
    ['players create --name Bea --json', '"id":"player_3"'],
    ['players create --name Bea -o csv', 'player_3'],
  ])('prints its report: %s', async (line, printed) => {
    const { run } = await replaced(gone);
    const ran = await run(line);
    expect([ran.code, ran.stdout]).toEqual([0, expect.stringContaining(printed)]);
  });

  test.each([
    [many, '2 changed.'],
    ['players update player_1 --name Bea', 'Name Ann → Bea'],
    ['players create --name Bea', 'created'],
  ])('shows its report at a terminal: %s', async (line, shown) => {
    const { atTerminal } = await replaced(gone);
    const { code, screen } = await atTerminal(line);
    expect([code, screen]).toEqual([0, expect.stringContaining(shown)]);
  });

  test('prints its report of a plan', async () => {
    const plan = join(temporaryFolder(), 'plan.json');
    const { run } = await replaced(gone);
    await run(`players update player_1 player_2 --name Bea --plan ${plan}`);
    const ran = await run(`plan apply ${plan} --yes -o csv`);
    expect([ran.code, ran.stdout]).toEqual([
      0,
      expect.stringContaining('2,player_2,changed,Ann,Bea'),
    ]);
  });

  test('says why the service refused it', async () => {
    const { run } = await replaced(gone, { status: 400, json: { error: 'invalidRequest' } });
    const ran = await run('players create --name Bea');
    expect([ran.code, ran.stderr]).toEqual([3, expect.stringContaining('answered 400')]);
    expect(ran.stderr).not.toContain('bug');
  });
});
