import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { describeCommands } from '../../src/cli/manifest.js';
import { commands } from '../../src/commands/index.js';
import { report } from '../bulk/user.js';
import { inProcess } from '../support/in-process.js';
import { errorOf, rosterctl, temporaryFolder } from '../support/run.js';
import { desk } from '../support/upload-desk.js';

// Every command that has --plan makes a plan that is applied, on the sandbox.

const samples = fileURLToPath(new URL('../support/files/', import.meta.url));

/** A person at the sandbox, in a folder of their own. */
function person(start: typeof rosterctl = inProcess) {
  const home = temporaryFolder();
  for (const name of ['roster.csv', 'teams.csv', 'contract.pdf', 'photo.png', 'papers.csv'])
    copyFileSync(join(samples, name), join(home, name));
  writeFileSync(join(home, 'names.csv'), 'path,name\nphoto.png,Team\nphoto.png,Cover\n');
  writeFileSync(
    join(home, 'decisions.csv'),
    'id,status,note\napp_0013,rejected,\napp_0020,,call back\n',
  );
  return { home, run: (line: string) => start(`-p sandbox ${line}`, { home, cwd: home }) };
}

/** Each command with a line, and how many rows it changes. */
const lines: readonly (readonly [line: string, rows: number])[] = [
  ["tryouts set-status app_0013 app_0018 --to rejected --append-note 'No place'", 2],
  ['tryouts set-status --csv decisions.csv', 2],
  ['tryouts update app_0013 --status accepted', 1],
  ['tryouts update --csv decisions.csv', 2],
  ['tryouts convert app_0016', 1],
  ['tryouts convert app_0031 app_0032 --accept -F role=sub', 2],
  ['teams update team_0001 -F region=EU', 1],
  ['teams import teams.csv --key name', 1],
  ['players update player_0001 player_0002 -F role=IGL -F stats.wins=3', 2],
  ["players update 'name:Nimbus Kite' -F role=IGL", 1],
  ['players import roster.csv --key email', 3],
  ['players delete player_0003 player_0004', 2],
  ['docs update doc_0001 doc_0002 --add-tag signed', 2],
  ['docs delete doc_0003 doc_0004', 2],
  ['docs upload contract.pdf photo.png --tag 2026', 2],
  ['docs upload --manifest papers.csv', 2],
  ['docs upload --manifest names.csv', 2],
];

test('every command with --plan is here, and every bulk write has it', async () => {
  const { commands: described } = await describeCommands(commands);
  const has = (name: string) =>
    described
      .filter(({ flags }) => flags.some((flag) => flag.name === name))
      .map(({ words }) => words.join(' '));
  const here = lines.map(([line]) =>
    line.split(' ').slice(0, 2).join(' ').replace('docs', 'documents'),
  );
  expect([...new Set(here), 'runs undo'].toSorted()).toEqual(has('plan').toSorted());
  expect(has('expires')).toEqual(has('plan'));
  const single = ['plan apply', 'runs resume', 'runs retry'];
  expect(
    has('maxChanges')
      .filter((name) => !single.includes(name))
      .toSorted(),
  ).toEqual(has('plan').toSorted());
});

describe('round trip', () => {
  test.each(lines)('%s', async (line, rows) => {
    const { run, home } = person();
    const made = await run(`${line} --plan p.json`);
    expect({ code: made.code, stderr: made.stderr }).toMatchObject({ code: 0 });
    const before = await run('runs list --all --json');
    expect(before.stdout.trim()).toBe('[]');

    const shown = await inProcess('plan show p.json --json', { home, cwd: home });
    expect(JSON.parse(shown.stdout)).toMatchObject({
      action: line.split(' ').slice(0, 2).join('.').replace('docs', 'documents'),
    });
    expect((JSON.parse(shown.stdout) as { rows: unknown[] }).rows).toHaveLength(rows);

    const expected = `plan apply p.json --yes --expect ${rows} --json`;
    const dry = await run(`${expected} -n`);
    expect({ code: dry.code, stderr: dry.stderr, summary: report(dry).summary }).toMatchObject({
      code: 0,
      summary: { wouldChange: rows },
    });
    const applied = await run(expected);
    expect({
      code: applied.code,
      stderr: applied.stderr,
      summary: report(applied).summary,
    }).toMatchObject({
      code: 0,
      summary: { total: rows, changed: rows },
    });
    const again = await run(expected);
    expect([again.code, errorOf(again)['code']]).toEqual([11, 'applied']);
    // The state is gone with the machine: what was applied is drift.
    rmSync(join(home, '.local/state/rosterctl/runs'), { recursive: true });
    const drifted = await run(expected);
    expect([drifted.code, errorOf(drifted)['code']]).toEqual([11, 'drift']);
  });

  test('runs undo', async () => {
    const { run } = person(rosterctl);
    await run('tryouts set-status app_0013 app_0018 --to rejected --yes');
    expect((await run('runs undo last --plan p.json')).code).toBe(0);
    const applied = await run('plan apply p.json --yes --json');
    expect([applied.code, report(applied).summary]).toMatchObject([0, { changed: 2 }]);
    expect((await run('plan apply p.json --yes')).code).toBe(11);
  });
});

describe('documents', () => {
  const upload = 'docs upload contract.pdf photo.png';

  test('a file with another content is drift, and with --allow-drift a conflict', async () => {
    const { run, home } = person();
    await run(`${upload} --plan p.json`);
    appendFileSync(join(home, 'photo.png'), 'more');
    const ran = await run('plan apply p.json --yes --json');
    expect([ran.code, errorOf(ran)['code']]).toEqual([11, 'drift']);
    expect(report(ran).results[1]).toMatchObject({
      result: 'conflict',
      error: { message: expect.stringContaining('has changed since it was planned') },
    });
    const rest = await run('plan apply p.json --yes --json --allow-drift');
    expect([rest.code, report(rest).summary]).toMatchObject([8, { changed: 1, conflict: 1 }]);
  });

  test('a file that is gone, or was uploaded meanwhile, is drift', async () => {
    const { run, home } = person();
    await run(`${upload} --plan p.json`);
    renameSync(join(home, 'photo.png'), join(home, 'other.png'));
    expect((await run('plan apply p.json --yes')).code).toBe(11);
    renameSync(join(home, 'other.png'), join(home, 'photo.png'));
    await run('docs upload contract.pdf');
    const ran = await run('plan apply p.json --yes --json');
    expect(ran.code).toBe(11);
    expect(report(ran).summary).toMatchObject({ conflict: 1, notAttempted: 1 });
  });

  test('a file that is gone when an interrupted apply continues fails alone, and can be retried', async () => {
    const here = await desk({ 'a.txt': 'one', 'b.txt': 'two', 'c.txt': 'three' });
    const plan = join(here.home, 'p.json');
    expect((await here.run(`docs upload a.txt b.txt c.txt --plan ${plan}`)).code).toBe(0);
    let puts = 0;
    here.view.put = () => ({ status: ++puts > 1 ? 503 : 200 });
    const apply = `plan apply ${plan} --yes --concurrency 1`;
    const stopped = await here.run(`${apply} --retries 0`);
    expect([stopped.code, here.documents.length]).toEqual([9, 1]);
    here.view.put = () => ({ status: 200 });
    rmSync(join(here.home, 'b.txt'));
    const ran = await here.run(apply);
    expect([ran.code, report(ran).summary]).toMatchObject([8, { changed: 2, failed: 1 }]);
    expect(report(ran).results[1]).toMatchObject({
      error: { message: `No such file: ${here.home}/b.txt.` },
    });
    here.write('b.txt', 'two');
    expect((await here.run('runs retry last --yes')).code).toBe(0);
    expect(here.documents.map(({ name }) => name)).toEqual(['a.txt', 'c.txt', 'b.txt']);
  });

  test('on another machine the files are found from the current folder', async () => {
    const { run, home } = person();
    await run(`${upload} --plan p.json`);
    const folder = join(home, 'elsewhere');
    mkdirSync(folder);
    for (const name of ['contract.pdf', 'photo.png', 'p.json'])
      renameSync(join(home, name), join(folder, name));
    const ran = await rosterctl('-p sandbox plan apply p.json --yes --json', { home, cwd: folder });
    expect([ran.code, report(ran).summary]).toMatchObject([0, { changed: 2 }]);
  });

  test('plan show says under which name, with which tags and with which hash', async () => {
    const { run } = person();
    await run("docs upload contract.pdf --name 'Vertrag' --tag 2026 --plan p.json");
    const shown = await run('plan show p.json --json');
    expect(JSON.parse(shown.stdout)).toMatchObject({
      rows: [
        {
          after: { name: 'Vertrag', tags: ['2026'] },
          file: { contentType: 'application/pdf', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
        },
      ],
    });
  });
});

test('a player that anybody changed since is not deleted', async () => {
  const { run } = person();
  await run('players delete player_0003 --plan p.json');
  await run('players update player_0003 -F role=coach');
  const ran = await run('plan apply p.json --yes --json');
  expect([ran.code, errorOf(ran)['code']]).toEqual([11, 'drift']);
});

test('a record that somebody created under the key of a planned row is drift', async () => {
  const { run, home } = person();
  await run('players import roster.csv --key email --plan p.json');
  const plan = JSON.parse(readFileSync(join(home, 'p.json'), 'utf8')) as {
    rows: { own: { body?: { email: string } } }[];
  };
  const email = plan.rows.find(({ own }) => own.body)?.own.body?.email ?? '';
  expect(email).not.toBe('');
  const shown = await run('plan show p.json --json');
  expect(JSON.parse(shown.stdout)).toMatchObject({
    rows: [{ before: {} }, { before: {} }, { before: {} }],
  });
  await run(`players create --name Somebody -F email=${email}`);
  const before = (await run('players list -o ids')).stdout;
  const ran = await run('plan apply p.json --yes --json');
  expect([ran.code, errorOf(ran)['code']]).toEqual([11, 'drift']);
  expect((await run('players list -o ids')).stdout).toBe(before);
});

test('a reference must still name the record of the plan', async () => {
  const { run } = person();
  await run("players update 'name:Nimbus Kite' -F role=IGL --plan p.json");
  const shown = await run('plan show p.json --json');
  const [row] = (JSON.parse(shown.stdout) as { rows: { id: string; ref: string }[] }).rows;
  expect(row?.ref).toBe('name:Nimbus Kite');
  await run(`players update ${row?.id} --name 'Nimbus Drake'`);
  await run("players create --name 'Nimbus Kite'");
  const ran = await run('plan apply p.json --yes --json');
  expect([ran.code, errorOf(ran)['code']]).toEqual([11, 'drift']);
});
