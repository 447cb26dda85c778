import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  renameSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { atEnd } from '../support/cleaning.js';
import { rosterctl, temporaryFolder } from '../support/run.js';
import { expectFailure, fault, signature, unlessPossible } from './support/case.js';
import { otherUser } from './support/machine.js';
import { type Action, reset, silence } from './support/wire.js';
import { file, hostileWorld, type World, type WorldOptions } from './support/world.js';

const upload = 'docs upload rules.txt --if-exists duplicate --json';
const xml = (code: string) =>
  `<?xml version="1.0"?><Error><Code>${code}</Code><Message>no \u001b[31m</Message></Error>`;
const grants = (world: World) =>
  world.requests.filter(({ url }) => url.endsWith('/uploads/document-file'));

/** A folder with `rules.txt` in it. */
function folder(content: string | Buffer = 'hello'): string {
  const dir = temporaryFolder('upload');
  writeFileSync(join(dir, 'rules.txt'), content);
  return dir;
}

async function withStore(store: WorldOptions['store'], more: WorldOptions = {}) {
  return hostileWorld({ ...(store && { store }), ...more });
}

describe('step 1 and 2', () => {
  fault('F094', 'the answer of step 1 is lost: asked for again', async (attack) => {
    const world = await hostileWorld({
      api: ({ url, nth }) => (url.endsWith('/document-file') && nth === 1 ? reset : undefined),
    });
    const ran = await attack(upload, { env: world.env, cwd: folder() });
    expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
    expect(grants(world)).toHaveLength(2);
    expect(world.done.documents).toBe(1);
  });

  fault('F095', 'the PUT is reset in its middle: again from the start', async (attack) => {
    const world = await withStore(undefined, {
      storeOptions: {
        early: ({ method, nth }) => (method === 'PUT' && nth === 1 ? reset : undefined),
      },
    });
    const content = 'abcdefgh'.repeat(256 * 1024);
    const ran = await attack(upload, { env: world.env, cwd: folder(content) });
    expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
    expect(world.store.count('PUT')).toBe(2);
    expect(world.store.requests[1]?.body.toString()).toBe(content);
    expect(world.store.requests[1]?.url).toBe(world.store.requests[0]?.url);
  });

  fault(
    'F096',
    'the URL has run out: a new one',
    async (attack) => {
      const world = await withStore(({ nth }) =>
        nth === 1 ? { status: 403, text: xml('AccessDenied') } : undefined,
      );
      const ran = await attack(upload, { env: world.env, cwd: folder() });
      expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
      expect(grants(world)).toHaveLength(2);
    },
    { inside: true },
  );

  for (const status of [401, 410])
    fault(
      'F096',
      `the URL has run out, answered by ${status}: a new one`,
      async (attack) => {
        const world = await withStore(({ nth }) => (nth === 1 ? { status, text: '' } : undefined));
        const ran = await attack(upload, { env: world.env, cwd: folder() });
        expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
        expect(grants(world)).toHaveLength(2);
      },
      { inside: status !== 401 },
    );

  fault(
    'F096',
    'every URL has run out: it ends',
    async (attack) => {
      const world = await withStore(() => ({ status: 403, text: xml('AccessDenied') }));
      const ran = await attack('docs upload rules.txt --if-exists duplicate', {
        env: world.env,
        cwd: folder(),
      });
      expectFailure(ran, 1, /refused the upload: 403 AccessDenied: no/);
      expect(grants(world).length).toBeLessThanOrEqual(3);
      expect(world.done.documents).toBe(0);
    },
    { inside: true },
  );

  fault(
    'F097',
    'the signature does not match',
    async (attack) => {
      const world = await withStore(() => ({ status: 403, text: xml('SignatureDoesNotMatch') }));
      const ran = await attack('docs upload rules.txt --if-exists duplicate', {
        env: world.env,
        cwd: folder(),
      });
      expectFailure(ran, 1, /SignatureDoesNotMatch[^]*headers differ from the signed ones/);
      expect(world.store.count('PUT')).toBe(1);
      expect(world.done.documents).toBe(0);
    },
    { inside: true },
  );

  fault('F098', 'the length is always sent, the key never', async (attack) => {
    const world = await withStore(undefined);
    for (const [line, stdin] of [
      [upload, ''],
      ['docs upload - --name x --content-type text/plain', 'from stdin'],
    ] as const)
      expect((await attack(line, { env: world.env, cwd: folder(), stdin })).code).toBe(0);
    expect(world.store.count('PUT')).toBe(2);
    for (const { headers } of world.store.requests) {
      expect(headers['content-length']).toMatch(/^\d+$/);
      expect(headers['transfer-encoding']).toBeUndefined();
      expect(headers['x-api-key']).toBeUndefined();
      expect(headers['user-agent']).toBeUndefined();
    }
  });

  for (const [status, code] of [
    [400, 'RequestTimeout'],
    [503, 'SlowDown'],
  ] as const)
    fault(
      'F099',
      `${status} ${code}: again`,
      async (attack) => {
        const world = await withStore(({ nth }) =>
          nth === 1 ? { status, text: xml(code) } : undefined,
        );
        const ran = await attack(upload, { env: world.env, cwd: folder() });
        expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
        expect(world.store.count('PUT')).toBe(2);
      },
      { inside: status !== 400 },
    );

  fault(
    'F099',
    '503 SlowDown to every attempt: temporary, for one file and for two',
    async (attack) => {
      const world = await withStore(() => ({ status: 503, text: xml('SlowDown') }));
      const desk = { env: { ...world.env, ROSTERCTL_RETRIES: '1' }, cwd: folder() };
      expectFailure(await attack(upload, desk), 9, /Not finished[^]*503 SlowDown/);
      for (const name of ['a.txt', 'b.txt']) writeFileSync(join(desk.cwd, name), name);
      const two = await attack('docs upload a.txt b.txt --json', desk);
      expect(two.code).toBe(9);
      const { results } = JSON.parse(two.stdout) as { results: object[] };
      const error = { code: 'SlowDown', exitCode: 9, retryable: true };
      expect(results).toMatchObject([{ error }, { error }]);
    },
    { inside: true },
  );

  fault('F100', 'a refusal while we are still sending', async (attack) => {
    const world = await withStore(undefined, {
      storeOptions: { early: () => ({ status: 403, text: xml('EntityTooLarge') }) },
    });
    const content = 'x'.repeat(8 * 1024 * 1024);
    const ran = await attack('docs upload rules.txt --if-exists duplicate', {
      env: world.env,
      cwd: folder(content),
    });
    expectFailure(ran, 1, /403 EntityTooLarge/);
  });

  fault('F101', 'slow but moving, longer than --timeout', async (attack) => {
    const world = await withStore(undefined, {
      storeOptions: {
        onConnection: (socket) => {
          socket.on('data', () => {
            socket.pause();
            setTimeout(() => socket.resume(), 100);
          });
          return false;
        },
      },
    });
    const content = 'x'.repeat(3 * 1024 * 1024);
    const env = { ...world.env, ROSTERCTL_TIMEOUT: '3s' };
    const ran = await attack(upload, { env, cwd: folder(content) });
    expect(ran.ms).toBeGreaterThan(3_000);
    expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
    expect(world.store.requests[0]?.body.length).toBe(content.length);
  });

  fault('F102', 'a PUT that stands still', async (attack) => {
    const world = await withStore(undefined, {
      storeOptions: {
        onConnection: (socket) => {
          socket.once('data', () => socket.pause());
          return true;
        },
      },
    });
    const content = 'x'.repeat(16 * 1024 * 1024);
    const env = { ...world.env, ROSTERCTL_RETRIES: '0' };
    const ran = await attack('docs upload rules.txt --if-exists duplicate', {
      env,
      cwd: folder(content),
    });
    // The progress is printed every ten seconds.
    const stderr = ran.stderr.replaceAll(/^\d+ of \d+ files?, .*\n/gm, '');
    expectFailure({ ...ran, stderr }, 9, /stalled/);
    expect(world.done.documents).toBe(0);
  });

  for (const status of [301, 302, 303, 307, 308])
    fault(
      'F103',
      `PUT ${status} is not followed`,
      async (attack) => {
        const elsewhere = await hostileWorld();
        const world = await withStore(() => ({
          status,
          headers: { location: `${elsewhere.origin}/take` },
        }));
        const ran = await attack('docs upload rules.txt --if-exists duplicate', {
          env: world.env,
          cwd: folder(),
        });
        expectFailure(ran, 1, new RegExp(`redirected the upload \\(${status}\\)`));
        expect(elsewhere.connections()).toBe(0);
      },
      { inside: status !== 301 },
    );
});

const onDocuments = (action: Action, carriedOut: boolean): WorldOptions => ({
  api: (request, world) => {
    if (`${request.method} ${request.url}` !== 'POST /v1/documents') return undefined;
    if (carriedOut) world.carryOut(request);
    return action;
  },
});

/** A list without a document of ours. */
const othersOnly: Action = { json: { documents: [{ ...file, fileKey: 'another' }] } };

describe('step 3', () => {
  fault('F104', 'the answer is lost: found in the list, or unknown', async (attack) => {
    const world = await hostileWorld(onDocuments(reset, true));
    const ran = await attack('docs upload rules.txt --if-exists duplicate', {
      env: world.env,
      cwd: folder(),
    });
    expect([0, 10]).toContain(ran.code);
    if (ran.code === 10) expect(ran.stderr).toContain('documents/org_7/rules.txt');
    expect(world.done.documents).toBe(1);
    expect(world.store.count('PUT')).toBe(1);
  });

  test.each([202, 204])(
    '%i without a record is unknown while the list shows that there is none',
    async (status) => {
      const { api: empty } = onDocuments({ status }, false);
      const world = await hostileWorld({
        api: (request, here) =>
          request.url === '/v1/documents/org_7' ? othersOnly : empty?.(request, here),
      });
      const ran = await rosterctl('docs upload rules.txt --if-exists duplicate', {
        env: { ...world.env, ROSTERCTL_SETTLE: '0.1s' },
        cwd: folder(),
      });
      expect([ran.code, ran.stdout]).toEqual([10, '']);
      expect(ran.stderr).toContain('the list does not show the document');
      expect(ran.stderr).toContain('documents/org_7/rules.txt');
      expect(world.store.count('PUT')).toBe(1);
    },
  );

  for (const [status, codes] of [
    [400, [3]],
    [403, [7]],
    [500, [9, 10]],
  ] as const)
    fault(
      'F105',
      `${status}: the orphan is named with the command`,
      async (attack) => {
        const { api: spoilt } = onDocuments({ status, json: { error: 'no' } }, false);
        const world = await hostileWorld({
          // It is not recorded, as a list shows.
          api: (request, here) =>
            request.url === '/v1/documents/org_7' ? othersOnly : spoilt?.(request, here),
        });
        const ran = await attack(`docs upload rules.txt --if-exists duplicate --tag 'a b'`, {
          env: world.env,
          cwd: folder(),
        });
        expect(codes).toContain(ran.code);
        expect(ran.stdout).toBe('');
        expect(ran.stderr).toMatch(/key documents\/org_7\/rules\.txt, fileRef ref_1/);
        expect(ran.stderr).toContain(
          "rosterctl docs create --file-key documents/org_7/rules.txt --file-ref ref_1 --content-type text/plain --size-bytes 5 --name rules.txt --tag 'a b'",
        );
        expect(world.store.count('PUT')).toBe(1);
      },
      { inside: status !== 400 },
    );
});

describe('interrupted at step 3', () => {
  fault('F122', 'Ctrl-C does not say that nothing was recorded', async (attack) => {
    let pid = 0;
    const world = await hostileWorld({
      api: ({ method, url }) => {
        if (method !== 'POST' || url !== '/v1/documents') return undefined;
        setTimeout(() => process.kill(pid, 'SIGINT'), 100);
        return silence;
      },
    });
    const ran = await attack('docs upload rules.txt --if-exists duplicate', {
      env: world.env,
      cwd: folder(),
      onStart: (id) => (pid = id),
    });
    expect(ran.code).toBe(130);
    expect(ran.stderr).toContain('its document may have been created');
    expect(ran.stderr).not.toContain('nothing was recorded');
  });
});

describe('killed before step 3', () => {
  fault('F106', 'going on sends step 3 alone', async (attack) => {
    let started = 0;
    const { api: atStepThree } = onDocuments((socket) => {
      process.kill(-started, 'SIGKILL');
      socket.destroy();
    }, false);
    const world = await hostileWorld({
      api: (request, here) => {
        if (request.url === '/v1/documents/org_7') return othersOnly;
        return started > 0 ? atStepThree?.(request, here) : undefined;
      },
    });
    const desk = {
      env: { ...world.env, ROSTERCTL_SETTLE: '0.1s' },
      cwd: folder(),
      home: temporaryFolder(),
    };
    const killed = await attack('docs upload rules.txt --if-exists duplicate', {
      ...desk,
      onStart: (pid) => (started = pid),
    });
    expect(killed.signal).toBe('SIGKILL');
    started = 0;
    const ran = await attack(upload, desk);
    expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
    expect(world.store.count('PUT')).toBe(1);
    expect(world.done.documents).toBe(1);
  });
});

describe('the file', () => {
  const size = 24 * 1024 * 1024;
  for (const [title, change] of [
    ['truncated', (path: string) => truncateSync(path, size / 2)],
    ['grown', (path: string) => appendFileSync(path, 'more')],
    ['rewritten with the same size', (path: string) => writeFileSync(path, 'y'.repeat(size))],
    [
      'replaced',
      (path: string) => {
        writeFileSync(`${path}.new`, 'z'.repeat(size));
        renameSync(`${path}.new`, path);
      },
    ],
  ] as const)
    fault(
      'F107',
      `${title} while it is sent: no document`,
      async (attack) => {
        const cwd = folder('x'.repeat(size));
        let changed = false;
        const world = await withStore(undefined, {
          storeOptions: {
            early: () => {
              if (!changed) change(join(cwd, 'rules.txt'));
              changed = true;
              return undefined;
            },
          },
        });
        const env = { ...world.env, ROSTERCTL_RETRIES: '0' };
        const ran = await attack('docs upload rules.txt --if-exists duplicate', { env, cwd });
        expectFailure(ran, 2, /changed/);
        expect(world.done.documents).toBe(0);
      },
      { inside: title !== 'truncated' },
    );

  fault(
    'F108',
    'of no bytes: a note, and sent',
    async (attack) => {
      const world = await withStore(undefined);
      const ran = await attack(upload, { env: world.env, cwd: folder('') });
      expect(ran.code).toBe(0);
      expect(ran.stderr).toMatch(/empty/);
      expect(world.store.requests[0]?.headers['content-length']).toBe('0');
    },
    { inside: true },
  );

  fault(
    'F109',
    'a folder, missing, a loop, a name too long',
    async (attack) => {
      const world = await withStore(undefined);
      const cwd = folder();
      mkdirSync(join(cwd, 'sub.txt'));
      symlinkSync('loop.txt', join(cwd, 'loop.txt'));
      for (const path of ['sub.txt', 'none.txt', 'loop.txt', `${'n'.repeat(300)}.txt`]) {
        const ran = await attack(['docs', 'upload', path], { env: world.env, cwd });
        expectFailure(ran, 2, /./);
        expect(ran.stderr).toContain(path.slice(0, 60));
      }
      expect(world.requests).toHaveLength(0);
    },
    { inside: true },
  );

  fault('F109', 'not readable', async (attack, context) => {
    const user = otherUser();
    unlessPossible(context, user.missing);
    const world = await withStore(undefined);
    const cwd = folder();
    chmodSync(cwd, 0o755);
    chmodSync(join(cwd, 'rules.txt'), 0o600);
    const { home, under } = user;
    const ran = await attack(upload.replace(' --json', ''), { env: world.env, cwd, home, under });
    expectFailure(ran, 2, /rules\.txt.*permission/i);
    expect(world.requests).toHaveLength(0);
  });

  fault('F109', '-r: an unreadable subfolder does not count as empty', async (attack, context) => {
    const user = otherUser();
    unlessPossible(context, user.missing);
    const world = await withStore(undefined);
    const cwd = folder();
    chmodSync(cwd, 0o755);
    mkdirSync(join(cwd, 'closed'), { mode: 0o700 });
    const { home, under } = user;
    const ran = await attack('docs upload -r .', { env: world.env, cwd, home, under });
    expectFailure(ran, 2, /closed.*permission/i);
    expect(world.requests).toHaveLength(0);
  });

  // A pipe that is opened would stop the test's own process.
  fault('F110', 'a pipe, a socket, a device', async (attack) => {
    const world = await withStore(undefined);
    const cwd = folder();
    execFileSync('mkfifo', [join(cwd, 'pipe.txt')]);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(cwd, 'socket.txt'), resolve));
    atEnd(() => server.close());
    symlinkSync('/dev/zero', join(cwd, 'device.txt'));
    for (const path of ['pipe.txt', 'socket.txt', 'device.txt']) {
      const ran = await attack(['docs', 'upload', path], { env: world.env, cwd });
      expectFailure(ran, 2, /is a (pipe|socket|device), not a regular file/);
    }
    expect(world.requests).toHaveLength(0);
  });

  fault('F111', 'from stdin: spooled, and nothing of it is left', async (attack) => {
    const TMPDIR = temporaryFolder('spool');
    const line = 'docs upload - --name Rules --content-type text/plain';
    const world = await withStore(undefined);
    const ran = await attack(line, { env: { ...world.env, TMPDIR }, stdin: 'twelve bytes' });
    expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
    expect(world.store.requests[0]?.body.toString()).toBe('twelve bytes');
    const failing = await withStore(() => ({ status: 400 }));
    await attack(line, { env: { ...failing.env, TMPDIR }, stdin: 'x' });
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      let started = 0;
      const silent = await withStore(() => {
        process.kill(-started, signal);
        return () => undefined;
      });
      await attack(line, {
        env: { ...silent.env, TMPDIR },
        stdin: 'x',
        onStart: (pid) => (started = pid),
      });
      expect(silent.store.count('PUT')).toBe(1);
    }
    expect(readdirSync(TMPDIR)).toEqual([]);
  });

  fault(
    'F112',
    'a symlink is followed',
    async (attack) => {
      const world = await withStore(undefined);
      const cwd = folder();
      symlinkSync('rules.txt', join(cwd, 'link.txt'));
      const ran = await attack('docs upload link.txt', { env: world.env, cwd });
      expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
      expect(world.store.requests[0]?.body.toString()).toBe('hello');
    },
    { inside: true },
  );

  fault(
    'F113',
    'of 5 GiB: its size is told exactly',
    async (attack) => {
      const cwd = folder();
      truncateSync(join(cwd, 'rules.txt'), 5 * 1024 ** 3 + 1);
      const world = await hostileWorld({
        api: () => ({ status: 413, json: { error: 'fileTooLarge' } }),
      });
      const ran = await attack(
        'docs upload rules.txt --if-exists duplicate --content-type text/plain',
        {
          env: world.env,
          cwd,
        },
      );
      expectFailure(ran, 3, /too large/);
      expect(JSON.parse(grants(world)[0]?.body.toString() ?? '{}')).toMatchObject({
        sizeBytes: 5_368_709_121,
      });
    },
    { inside: true },
  );

  fault(
    'F114',
    'a type that is not among the ten',
    async (attack) => {
      const world = await withStore(undefined);
      const cwd = folder();
      for (const name of ['a.exe', 'a.svg', 'a.html', 'noending', 'a.zip'])
        writeFileSync(join(cwd, name), '\u0001\u0002');
      for (const line of [
        'docs upload a.exe',
        'docs upload a.svg',
        'docs upload a.html',
        'docs upload noending',
        'docs upload a.zip',
        'docs upload rules.txt --if-exists duplicate --content-type image/svg+xml',
        'uploads create --content-type application/zip --size-bytes 1',
      ])
        expectFailure(await attack(line, { env: world.env, cwd }), 2, /\.pdf|application\/pdf|pdf/);
      expect(world.requests).toHaveLength(0);
    },
    { inside: true },
  );

  fault(
    'F115',
    'a name and a content that disagree',
    async (attack) => {
      const world = await withStore(undefined);
      const cwd = folder();
      const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
      writeFileSync(join(cwd, 'photo.pdf'), png);
      writeFileSync(join(cwd, 'paper.docx'), 'plain words');
      expectFailure(await attack('docs upload photo.pdf', { env: world.env, cwd }), 2, /png/i);
      expectFailure(
        await attack('docs upload paper.docx', { env: world.env, cwd }),
        2,
        /docx|Word|officedocument/i,
      );
      expect(world.requests).toHaveLength(0);
      const ran = await attack('docs upload photo.pdf --content-type image/png', {
        env: world.env,
        cwd,
      });
      expect(ran.code).toBe(0);
      expect(world.store.requests[0]?.headers['content-type']).toBe('image/png');
    },
    { inside: true },
  );

  fault(
    'F116',
    'names and tags that are odd',
    async (attack) => {
      const world = await withStore(undefined);
      const cwd = folder();
      const untagged = await attack('docs upload rules.txt --if-exists duplicate --tag ""', {
        env: world.env,
        cwd,
      });
      expectFailure(untagged, 2, /empty/);
      expect(world.requests).toHaveLength(0);
      for (const name of ['n'.repeat(10_000), 'a\u001b[31mb\nc', '=1+1', '../../x']) {
        const ran = await attack(['docs', 'upload', 'rules.txt', '--name', name], {
          env: world.env,
          cwd,
        });
        expect(ran.code).toBe(0);
        expect(ran.stdout + ran.stderr).not.toContain('\u001b');
        const sent = world.requests.at(-1)?.body.toString() ?? '{}';
        expect(JSON.parse(sent)).toMatchObject({ name });
      }
    },
    { inside: true },
  );
});

describe('downloads', () => {
  fault('F095', 'cut in the middle: no file, and no part of one', async (attack) => {
    const cwd = temporaryFolder('download');
    const world = await withStore(({ method }) =>
      method === 'GET'
        ? (socket) => {
            socket.write('HTTP/1.1 200 OK\r\netag: "1"\r\ncontent-length: 5\r\n\r\nhalf');
            setTimeout(() => socket.end(), 50);
          }
        : undefined,
    );
    const ran = await attack('docs download doc_1', { env: world.env, cwd });
    expectFailure(ran, 9, /lost during the download/);
    expect(readdirSync(cwd)).toEqual([]);
    expect(world.store.received()).not.toContain('x-api-key');
    expect(ran.stderr).not.toContain(signature);
  });
});
