import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { temporaryFolder } from '../support/run.js';
import { key, organization } from '../support/service.js';
import { type Attack, fault, signature } from './support/case.js';
import { reset } from './support/wire.js';
import { hostileWorld } from './support/world.js';

/** A service that sends our own secrets back in every place where we might print them. */
const echo = () =>
  hostileWorld({
    api: ({ url, headers }) => {
      const secret = headers['x-api-key'] ?? '';
      if (url.includes('/players/')) return { json: { [secret]: [1], [`x${secret}`]: [2] } };
      return {
        status: 400,
        json: {
          error: secret,
          message: `the key ${secret} or ${encodeURIComponent(secret)} is odd`,
        },
        headers: { [`x-${secret}`]: secret, location: `https://x.test/?k=${secret}` },
      };
    },
  });

/**
 * Neither the key nor the query of a signed URL is in any output; `attack` itself checks for them.
 */
describe('secrets', () => {
  for (const flags of ['', ' --debug', ' --json --debug', ' -v --debug'])
    fault(
      'F072',
      `the service echoes the key${flags}`,
      async (attack) => {
        const world = await echo();
        for (const line of [
          'teams list',
          'players list',
          'tryouts get app_1',
          'doctor',
          'auth status',
        ]) {
          const ran = await attack(`${line}${flags}`, { env: world.env });
          // A result on stdout is the service's own; the attack fails on the key in it.
          expect(ran.code).not.toBe(null);
        }
      },
      { inside: flags.startsWith(' --') },
    );

  for (const flags of ['', ' --debug', ' --json --debug'])
    fault('F100', `the store echoes the signature${flags}`, async (attack) => {
      const cwd = temporaryFolder('echo');
      writeFileSync(join(cwd, 'rules.txt'), 'hello');
      const world = await hostileWorld({
        store: ({ url }) => ({
          status: 400,
          text: `<Error><Code>Bad</Code><Message>${url} ${signature}</Message></Error>`,
          headers: { location: url },
        }),
      });
      for (const line of [
        'docs upload rules.txt --if-exists duplicate',
        'docs download doc_1 -O x.txt',
        'docs preview doc_1 -O x',
      ]) {
        const ran = await attack(`${line}${flags}`, { env: world.env, cwd });
        expect(ran.code).toBe(1);
        expect(ran.stderr).toMatch(/Bad/);
      }
      const lost = await hostileWorld({ store: () => reset });
      await attack(`docs upload rules.txt --if-exists duplicate${flags}`, { env: lost.env, cwd });
    });

  fault('F100', 'the store echoes the signature of the URL it redirected to', async (attack) => {
    const second = signature.split('').toReversed().join('');
    const world = await hostileWorld({
      store: ({ url }) =>
        url.startsWith('/moved')
          ? {
              status: 400,
              text: `<Error><Code>Bad</Code><Message>${url} ${second}</Message></Error>`,
            }
          : { status: 302, headers: { location: `/moved?X-Signature=${second}` } },
    });
    const env = { env: world.env, cwd: temporaryFolder('moved') };
    for (const flags of ['', ' --debug', ' --json']) {
      const ran = await attack(`docs download doc_1 -O x.txt${flags}`, env);
      expect([ran.code, ran.stderr.includes('Bad'), ran.stderr.includes(second)]).toEqual([
        1,
        true,
        false,
      ]);
    }
  });

  fault('F100', 'a signed URL that was typed or piped in appears in no message', async (attack) => {
    const cwd = temporaryFolder('put');
    writeFileSync(join(cwd, 'rules.txt'), 'hello');
    const world = await hostileWorld({ store: ({ url }) => ({ status: 403, text: url }) });
    const stdin = `${world.store.origin}/put?X-Signature=${signature}\n`;
    for (const flags of ['', ' --debug', ' -n', ' --json -n']) {
      const ran = await attack(`uploads put - rules.txt${flags}`, { env: world.env, cwd, stdin });
      expect([0, 1]).toContain(ran.code);
    }
    const bad = await attack('uploads put - rules.txt', {
      env: world.env,
      cwd,
      stdin: `nonsense ${signature}`,
    });
    expect(bad.code).toBe(2);
  });

  fault(
    'F074',
    '--debug: method, path, status, sizes, names of headers; nothing else',
    async (attack) => {
      const world = await hostileWorld();
      const ran = await attack('tryouts update app_1 --status reviewing --note geheim --debug', {
        env: world.env,
      });
      expect(ran.code).toBe(0);
      expect(ran.stderr).toMatch(
        /GET \/v1\/tryout-applications\/app_1 .*x-api-key.*-> 200 .*\d+ ms/,
      );
      expect(ran.stderr).toMatch(/PATCH .*, \d+ B\) -> 200/);
      expect(ran.stderr).not.toMatch(/geheim|Ann|ann@example|organizationId=/);
    },
  );

  fault(
    'F126',
    'a key in a broken file is in no message',
    async (attack) => {
      for (const content of [`{"a": {"key": "${key}", `, key, `{"a":{"key":7,"x":"${key}"}}`]) {
        const home = temporaryFolder('broken');
        const ran = await login(attack, home);
        expect(ran.code).toBe(0);
        const path = join(home, '.config/rosterctl/credentials.json');
        expect(readFileSync(path, 'utf8')).toContain(key);
        writeFileSync(path, content);
        for (const line of [
          'teams list',
          'teams list --debug',
          'auth status',
          'doctor',
          'profile list',
        ])
          expect((await attack(line, { home })).code).not.toBe(null);
      }
    },
    { inside: true },
  );

  fault('F073', 'a key is sent without surrounding blanks and line ends', async (attack) => {
    const world = await hostileWorld();
    const file = join(temporaryFolder('key'), 'key.txt');
    writeFileSync(file, `  ${key}\r\n\n`);
    const { ROSTERCTL_API_KEY: _, ...env } = world.env;
    for (const more of [{ ROSTERCTL_API_KEY: ` ${key}\n` }, { ROSTERCTL_API_KEY_FILE: file }])
      expect((await attack('teams list', { env: { ...env, ...more } })).code).toBe(0);
    expect(world.requests.map(({ headers }) => headers['x-api-key'])).toEqual([key, key]);
    const broken = { ROSTERCTL_API_KEY: `${key}\nx: y` };
    expect((await attack('teams list', { env: { ...env, ...broken } })).code).toBe(2);
  });

  fault('F073', 'no crash report, core or temporary file holds the key', async (attack) => {
    const home = temporaryFolder('traces');
    const world = await hostileWorld({ api: () => reset });
    await login(attack, home);
    for (const line of [
      'teams list --debug',
      'tryouts list --json',
      'docs list -o csv --out x.csv',
    ])
      await attack(line, { home, env: { ...world.env, NODE_OPTIONS: '' } });
    const left = readdirSync(home).filter((name) => !name.startsWith('.'));
    expect(left).toEqual([]);
    expect(existsSync(join(home, '.local'))).toBe(false);
  });
});

function login(attack: Attack, home: string) {
  return attack(
    `auth login --key-stdin --no-check --base-url https://api.test/v1 --org ${organization}`,
    { home, stdin: key },
  );
}
