import {
  appendFileSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { resolvePaths } from '../../src/config/paths.js';
import type { Context } from '../../src/context.js';
import { GuardError } from '../../src/errors.js';
import { sealLine } from '../../src/files/synced-lines.js';
import {
  openQueue,
  type QueueEntry,
  unsentDecisions,
  unsentReviews,
} from '../../src/review/queue.js';
import { dequeueDone } from '../../src/review/review.js';
import { codePoint } from '../support/code-point.js';
import { converse } from '../support/converse.js';
import { temporaryFolder } from '../support/run.js';

const place = { service: 'https://api.example.com/v1', organization: 'org_7', profile: 'club' };

/** The queue of a fresh user, opened as often as wanted. */
function user() {
  const home = temporaryFolder();
  const paths = resolvePaths({ env: { HOME: home }, platform: 'linux', uid: process.getuid?.() });
  const self = { pid: process.pid, isAlive: () => true };
  const folder = join(home, '.local/state/rosterctl/reviews');
  const settings = { profile: { name: place.profile } };
  const api = { service: place.service, organizationId: place.organization };
  return {
    open: (where = place, discards = false) => openQueue(paths, where, { self, discards }),
    context: { settings, paths, self, api } as unknown as Context,
    folder,
    state: join(home, '.local/state/rosterctl'),
    file: () => join(folder, readdirSync(folder).find((name) => name.endsWith('.jsonl')) ?? ''),
  };
}

function decided(id: string, status: string): QueueEntry {
  return { kind: 'decision', id, queued: { name: id, seen: 'pending', decision: { status } } };
}

test('decisions are on disk before they count, in a file of mine alone', async () => {
  const { open, file, folder } = user();
  const queue = await open();
  await queue.append(decided('app_1', 'shortlisted'));
  expect(readFileSync(file(), 'utf8')).toContain('"app_1"');
  expect(statSync(file()).mode & 0o777).toBe(0o600);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  await queue.append(decided('app_2', 'rejected'));
  await queue.append({ kind: 'undo', id: 'app_2', queued: undefined });
  await queue.close();
  const again = await open();
  expect([...again.present().queued.keys()]).toEqual(['app_1']);
  expect(again.present().history).toEqual([{ id: 'app_1', before: undefined }]);
  await again.close();
});

test('a last line that was cut is dropped, wherever it was cut', async () => {
  const { open, file } = user();
  const queue = await open();
  await queue.append(decided('app_1', 'shortlisted'));
  const whole = statSync(file()).size;
  await queue.append(decided('app_2', 'rejected'));
  await queue.close();
  for (let size = statSync(file()).size - 1; size > whole; size -= 7) {
    truncateSync(file(), size);
    const cut = await open();
    expect([...cut.present().queued.keys()]).toEqual(['app_1']);
    await cut.append(decided('app_3', 'accepted'));
    await cut.close();
    const again = await open();
    expect([...again.present().queued.keys()]).toEqual(['app_1', 'app_3']);
    await again.append({ kind: 'undo', id: 'app_3', queued: undefined });
    await again.close();
    truncateSync(file(), whole);
    appendFileSync(file(), '{"kind":"decision","id":"app_2","queued":{"name":"x');
  }
});

test('a damaged line is an error that names the way out, and --discard takes it', async () => {
  const { open, file } = user();
  const queue = await open();
  await queue.append(decided('app_1', 'shortlisted'));
  await queue.append(decided('app_2', 'rejected'));
  await queue.close();
  writeFileSync(file(), readFileSync(file(), 'utf8').replace('shortlisted', 'rejectedddd'));
  await expect(open()).rejects.toMatchObject({
    code: 'damaged',
    hint: expect.stringContaining('tryouts review --discard'),
  });
  // Asked, and answered with No.
  await (await open(place, true)).close();
  expect(readFileSync(file(), 'utf8')).toContain('app_2');
  const dropped = await open(place, true);
  await dropped.discard();
  await dropped.close();
  const empty = await open();
  expect(empty.present().queued.size).toBe(0);
  await empty.close();
});

test('one review at a time; another organization has a queue of its own', async () => {
  const { open } = user();
  const first = await open();
  const error: unknown = await open().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(GuardError);
  expect(error).toMatchObject({ code: 'locked', exitName: 'guarded' });
  const other = await open({ ...place, organization: 'org_8' });
  await other.close();
  await first.close();
  await (await open()).close();
});

test('a queue without a decision leaves no file', async () => {
  const { open, folder } = user();
  const queue = await open();
  await queue.append(decided('app_1', 'shortlisted'));
  await queue.append({ kind: 'left', id: 'app_1' });
  await queue.close();
  expect(readdirSync(folder)).toEqual([]);
});

test('unsent reviews are counted without opening them', async () => {
  const { open, state } = user();
  expect(await unsentReviews(state)).toEqual([]);
  const queue = await open();
  await queue.append(decided('app_1', 'shortlisted'));
  expect(await unsentReviews(state)).toMatchObject([{ ...place, count: 1 }]);
  await queue.close();
  const { profile: name, ...here } = place;
  const elsewhere = 'https://b.example/v1';
  const all = [
    { name, ...here },
    { name: 'renamed', ...here },
    { name, ...here, service: elsewhere },
    { name: 'other', ...here, service: elsewhere },
    { name, ...here, organization: 'org_8' },
  ];
  const counts = await Promise.all(all.map((each) => unsentDecisions(state, each)));
  expect(counts).toEqual([1, 1, 1, 0, 0]);
});

test('a queue of another version is refused, and --discard takes it', async () => {
  const { open, file } = user();
  const queue = await open();
  await queue.append(decided('app_1', 'shortlisted'));
  await queue.close();
  writeFileSync(file(), sealLine({ kind: 'review', format: 2, ...place }));
  await expect(open()).rejects.toMatchObject({ code: 'format' });
  const dropped = await open(place, true);
  await dropped.discard();
  await dropped.close();
  await (await open()).close();
});

test('a run takes only decisions that are still as it sent them, with their notes', async () => {
  const { open, context } = user();
  const queue = await open();
  await queue.append(decided('app_1', 'shortlisted'));
  await queue.append(decided('app_2', 'rejected'));
  const note = { text: 'Strong aim', day: '2026-11-22' };
  const noted = { name: 'app_3', seen: 'pending', decision: { status: 'accepted', note } };
  await queue.append({ kind: 'decision', id: 'app_3', queued: noted });
  await queue.close();
  const sent = ['app_1', 'app_2', 'app_3', 'app_4'].map((id, index) => ({
    row: index + 1,
    id,
    own: { status: ['shortlisted', 'accepted', 'accepted', 'rejected'][index] },
  }));
  await dequeueDone(context, sent);
  const again = await open();
  expect([...again.present().queued.keys()]).toEqual(['app_2', 'app_3']);
  await again.close();
});

test('what is taken up is what was kept, whatever the decisions hold', async () => {
  const text = fc.string({ unit: codePoint, maxLength: 20 });
  const entry = fc.record({
    kind: fc.constant('decision' as const),
    id: text,
    queued: fc.record({
      name: text,
      seen: fc.oneof(text, fc.constant(null)),
      decision: fc.record({ status: text, note: fc.record({ text, day: text }) }),
    }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(entry, { minLength: 1, maxLength: 5 }), async (entries) => {
      const { open } = user();
      const queue = await open();
      for (const each of entries) await queue.append(each);
      const kept = queue.present();
      await queue.close();
      const again = await open();
      expect(again.present()).toEqual(kept);
      await again.close();
    }),
    { numRuns: 15 },
  );
});

test.each([
  ['--resume', 'There is no review to resume.', 'Start one: rosterctl -p sandbox tryouts review'],
  ['--yes', 'A review asks before it sends, and --yes cannot answer for you.', 'Leave out --yes.'],
])('a review with %s is refused: %s', async (flag, message, hint) => {
  const line = ['-p', 'sandbox', 'tryouts', 'review', flag];
  const { shown, code } = await converse(temporaryFolder(), line);
  expect(code).toBe(2);
  expect(shown).toContain(message);
  expect(shown).toContain(hint);
});

test('a review that is left says how to resume it with the same connection', async () => {
  const line = '-p sandbox tryouts review'.split(' ');
  const keys = [
    [/ send/, 's'],
    [/1 shortlisted/, 'q'],
  ] as const;
  const { shown, code } = await converse(temporaryFolder(), line, keys);
  expect(code).toBe(0);
  expect(shown).toContain('Resume, then send with w: rosterctl -p sandbox tryouts review --resume');
});
