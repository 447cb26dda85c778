import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer as createPlain, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createTls } from 'node:tls';
import { describe, expect } from 'vitest';
import { atEnd } from '../support/cleaning.js';
import { temporaryFolder } from '../support/run.js';
import { type Attack, expectFailure, fault, unlessPossible } from './support/case.js';
import { certificates, type Pair } from './support/certificates.js';
import { cannotChangeNames, missing, nameServer } from './support/machine.js';
import {
  bytesThenEnd,
  end,
  environmentFor,
  httpAnswer,
  reset,
  wireServer,
} from './support/wire.js';
import { hostileWorld } from './support/world.js';

const read = 'teams get team_1';
const post = 'teams create --name Blue';
const patch = 'tryouts update app_1 --status reviewing';
const remove = 'players delete player_1 --yes';
const refusal = 'HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n';

/** Returns a port without a listener, below those that the system gives away to others meanwhile. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    const server = createPlain();
    const isFree = await new Promise<boolean>((resolve) => {
      server.on('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}

describe('connecting', () => {
  for (const line of [read, post])
    fault('F001', `${line}: refused`, async (attack) => {
      const port = await freePort();
      const env = environmentFor(`http://127.0.0.1:${port}/v1`);
      const ran = await attack(line, { env });
      expectFailure(ran, 9, new RegExp(`127\\.0\\.0\\.1:${port} refused`));
      const traced = await attack(`${line} --debug`, { env });
      expect(traced.stderr.match(/no answer: refused/g)).toHaveLength(2);
    });

  fault('F001', 'refused once, then there', async (attack) => {
    const port = await freePort();
    const running = attack(read, {
      env: { ...environmentFor(`http://127.0.0.1:${port}/v1`), ROSTERCTL_RETRIES: '10' },
    });
    await new Promise((resolve) => setTimeout(resolve, 600));
    const world = await hostileWorld({ port });
    const ran = await running;
    expect(ran.code).toBe(0);
    expect(world.requests).toHaveLength(1);
  });

  fault('F002', 'a name that does not exist', async (attack, context) => {
    unlessPossible(context, cannotChangeNames());
    const names = await nameServer(() => ({ kind: 'nothing' }));
    const env = { ...environmentFor('https://api.nowhere.test/v1'), ROSTERCTL_RETRIES: '3' };
    const ran = await attack(read, { env, under: names.under });
    expectFailure(ran, 9, /name api\.nowhere\.test cannot be resolved.*2 attempts/);
    expect(names.asked).toContain('api.nowhere.test');
  });

  fault('F003', 'a resolver that is busy', async (attack, context) => {
    unlessPossible(context, cannotChangeNames());
    const names = await nameServer(() => ({ kind: 'busy' }));
    const env = environmentFor('https://api.busy.test/v1');
    const ran = await attack(read, { env, under: names.under });
    expectFailure(
      ran,
      9,
      /name api\.busy\.test cannot be resolved.*2 attempts.*\nCheck your internet connection/,
    );
  });

  fault('F131', 'a resolver that never answers', async (attack, context) => {
    unlessPossible(context, cannotChangeNames());
    const names = await nameServer(() => ({ kind: 'silence' }));
    const env = { ...environmentFor('https://api.silent.test/v1'), ROSTERCTL_RETRIES: '0' };
    const ran = await attack(read, { env, under: names.under });
    expectFailure(ran, 9, /api\.silent\.test/);
  });

  fault('F004', 'no route', async (attack, context) => {
    unlessPossible(context, missing('unshare', '-n', 'true'));
    const env = environmentFor('https://198.51.100.1/v1');
    const ran = await attack(read, { env, under: ['unshare', '-n'] });
    expectFailure(
      ran,
      9,
      /https:\/\/198\.51\.100\.1 cannot be reached \(no route\).*2 attempts.*\nCheck your internet connection/,
    );
  });

  fault('F005', 'connections that are never made', async (attack) => {
    const port = await deafPort();
    const env = { ...environmentFor(`http://127.0.0.1:${port}/v1`), ROSTERCTL_RETRIES: '3' };
    const ran = await attack(read, { env });
    expectFailure(ran, 9, /did not accept a connection in time \(4 attempts\)/);
    expect(ran.ms).toBeGreaterThan(4 * 8_000);
  });

  for (const line of [read, post])
    fault('F006', `${line}: reset as soon as the connection stands`, async (attack) => {
      const server = await wireServer(() => end, {
        onConnection: (socket) => {
          socket.resetAndDestroy();
          return true;
        },
      });
      const ran = await attack(line, { env: server.env });
      // A reset may arrive before or after the request was sent; after it, a write has an unknown
      // outcome.
      expect([9, ...(line === post ? [10] : [])]).toContain(ran.code);
      expect(ran.stdout).toBe('');
      expect(ran.stderr).toMatch(/lost/);
      expect(server.connections()).toBeLessThanOrEqual(2);
    });

  fault('F007', 'closed as soon as the connection stands, a read', async (attack) => {
    const server = await wireServer(() => end, {
      onConnection: (socket) => {
        socket.end();
        return true;
      },
    });
    const ran = await attack(read, { env: server.env });
    expectFailure(ran, 9, /was lost before the whole answer.*2 attempts/);
    expect(server.connections()).toBe(2);
  });

  fault('F007', 'closed as soon as the connection stands, a write', async (attack) => {
    const server = await wireServer(() => end, {
      onConnection: (socket) => {
        socket.end();
        return true;
      },
    });
    const ran = await attack(post, { env: server.env });
    // Node does not reveal whether the bytes were sent before the close: 9 only if they certainly
    // were not.
    expect([9, 10]).toContain(ran.code);
    expect(server.connections()).toBe(ran.code === 10 ? 1 : 2);
  });
});

describe('lost responses', () => {
  for (const [id, how, action] of [
    ['F008', 'reset', reset],
    ['F009', 'closed', end],
    ['F034', 'closed in the middle of the head', bytesThenEnd('HTTP/1.1 200 OK\r\ncontent-')],
  ] as const) {
    fault(
      id,
      `a read, ${how}`,
      async (attack) => {
        const world = await hostileWorld({ api: () => action });
        const ran = await attack(read, { env: { ...world.env, ROSTERCTL_RETRIES: '3' } });
        expectFailure(ran, 9, /was lost before the whole answer.*4 attempts/);
        expect(world.count()).toBe(4);
      },
      { inside: id !== 'F008' },
    );

    fault(
      id,
      `a read, ${how} twice, then there`,
      async (attack) => {
        const world = await hostileWorld({ api: ({ nth }) => (nth < 3 ? action : undefined) });
        const ran = await attack(read, { env: { ...world.env, ROSTERCTL_RETRIES: '3' } });
        expect(ran.code).toBe(0);
        expect(world.count()).toBe(3);
      },
      { inside: id !== 'F008' },
    );

    fault(
      id,
      `a creation, ${how}: not sent again`,
      async (attack) => {
        const world = await hostileWorld({
          api: ({ method }) => (method === 'POST' ? action : undefined),
        });
        const ran = await attack(post, { env: world.env });
        expectFailure(ran, 10, /POST \/teams may have taken effect/);
        expect(world.count('POST')).toBe(1);
      },
      { inside: id !== 'F008' },
    );

    fault(
      id,
      `a status, ${how} after it was done: settled by reading`,
      async (attack) => {
        const world = await hostileWorld({
          api: (request, here) => {
            if (request.method !== 'PATCH') return undefined;
            here.carryOut(request);
            return action;
          },
        });
        const ran = await attack(patch, { env: world.env });
        expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
        expect(world.done.patches).toBe(1);
      },
      { inside: id !== 'F008' },
    );

    fault(
      id,
      `a status, ${how} before it was done: never a false success`,
      async (attack) => {
        const world = await hostileWorld({
          api: ({ method }) => (method === 'PATCH' ? action : undefined),
        });
        const ran = await attack(patch, { env: world.env });
        expectFailure(ran, 10, /PATCH \/tryout-applications\/app_1 may have taken effect/);
        expect(world.count('PATCH')).toBeLessThanOrEqual(2);
        expect(world.done.patches).toBe(0);
      },
      { inside: id !== 'F008' },
    );

    fault(
      id,
      `a deletion, ${how}, then gone`,
      async (attack) => {
        const world = await hostileWorld({
          api: (request, here) => {
            if (request.method !== 'DELETE') return undefined;
            if (here.count('DELETE') === 1) return action;
            // Another client was faster.
            here.carryOut(request);
            return { status: 404, json: { error: 'notFound' } };
          },
        });
        const ran = await attack(remove, { env: world.env });
        expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
        expect(world.count('DELETE')).toBe(2);
      },
      { inside: id !== 'F008' },
    );
  }

  fault('F010', 'a kept connection that has gone stale', async (attack) => {
    const world = await hostileWorld({
      api: (request, here) => (socket) => {
        const answer = here.carryOut(request);
        if (typeof answer === 'function') return;
        // The second request finds the connection closed.
        socket.write(httpAnswer(answer), () => setTimeout(() => socket.end(), 1));
      },
    });
    const ran = await attack(patch, { env: world.env });
    expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
    expect(world.count('PATCH')).toBe(1);
  });

  fault('F011', 'a kept connection that is closed on its second request', async (attack) => {
    const seen = new Map<number, number>();
    const world = await hostileWorld({
      api: ({ connection, method }) => {
        seen.set(connection, (seen.get(connection) ?? 0) + 1);
        return method === 'PATCH' && seen.get(connection) === 2 ? end : undefined;
      },
    });
    const ran = await attack(patch, { env: world.env });
    // Reading shows the old status: it is sent again, or reported as unknown; never both.
    expect([0, 10]).toContain(ran.code);
    expect(world.done.patches).toBe(ran.code === 0 ? 1 : 0);
    expect(world.count('PATCH')).toBeLessThanOrEqual(2);
  });

  fault('F011', 'every write on a kept connection is lost', async (attack) => {
    const seen = new Set<number>();
    const world = await hostileWorld({
      api: ({ connection, method }) => {
        const isKept = seen.has(connection);
        seen.add(connection);
        return method === 'PATCH' && isKept ? end : undefined;
      },
    });
    const ran = await attack(patch, { env: world.env });
    expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
    expect(world.count('PATCH')).toBe(2);
    expect(world.done.patches).toBe(1);
  });

  fault('F012', 'two addresses, the first one dead', async (attack, context) => {
    unlessPossible(context, cannotBindHosts());
    const world = await hostileWorld();
    const ran = await readOfTwo(attack, world.port);
    expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
    expect(world.count()).toBe(1);
  });

  fault(
    'F012',
    'two addresses, of which the first gets the time of a long way',
    async (attack, context) => {
      unlessPossible(context, cannotBindHosts());
      const world = await hostileWorld();
      await deafPort(world.port, '::1');
      const ran = await readOfTwo(attack, world.port);
      expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
      expect(ran.ms).toBeGreaterThanOrEqual(500);
    },
  );
});

/** Runs a read of a service whose host has two addresses. */
async function readOfTwo(attack: Attack, port: number) {
  const hosts = join(temporaryFolder('hosts'), 'hosts');
  writeFileSync(hosts, '::1 localhost\n127.0.0.1 localhost\n');
  const env = { ...environmentFor(`http://localhost:${port}/v1`), ROSTERCTL_RETRIES: '0' };
  const bound = `mount --bind ${hosts} /etc/hosts && exec "$@"`;
  return attack(read, { env, under: ['unshare', '-m', 'sh', '-c', bound, 'sh'] });
}

function cannotBindHosts(): string | undefined {
  return missing('unshare', '-m', 'mount', '--bind', '/dev/null', '/etc/hosts');
}

/** A service behind a CONNECT proxy; only the proxy can resolve `api.test`. `tls`: the proxy's own. */
async function behindProxy(answer?: string, tls?: Pair) {
  const { good, authorityFile } = certificates();
  const world = await hostileWorld({ tls: good });
  const heads: string[] = [];
  let connections = 0;
  const serve = (socket: Socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (head) => {
      heads.push(head.toString('latin1'));
      if (answer !== undefined) {
        socket.end(answer);
        return;
      }
      const onward = connect(world.port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
        socket.pipe(onward).pipe(socket);
      });
      onward.on('error', () => socket.destroy());
      socket.on('close', () => onward.destroy());
    });
  };
  const proxy = tls ? createTls(tls, serve) : createPlain(serve);
  proxy.on('connection', () => connections++);
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  atEnd(() => proxy.close());
  const { port } = proxy.address() as AddressInfo;
  const env = {
    ...environmentFor('https://api.test/v1'),
    NODE_EXTRA_CA_CERTS: authorityFile,
    HTTPS_PROXY: `http://user:proxy-secret@127.0.0.1:${port}`,
  };
  return { world, heads, env, port, connections: () => connections, close: () => proxy.close() };
}

describe('a proxy', () => {
  const noProxyYet = 'the transport does not speak to proxies yet';

  fault('F014', 'a proxy that works carries no key of ours', async (attack, context) => {
    const { heads, env, world } = await behindProxy();
    const ran = await attack(read, { env });
    if (heads.length === 0) context.skip(noProxyYet);
    expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
    expect(heads[0]).toMatch(/^CONNECT api\.test:443 /);
    expect(heads.join('')).not.toMatch(/x-api-key|key-canary/i);
    expect(world.count()).toBe(1);
  });

  fault('F014', 'a dead proxy is named, not the service', async (attack, context) => {
    const { heads, env } = await behindProxy();
    await attack(read, { env });
    if (heads.length === 0) context.skip(noProxyYet);
    const port = await freePort();
    const dead = { ...env, HTTPS_PROXY: `http://user:proxy-secret@127.0.0.1:${port}` };
    const ran = await attack(read, { env: dead });
    expectFailure(ran, 9, new RegExp(`proxy.*127\\.0\\.0\\.1:${port}`, 'i'));
    expect(ran.stderr).not.toContain('proxy-secret');
  });

  fault('F014', 'no proxy stands between us and this machine', async (attack) => {
    const world = await hostileWorld();
    const port = await freePort();
    const proxy = `http://127.0.0.1:${port}`;
    const env = { ...world.env, HTTP_PROXY: proxy, HTTPS_PROXY: proxy, http_proxy: proxy };
    expect((await attack(read, { env })).code).toBe(0);
    expect(world.count()).toBe(1);
  });

  for (const [status, text] of [
    [407, 'HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n'],
    [
      502,
      'HTTP/1.1 502 Bad Gateway\r\ncontent-type: text/html\r\ncontent-length: 26\r\n\r\n<html><h1>502</h1></html>\n',
    ],
  ] as const)
    fault('F015', `a proxy that answers ${status}`, async (attack, context) => {
      const { heads, env } = await behindProxy(text);
      const ran = await attack(read, { env });
      if (heads.length === 0) context.skip(noProxyYet);
      expectFailure(ran, 9, new RegExp(`proxy.*${status}`, 'i'));
      expect(ran.stderr).not.toContain('proxy-secret');
    });

  fault('F014', 'a proxy over TLS whose authority is known', async (attack, context) => {
    unlessPossible(context, missing('openssl', 'version'));
    const { env, port } = await behindProxy(undefined, certificates().good);
    const ran = await attack(read, { env: { ...env, HTTPS_PROXY: `https://127.0.0.1:${port}` } });
    expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
  });

  // No retry changes a certificate, and the base URL has nothing to do with it.
  for (const [title, answer, tls, hint] of [
    ['self-signed', undefined, 'selfSigned', /is self-signed.*NODE_EXTRA_CA_CERTS/],
    ['for another host', undefined, 'wrongHost', /other than 127\.0\.0\.1\. Check HTTPS_PROXY/],
    ['missing: it speaks plain http', refusal, undefined, /not speak TLS.*Check HTTPS_PROXY/],
  ] as const)
    fault('F016', `a proxy over TLS, its certificate ${title}`, async (attack, context) => {
      unlessPossible(context, missing('openssl', 'version'));
      const { env, port, connections } = await behindProxy(answer, tls && certificates()[tls]);
      const ran = await attack(read, { env: { ...env, HTTPS_PROXY: `https://127.0.0.1:${port}` } });
      expectFailure(ran, 9, new RegExp(`The proxy https://127\\.0\\.0\\.1:${port}`));
      expect(ran.stderr).toMatch(hint);
      expect(connections()).toBe(1);
    });
});

/**
 * Returns a port whose server stopped accepting and whose queue is full: further SYNs are dropped.
 */
async function deafPort(port = 0, host = '127.0.0.1'): Promise<number> {
  const script = `const s = require('net').createServer();
    s.listen({ port: ${port}, host: '${host}', backlog: 1 }, () => {
      process.stdout.write(s.address().port + '\\n', () => process.kill(process.pid, 'SIGSTOP'));
    });`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  atEnd(() => child.kill('SIGKILL'));
  const deaf = await new Promise<number>((resolve) =>
    child.stdout.once('data', (text: Buffer) => resolve(Number(text))),
  );
  const fillers = Array.from({ length: 6 }, () => connect(deaf, host).on('error', () => undefined));
  atEnd(() => {
    for (const each of fillers) each.destroy();
  });
  await new Promise((resolve) => setTimeout(resolve, 300));
  return deaf;
}
