import { describe, expect } from 'vitest';
import { fault } from './support/case.js';
import { end } from './support/wire.js';
import { application, hostileWorld } from './support/world.js';

const one = 'tryouts update app_1 --status reviewing';

describe('reads age', () => {
  fault('F132', 'an answer that took long is read again before the write', async (attack) => {
    const world = await hostileWorld({
      api: ({ method, url, nth }, here) => {
        if (method !== 'GET' || !url.includes('app_1') || nth > 1) return undefined;
        const body = JSON.stringify(application);
        const half = Math.ceil(body.length / 2);
        return (socket) => {
          socket.write(
            `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body.slice(0, half)}`,
          );
          setTimeout(() => {
            here.application['status'] = 'accepted';
            socket.write(body.slice(half));
          }, 3000);
        };
      },
    });
    const ran = await attack(`${one} --if-status pending --json`, { env: world.env });
    expect({ code: ran.code, stderr: ran.stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/app_1 was skipped: The status is accepted, not pending/),
    });
    expect(world.count('PATCH')).toBe(0);
  });

  fault('F133', 'a lost write is judged by every guard before it is sent again', async (attack) => {
    const world = await hostileWorld({
      api: ({ method }, here) => {
        if (method !== 'PATCH' || here.count('PATCH') > 1) return undefined;
        here.application['name'] = 'Somebody else';
        return end;
      },
    });
    const ran = await attack(`${one} --if name=Ann --json`, { env: world.env });
    expect({ code: ran.code, stderr: ran.stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/app_1 was skipped: The condition name=Ann is not met/),
    });
    expect(world.count('PATCH')).toBe(1);
    expect(world.done.patches).toBe(0);
  });

  fault('F134', 'a lost write that takes effect late is not sent again', async (attack) => {
    const world = await hostileWorld({
      api: (request, here) => {
        if (request.method !== 'PATCH') return undefined;
        setTimeout(() => here.carryOut(request), 400);
        return end;
      },
    });
    const env = { ...world.env, ROSTERCTL_SETTLE: '1500ms' };
    const ran = await attack(`${one} --json`, { env });
    expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 });
    expect(world.count('PATCH')).toBe(1);
    expect(world.application['status']).toBe('reviewing');
  });
});
