import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { report, userOf } from '../../bulk/user.js';
import { inProcess } from '../../support/in-process.js';
import { application, keep } from './service.js';

test('a note file with a NUL is rejected before anything is sent', async () => {
  const service = await keep([application('app_1')]);
  const user = userOf(service);
  writeFileSync(join(user.home, 'note.txt'), 'one\0two');
  const ran = await user.run(`tryouts update app_1 --note-file ${user.home}/note.txt`);
  expect([ran.code, service.requests.length]).toEqual([2, 0]);
  expect(ran.stderr).toMatch(/note\.txt holds a NUL character; this is not UTF-8 text\.\n/);
});

/** A service that replaces control characters in notes. */
async function signing(sign: string) {
  const service = await keep([application('app_1')], (request, step) => {
    if (step !== 'PATCH app_1') return undefined;
    const { internalNotes } = JSON.parse(request.body.toString()) as { internalNotes: string };
    const kept = { ...application('app_1'), internalNotes: internalNotes.replace('\u0007', sign) };
    service.kept.set('app_1', kept);
    return { status: 200, json: kept };
  });
  return userOf(service, inProcess);
}

test.each(['', '\ufffd', '\u2407'])(
  'a control character in a note that a service stores as "%s" counts as done each time',
  async (sign) => {
    const user = await signing(sign);
    writeFileSync(join(user.home, 'note.txt'), 'ring\u0007!');
    writeFileSync(join(user.home, 'rows.csv'), 'id,note\napp_1,ring\u0007!\n');
    for (const _ of [1, 2]) {
      const one = await user.run(
        `tryouts update app_1 --note-file ${user.home}/note.txt --yes --json`,
      );
      expect([one.code, one.stderr]).toEqual([0, '']);
      const many = await user.run(`tryouts update --csv ${user.home}/rows.csv --yes --json`);
      expect([many.code, report(many).summary]).toMatchObject([0, { changed: 1 }]);
    }
  },
);
