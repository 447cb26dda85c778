import { expect } from 'vitest';
import { key } from '../support/service.js';
import { fault, unlessPossible } from './support/case.js';
import { certificates } from './support/certificates.js';
import { missing } from './support/machine.js';
import { wireServer } from './support/wire.js';
import { hostileWorld } from './support/world.js';

const statuses = [301, 302, 303, 307, 308];
const commands = {
  GET: 'api teams/{org}',
  POST: 'api teams -f name=x',
  PUT: 'api teams/team_1 -X PUT -f name=x',
  PATCH: 'api teams/team_1 -X PATCH -f name=x',
  DELETE: 'api teams/team_1 -X DELETE --yes',
} as const;
const targets = ['another host', 'another port', 'another scheme', 'the same origin'] as const;

// 5 statuses x 5 methods x 4 targets: no request follows, and the key is not sent elsewhere.
for (const status of statuses)
  for (const [method, line] of Object.entries(commands))
    for (const target of targets)
      fault(
        'F069',
        `matrix: ${status} for ${method} to ${target}`,
        async (attack, context) => {
          unlessPossible(context, missing('openssl', 'version'));
          const { good, authorityFile } = certificates();
          const other = await wireServer(() => ({ json: {} }), {
            ...(target === 'another scheme' && { tls: good }),
            ...(target === 'another host' && { host: '127.0.0.2' }),
          });
          const world = await hostileWorld({
            api: (_, here) => ({
              status,
              headers: {
                location: `${target === 'the same origin' ? here.origin : other.origin}/v1/taken`,
              },
            }),
          });
          const ran = await attack(line, {
            env: { ...world.env, ROSTERCTL_RETRIES: '0', NODE_EXTRA_CA_CERTS: authorityFile },
          });
          // A 301 to 303 may follow a write that was processed.
          const isOpen = status < 304 && method !== 'GET';
          expect({ code: ran.code, stdout: ran.stdout }).toEqual({
            code: isOpen ? 10 : 1,
            stdout: '',
          });
          expect(ran.stderr).toMatch(isOpen ? /may have taken effect/ : /Unexpected redirect/);
          expect(world.requests.map((each) => each.method)).toEqual([method]);
          expect(world.requests[0]?.headers['x-api-key']).toBe(key);
          expect(other.connections()).toBe(0);
          expect(other.received()).not.toContain(key);
        },
        // Node reads the certificates of the other scheme when it starts; whoever follows also connects without them.
        { inside: status !== 301 || (method !== 'GET' && target !== 'another scheme') },
      );
