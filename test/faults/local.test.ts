import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { temporaryFolder } from '../support/run.js';
import { key, organization } from '../support/service.js';
import { expectFailure, fault, unlessPossible } from './support/case.js';
import { missing, otherUser } from './support/machine.js';
import { silence } from './support/wire.js';
import { file, hostileWorld, team } from './support/world.js';

const read = 'teams get team_1';
const many = Array.from({ length: 20_000 }, (_, at) => ({ ...team, id: `team_${at}` }));
const manyTeams = () => hostileWorld({ api: () => ({ json: { teams: many } }) });

describe('output', () => {
  for (const format of ['', ' -o ids', ' -o ndjson', ' --json', ' -o csv'])
    fault('F117', `the reader goes away: teams list${format} | head -1`, async (attack) => {
      const world = await manyTeams();
      const ran = await attack(`teams list${format}`, {
        env: world.env,
        shell: '{ "$@"; echo "code $?" >&2; } | head -c 100',
      });
      expect(ran.stderr).toBe('code 0\n');
    });

  fault('F117', 'nobody reads stderr', async (attack) => {
    const world = await hostileWorld();
    for (const shell of ['"$@" 2>&-', '"$@" 2>/dev/full', '"$@" 2> /dev/null']) {
      const ran = await attack(`${read} --debug`, { env: world.env, shell });
      expect(ran.code).toBe(0);
    }
  });

  fault('F118', 'stdout is full', async (attack, context) => {
    unlessPossible(context, existsSync('/dev/full') ? undefined : 'there is no /dev/full here');
    const world = await manyTeams();
    for (const format of ['', ' --json', ' -o ids', ' -o csv', ' -o ndjson']) {
      const ran = await attack(`teams list${format}`, {
        env: world.env,
        shell: '"$@" > /dev/full',
      });
      expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/cannot be written.*ENOSPC/),
      });
    }
    const short = await attack('--version', { shell: '"$@" > /dev/full' });
    expect(short.code).not.toBe(0);
  });

  fault('F118', 'the file of --out is full', async (attack, context) => {
    unlessPossible(context, existsSync('/dev/full') ? undefined : 'there is no /dev/full here');
    const world = await manyTeams();
    const ran = await attack('teams list --json --out /dev/full', { env: world.env });
    expect([0, 1, 2]).toContain(ran.code);
    expect(ran.code).not.toBe(0);
  });

  const tmpfs = 'd=$(mktemp -d) && mount -t tmpfs -o size=64k none "$d" && cd "$d"';
  const noTmpfs = () => missing('unshare', '-m', 'sh', '-c', tmpfs);

  for (const line of ['docs download doc_1', 'docs download doc_1 -O new.txt'])
    fault('F119', `${line}: the disk is full`, async (attack, context) => {
      unlessPossible(context, noTmpfs());
      const size = 1024 * 1024;
      const world = await hostileWorld({
        api: ({ url }) =>
          url.startsWith(`/v1/documents/${organization}`)
            ? { json: { documents: [{ ...file, sizeBytes: size }] } }
            : undefined,
        store: () => ({ text: 'x'.repeat(size) }),
      });
      const ran = await attack(line, {
        env: world.env,
        under: ['unshare', '-m'],
        shell: `${tmpfs} && "$@"; code=$?; echo "left: $(ls -A)" >&2; exit $code`,
      });
      expect(ran.code).toBe(1);
      expect(ran.stderr).toMatch(/the disk is full/);
      expect(ran.stderr).toMatch(/left: $/m);
    });

  fault('F119', 'backup create: the disk is full', async (attack, context) => {
    const disk = 'd=$(mktemp -d) && mount -t tmpfs -o size=512k none "$d" && cd "$d"';
    unlessPossible(context, missing('unshare', '-m', 'sh', '-c', disk));
    let size = 10;
    const world = await hostileWorld({
      api: ({ url }) =>
        url.startsWith(`/v1/documents/${organization}`)
          ? { json: { documents: [{ ...file, sizeBytes: size, updatedAt: String(size) }] } }
          : undefined,
      store: () => {
        const text = 'x'.repeat(size);
        size = 1024 * 1024;
        return { text };
      },
    });
    const ran = await attack('backup create b', {
      env: world.env,
      under: ['unshare', '-m'],
      shell: `${disk} && "$@" && "$@"; code=$?; ls b | grep -c 'Z$'; "$1" "$2" backup verify b >/dev/null; echo "verify $?"; exit $code`,
    });
    expect(ran.code).toBe(1);
    expect(ran.stderr).toMatch(/the disk is full/);
    expect(ran.stderr).toContain('Earlier snapshots are unchanged.');
    expect(ran.stdout.trim().split('\n').slice(-2)).toEqual(['1', 'verify 0']);
  });

  fault('F120', 'a limit on the size of files', async (attack, context) => {
    unlessPossible(context, missing('prlimit', '--fsize=65536', 'true'));
    const world = await hostileWorld({
      api: ({ url }) =>
        url.startsWith(`/v1/documents/${organization}`)
          ? { json: { documents: [{ ...file, sizeBytes: 1 << 20 }] } }
          : undefined,
      store: () => ({ text: 'x'.repeat(1 << 20) }),
    });
    const cwd = temporaryFolder('limited');
    const ran = await attack('docs download doc_1', {
      env: world.env,
      cwd,
      under: ['prlimit', '--fsize=65536'],
    });
    expectFailure(ran, 1, /EFBIG|larger/);
    expect(ran.stderr).toContain('rules.txt');
    expect(readdirSync(cwd)).toEqual([]);
  });

  const readOnly =
    'd=$(mktemp -d) && mount --bind "$d" "$d" && mount -o remount,bind,ro "$d" && cd "$d"';
  fault('F120', 'a folder that is read-only', async (attack, context) => {
    unlessPossible(context, missing('unshare', '-m', 'sh', '-c', readOnly));
    const world = await hostileWorld();
    const ran = await attack('docs download doc_1', {
      env: world.env,
      under: ['unshare', '-m'],
      shell: `${readOnly} && "$@"`,
    });
    expectFailure(ran, 1, /EROFS|read-only/i);
    expect(ran.stderr).toContain('rules.txt');
  });

  const quota = ['strace', '-f', '-qq', '-o', '/dev/null', '-e', 'trace=pwrite64'];
  fault('F120', 'the quota of the disk is used up', async (attack, context) => {
    unlessPossible(context, missing('strace', '-o', '/dev/null', 'true'));
    const world = await hostileWorld();
    const ran = await attack('docs download doc_1', {
      env: world.env,
      under: [...quota, '-e', 'inject=pwrite64:error=EDQUOT'],
    });
    expectFailure(
      ran,
      1,
      /^rules\.txt cannot be written: the disk quota is used up \(EDQUOT\)\.\nMake room/,
    );
  });

  fault('F120', 'hardly any file may be open', async (attack, context) => {
    unlessPossible(context, missing('prlimit', '--nofile=24', process.execPath, '--version'));
    const world = await hostileWorld();
    const ran = await attack(read, { env: world.env, under: ['prlimit', '--nofile=24'] });
    expect([0, 1, 9]).toContain(ran.code);
    if (ran.code !== 0) expect(ran.stdout).toBe('');
  });
});

describe('signals', () => {
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)
    fault('F122', `${signal} while a read waits`, async (attack) => {
      let pid = 0;
      const world = await hostileWorld({
        api: () => {
          setTimeout(() => process.kill(pid, signal), 100);
          return silence;
        },
      });
      const ran = await attack(read, {
        env: world.env,
        onStart: (id) => (pid = id),
      });
      expect({ code: ran.code, stdout: ran.stdout }).toEqual({ code, stdout: '' });
    });

  fault('F122', 'two signals end it at once', async (attack) => {
    let pid = 0;
    let began = 0;
    const world = await hostileWorld({
      api: ({ method }) => {
        if (method !== 'POST') return undefined;
        began = performance.now();
        // Two of one signal could reach it as one.
        process.kill(pid, 'SIGTERM');
        process.kill(pid, 'SIGINT');
        return silence;
      },
    });
    const ran = await attack('teams create --name Blue', {
      env: world.env,
      onStart: (id) => (pid = id),
    });
    expect([130, 143]).toContain(ran.code);
    // After the first alone it would wait for ten seconds.
    expect(performance.now() - began).toBeLessThan(8_000);
    expect(world.count('POST')).toBe(1);
  });
});

describe('configuration', () => {
  const contents: readonly (readonly [string, string | Buffer])[] = [
    ['cut', '{"profiles": {'],
    ['empty', ''],
    ['an array', '[]'],
    ['null', 'null'],
    ['a text', '"x"'],
    ['wrong types', '{"profiles": 7}'],
    ['a wrong profile', '{"profiles": {"a": []}}'],
    ['NUL bytes', Buffer.alloc(64)],
    ['UTF-16', Buffer.from('{"profiles":{}}', 'utf16le')],
  ];
  for (const name of ['config.json', 'credentials.json'])
    for (const [title, content] of contents)
      fault(
        'F126',
        `${name} is ${title}`,
        async (attack) => {
          const home = temporaryFolder('config');
          const dir = join(home, '.config/rosterctl');
          mkdirSync(dir, { recursive: true, mode: 0o700 });
          const good = {
            profiles: { default: { baseUrl: 'https://x.test/v1', organization: 'o' } },
          };
          writeFileSync(join(dir, 'config.json'), JSON.stringify(good), { mode: 0o600 });
          writeFileSync(join(dir, name), content, { mode: 0o600 });
          const ran = await attack(read, { home });
          // An empty object of profiles is not an error in the credentials file.
          if (name === 'credentials.json' && title === 'empty') expect([2, 4]).toContain(ran.code);
          else expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 2 });
          expect(ran.stdout).toBe('');
          if (ran.code === 2) expect(ran.stderr).toContain(join(dir, name));
          expect(readFileSync(join(dir, name))).toEqual(Buffer.from(content));
        },
        { inside: title !== 'cut' },
      );

  fault('F126', 'a byte order mark is no fault', async (attack) => {
    const world = await hostileWorld();
    const home = temporaryFolder('config');
    const dir = join(home, '.config/rosterctl');
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    writeFileSync(join(dir, 'config.json'), '\ufeff{"profiles":{}}', { mode: 0o600 });
    expect((await attack(read, { home, env: world.env })).code).toBe(0);
  });

  fault('F126', 'a folder in its place', async (attack) => {
    const home = temporaryFolder('config');
    mkdirSync(join(home, '.config/rosterctl/config.json'), { recursive: true, mode: 0o700 });
    const ran = await attack(read, { home });
    expectFailure(ran, 2, /config\.json/);
  });
});

describe('homes', () => {
  for (const [title, HOME] of [
    ['not set', undefined],
    ['empty', ''],
    ['missing', '/nowhere/at/all'],
    ['relative', 'here'],
  ] as const)
    fault('F128', `HOME is ${title}`, async (attack) => {
      const world = await hostileWorld();
      const cwd = temporaryFolder('cwd');
      const shell = HOME === undefined ? 'unset HOME; "$@"' : `HOME='${HOME}'; export HOME; "$@"`;
      const ran = await attack(read, { env: world.env, cwd, shell });
      expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
      const stored = await attack(
        `auth login --key-stdin --no-check --base-url ${world.baseUrl} --org ${organization}`,
        { cwd, shell, stdin: `${key}\n` },
      );
      expect({ code: stored.code, stdout: stored.stdout }).toEqual({ code: 2, stdout: '' });
      expect(stored.stderr).toMatch(/HOME|ROSTERCTL_CONFIG_DIR|\/nowhere/);
      expect(readdirSync(cwd)).toEqual([]);
      expect(existsSync('/nowhere')).toBe(false);
    });

  for (const [line, code, says] of [
    ['teams list', 0, /^$/],
    ['docs upload a.txt', 2, /^The current folder was removed\.\nChange to another folder/],
    ['docs download doc_1', 1, /no such folder \(ENOENT\)\.\nThe current folder was removed\./],
  ] as const)
    fault('F128', `${line} in a folder that was removed`, async (attack) => {
      const world = await hostileWorld();
      const shell = 'mkdir gone && cd gone && rmdir ../gone && "$@"';
      const ran = await attack(line, { env: world.env, shell });
      expect({ code: ran.code, stderr: ran.stderr }).toEqual({
        code,
        stderr: expect.stringMatching(says),
      });
    });

  fault('F128', 'a home that is read-only', async (attack, context) => {
    const mount = 'mount --bind "$HOME" "$HOME" && mount -o remount,bind,ro "$HOME"';
    unlessPossible(context, missing('unshare', '-m', 'mount', '--bind', '/tmp', '/tmp'));
    const world = await hostileWorld();
    const under = ['unshare', '-m'];
    const ran = await attack(read, { env: world.env, under, shell: `${mount} && "$@"` });
    expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
    const demo = await attack('-p sandbox teams list -o ids', { under, shell: `${mount} && "$@"` });
    expect(demo.code).toBe(0);
    expect(demo.stderr).toMatch(/in memory and lost after this command/);
    const stored = await attack('config set output json', { under, shell: `${mount} && "$@"` });
    expect({ code: stored.code, stdout: stored.stdout }).toEqual({
      code: expect.any(Number),
      stdout: '',
    });
    expect([1, 2]).toContain(stored.code);
  });

  fault('F128', 'a state folder on a disk that became read-only', async (attack, context) => {
    unlessPossible(context, missing('unshare', '-m', 'mount', '--bind', '/tmp', '/tmp'));
    const home = temporaryFolder('read-only');
    const change = '-p sandbox teams create --name Foxes';
    expect((await attack(change, { home })).code).toBe(0);
    const ran = await attack('-p sandbox doctor --json', {
      home,
      under: ['unshare', '-m'],
      shell: 'mount --bind "$HOME" "$HOME" && mount -o remount,bind,ro "$HOME" && "$@"',
    });
    expect(JSON.parse(ran.stdout)).toContainEqual({
      check: 'state',
      result: 'warn',
      detail: expect.stringMatching(
        /^bulk changes and uploads are refused\. \S+\/runs cannot be written: the file system is read-only \(EROFS\)\.$/,
      ),
      hint: 'Set ROSTERCTL_STATE_DIR to a folder of your own that you can write to.',
    });
  });

  fault('F128', 'another user of this machine', async (attack, context) => {
    const user = otherUser();
    unlessPossible(context, user.missing);
    const world = await hostileWorld();
    const { home, under } = user;
    const ran = await attack(read, { env: world.env, home, under });
    expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
    // The configuration of another user is not trusted, and not readable either.
    const ours = temporaryFolder('ours');
    const login = `auth login --key-stdin --no-check --base-url ${world.baseUrl} --org ${organization}`;
    expect((await attack(login, { home: ours, stdin: key })).code).toBe(0);
    const theirs = await attack('auth status', { home: ours, under });
    expect(theirs.code).not.toBe(0);
    expect(theirs.stdout + theirs.stderr).not.toContain(key.slice(-4));
  });

  fault('F128', 'one of the old runs cannot be removed', async (attack, context) => {
    const user = otherUser();
    unlessPossible(context, user.missing);
    const { home, under } = user;
    const ran = (words: string) => attack(`-p sandbox ${words}`, { home, under });
    expect((await ran('config set undo.keep 0d')).code).toBe(0);
    for (const status of ['reviewing', 'shortlisted', 'rejected'])
      expect((await ran(`tryouts set-status app_0001 --to ${status}`)).code).toBe(0);
    const ended = join(home, '.local/state/rosterctl/runs/ended');
    const [first = '', ...others] = readdirSync(ended).toSorted();
    chmodSync(join(ended, first), 0o500);
    const pruned = await ran('runs prune --older-than 0d --json');
    chmodSync(join(ended, first), 0o700);
    expect(pruned.code).toBe(1);
    expect(pruned.stderr).toContain(`${first} cannot be removed`);
    expect(JSON.parse(pruned.stdout)).toEqual({ removed: others });
    expect(readdirSync(ended)).toEqual([first]);
  });

  fault('F128', 'the rest of an old backup cannot be removed', async (attack, context) => {
    const user = otherUser();
    unlessPossible(context, user.missing);
    const { home, under } = user;
    const line = `-p sandbox backup create ${join(home, 'backup')}`;
    expect((await attack(line, { home, under })).code).toBe(0);
    const rest = join(home, 'backup', '2026-01-01T000000Z.removed');
    mkdirSync(rest);
    writeFileSync(join(rest, 'teams.ndjson'), '');
    const again = await attack(line, { home, under });
    expect([again.code, again.stderr]).toEqual([
      0,
      expect.stringContaining(`${rest} cannot be removed: permission denied (EACCES).`),
    ]);
  });

  for (const mask of ['000', '077', '777'])
    fault('F128', `modes under umask ${mask}`, async (attack) => {
      const world = await hostileWorld();
      const home = temporaryFolder('umask');
      const login = `auth login --key-stdin --base-url ${world.baseUrl} --org ${organization}`;
      const ran = await attack(login, {
        home,
        stdin: `  ${key} \r\n`,
        shell: `umask ${mask}; "$@"`,
      });
      expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
      expect(world.requests[0]?.headers['x-api-key']).toBe(key);
      const dir = join(home, '.config/rosterctl');
      expect(statSync(dir).mode & 0o777).toBe(0o700);
      for (const name of readdirSync(dir))
        expect(`${name} ${(statSync(join(dir, name)).mode & 0o777).toString(8)}`).toBe(
          `${name} 600`,
        );
    });
});

describe('without a terminal', () => {
  const asking = ['players delete player_1', 'tryouts convert app_1', 'teams delete team_1'];
  for (const line of asking)
    for (const [title, options] of [
      ['stdin is closed', {}],
      ['stdin says yes', { stdin: 'y\n' }],
      ['stdin is empty lines', { stdin: '\n\n\n' }],
      ['stdin is silent', { silentStdin: true }],
      ['CI', { env: { CI: '1' } }],
    ] as const)
      fault(
        'F129',
        `${line}: ${title}`,
        async (attack) => {
          const world = await hostileWorld();
          const ran = await attack(line, {
            ...options,
            env: { ...world.env, ...('env' in options ? options.env : {}) },
          });
          expect({ code: ran.code, stdout: ran.stdout }).toEqual({ code: 2, stdout: '' });
          expect(ran.stderr).toMatch(/--yes|--confirm/);
          expect(world.count('DELETE') + world.count('POST')).toBe(0);
        },
        { inside: title === 'stdin is empty lines' || title === 'CI' },
      );

  fault('F129', 'in a loop that reads ids: every row is its own', async (attack) => {
    const world = await hostileWorld();
    const ran = await attack('teams get', {
      env: world.env,
      stdin: 'team_1\nteam_1\nteam_1\n',
      shell: 'while read id; do "$@" "$id" -o ids; done',
    });
    expect(ran.stdout).toBe('team_1\nteam_1\nteam_1\n');
  });

  fault('F129', 'a key is never asked for without a terminal', async (attack) => {
    const world = await hostileWorld();
    const ran = await attack(`auth login --base-url ${world.baseUrl} --org o`, {
      silentStdin: true,
    });
    expectFailure(ran, 2, /--key-stdin|--key-file/);
  });

  for (const env of [{ TERM: 'dumb' }, { COLUMNS: '20' }, { NO_COLOR: '1' }, { TERM: '' }])
    fault(
      'F129',
      JSON.stringify(env),
      async (attack) => {
        const world = await hostileWorld();
        for (const line of ['teams list', 'tryouts get app_1', '--help', 'doctor']) {
          const ran = await attack(line, { env: { ...world.env, ...env } });
          expect(ran.code).toBe(0);
          expect(ran.stdout + ran.stderr).not.toContain('\u001b');
        }
      },
      { inside: env.TERM !== 'dumb' },
    );
});

describe('words', () => {
  const ids = [
    'a/b',
    'a%2fb',
    '%2e%2e',
    'a?b',
    'a#b',
    'a;b',
    'a+b',
    'a\\b',
    'a b',
    '界',
    '👩‍🚀',
    'é',
    '~',
    '*',
    '-x',
  ];
  for (const id of ids)
    fault(
      'F130',
      `the id ${id} arrives as it is`,
      async (attack) => {
        const world = await hostileWorld({ api: () => ({ json: { ...team, id } }) });
        const ran = await attack(['teams', 'get', '--json', '--', id], { env: world.env });
        expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
        const [, , , , sent = ''] = world.requests[0]?.url.split('/') ?? [];
        expect(decodeURIComponent(sent)).toBe(id);
        expect(world.requests[0]?.url.split('/')).toHaveLength(5);
      },
      { inside: id !== 'a/b' },
    );

  for (const id of ['', '.', '..', ' .. ', 'a\nb', 'a\u007fb', 'a\u009bb'])
    fault(
      'F130',
      `the id ${JSON.stringify(id)} is refused`,
      async (attack) => {
        const world = await hostileWorld();
        for (const words of [
          ['teams', 'get', id],
          ['players', 'delete', '--yes', id],
          ['tryouts', 'update', id, '--status', 'pending'],
        ]) {
          const ran = await attack(words, { env: world.env });
          expectFailure(ran, 2, /id/i);
        }
        expect(world.requests).toHaveLength(0);
      },
      { inside: id !== '' },
    );

  fault('F130', 'an id of ten thousand characters, and bytes that are no UTF-8', async (attack) => {
    const world = await hostileWorld();
    const long = await attack(['teams', 'get', 'x'.repeat(10_000)], { env: world.env });
    expect([2, 5]).toContain(long.code);
    const bytes = await attack('teams get', {
      env: world.env,
      shell: `"$@" "$(printf 'a\\377b')"`,
    });
    expect([2, 5]).toContain(bytes.code);
    expect(bytes.stdout).toBe('');
  });
});
