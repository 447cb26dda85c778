import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { temporaryFolder } from '../support/run.js';
import { key } from '../support/service.js';
import { expectFailure, fault, signature, unlessPossible } from './support/case.js';
import { certificates } from './support/certificates.js';
import { cannotChangeNames, missing, nameServer } from './support/machine.js';
import { type Run, resident } from './support/resident.js';
import { environmentFor } from './support/wire.js';
import { hostileWorld, type World } from './support/world.js';

/**
 * Targets to which a hostile service might direct our connections and files; PORT is a listening
 * port.
 */
const urls = [
  'http://127.0.0.1:PORT/x',
  'https://127.0.0.1:PORT/x',
  'https://localhost:PORT/x',
  'https://localhost.:PORT/x',
  'https://a.localhost:PORT/x',
  'https://127.1:PORT/x',
  'https://2130706433:PORT/x',
  'https://0x7f.0.0.1:PORT/x',
  'https://0177.0.0.1:PORT/x',
  'https://0:PORT/x',
  'https://[::1]:PORT/x',
  'https://[::ffff:127.0.0.1]:PORT/x',
  'https://[::ffff:7f00:1]:PORT/x',
  'https://[::]:PORT/x',
  'https://[64:ff9b::7f00:1]:PORT/x',
  'https://[2002:7f00:1::]:PORT/x',
  'https://169.254.169.254/latest/meta-data/',
  'https://10.0.0.1/x',
  'https://172.16.0.1/x',
  'https://192.168.1.1/x',
  'https://100.64.0.1/x',
  'https://[fe80::1]/x',
  'https://[fd00::1]/x',
  'http://store.example.com/x',
  'file:///etc/passwd',
  'ftp://store.example.com/x',
  'https://user:pass@store.example.com/x',
  'gopher://127.0.0.1:PORT/x',
  '//127.0.0.1:PORT/x',
  'https://\t127.0.0.1:PORT/x',
];

/** An unused address on the public internet. */
const publicHost = '203.0.113.7';

/**
 * The service's own name resolves to the test for its first connection and to a public address from
 * then on, so that no private one counts as its neighbour.
 */
const namesOf = (service: () => World) =>
  nameServer((name) => {
    const isFirst = name !== 'api.test' || service().connections() === 0;
    return { kind: 'addresses', v4: [isFirst ? '127.0.0.1' : publicHost] };
  });

/** The service that the resident program asks now. */
let asked: World;
let started: Promise<Run> | undefined;

async function start(env: Readonly<Record<string, string>>): Promise<Run> {
  const names = await namesOf(() => asked);
  return resident(names.under, env);
}

/** A process of its own for a line, or one for all of them, which takes less time. */
async function publicService(url: string, { alone }: { readonly alone: boolean }) {
  const { good, authorityFile } = certificates();
  const world = await hostileWorld({ tls: good, url });
  const trust = { NODE_EXTRA_CA_CERTS: authorityFile };
  const env = {
    ...environmentFor(`https://api.test:${world.port}/v1`),
    ...trust,
    ROSTERCTL_RETRIES: '0',
  };
  const cwd = temporaryFolder('ssrf');
  writeFileSync(join(cwd, 'rules.txt'), 'hello');
  if (alone) {
    const names = await namesOf(() => world);
    return { world, options: { env, cwd, under: names.under } };
  }
  started ??= start(trust);
  const run = await started;
  const inside: Run = (...line) => {
    asked = world;
    return run(...line);
  };
  return { world, options: { env, cwd, inside } };
}

const cannot = () => missing('openssl', 'version') ?? cannotChangeNames();

describe('signed URLs of a service on the internet', () => {
  for (const url of urls)
    for (const line of [
      'docs upload rules.txt --if-exists duplicate',
      'docs download doc_1 -O out.txt',
    ])
      fault('F103', `${line}: ${JSON.stringify(url)} is not opened`, async (attack, context) => {
        unlessPossible(context, cannot());
        const trap = await hostileWorld();
        const given = `${url.replace('PORT', String(trap.port))}?X-Signature=${signature}`;
        const { world, options } = await publicService(given, { alone: url === urls[0] });
        const ran = await attack(line, options);
        expectFailure(ran, 1, /does not open|No signed URL/);
        expect(world.requests).toHaveLength(1);
        expect(trap.connections()).toBe(0);
      });

  fault('F103', 'a name that leads into this machine is not used', async (attack, context) => {
    unlessPossible(context, cannot());
    const trap = await hostileWorld({ tls: certificates().good });
    const { options } = await publicService(
      `https://rebound.test:${trap.port}/x?X-Signature=${signature}`,
      { alone: true },
    );
    const ran = await attack('docs upload rules.txt --if-exists duplicate', options);
    expectFailure(ran, 1, /private network/);
    expect(trap.connections()).toBe(0);
    expect(trap.received()).not.toContain(key);
  });
});
