import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { listBackup } from '../../src/backups/layout.js';
import { verifySnapshots } from '../../src/backups/verify.js';
import { documentStore, flakyStore, type Stored, stored } from '../support/document-store.js';
import { rosterctl, startLine, temporaryFolder } from '../support/run.js';

// Kills (-9) a backup repeatedly at random moments, from a store that also drops connections, while
// documents change. A snapshot with its final name is always whole, what was fetched is not fetched
// again, and the next run continues.

const kills = Number(process.env['CRASH_KILLS'] ?? 20);
const perRound = 5;

const paper = (index: number, round: number): Stored =>
  stored(`doc_${index}`, randomBytes(60_000 + index), {
    updatedAt: `2026-01-${String(round + 1).padStart(2, '0')}T00:00:00Z`,
  });

test(`${kills} kills leave no half snapshot and lose no file`, { timeout: 900_000 }, async () => {
  const documents = Array.from({ length: 12 }, (_, index) => paper(index, 0));
  const players = Array.from({ length: 500 }, (_, index) => ({
    id: `player_${500 - index}`,
    name: `Player ${index}`,
  }));
  const lists: Readonly<Record<string, object>> = {
    teams: { teams: [], total: 0 },
    players: { players, total: players.length },
    'tryout-applications': { applications: [], total: 0 },
  };
  const cut = new Set<unknown>();
  const api = await documentStore({
    documents,
    api: ({ url }) => {
      const list = lists[/^\/v1\/([a-z-]+)/.exec(url)?.[1] ?? ''];
      return list && { status: 200, json: list };
    },
    store: flakyStore(0.2, 60_000, 15, (request) => cut.add(request)),
  });
  const home = temporaryFolder('kills');
  const folder = join(home, 'backups');
  const line = ['backup', 'create', folder, '--concurrency', '2', '--keep', '2'];
  const problems = async () => {
    const { snapshots } = await listBackup(folder);
    return (await verifySnapshots(snapshots, new AbortController().signal, () => {})).problems;
  };
  let killed = 0;
  for (let round = 0; killed < kills; round++) {
    // Some documents are new or changed in each round, the others are not fetched again.
    for (let index = 0; index < 6; index++)
      documents[(round + index) % 12] = paper((round + index) % 12, round);
    api.asked();
    api.store.requests.length = 0;
    for (let times = 0; times < perRound; times++) {
      const child = startLine(line, { env: api.env, home });
      await wait(100 + Math.random() * 350);
      const isOver = child.isOver();
      child.kill('SIGKILL');
      await child.ended;
      if (isOver) break;
      killed += 1;
      if (existsSync(folder)) expect(await problems()).toEqual([]);
    }
    const last = await rosterctl(line, { env: api.env, home });
    expect({ code: last.code, stderr: last.code === 0 ? '' : last.stderr }).toEqual({
      code: 0,
      stderr: '',
    });
    expect(await problems()).toEqual([]);
    const { snapshots, unfinished, removed, foreign: strangers } = await listBackup(folder);
    expect([unfinished, removed, strangers]).toEqual([[], [], []]);
    expect(snapshots.length).toBeLessThanOrEqual(2);
    // At most two are on their way when a kill comes. A lost connection asks for the rest, or for
    // everything if nothing had arrived.
    const whole = api.store.requests.filter(
      (request) => request.headers['range'] === undefined && !cut.has(request),
    );
    expect(whole.length).toBeLessThanOrEqual((round === 0 ? 12 : 6) + 2 * perRound);
  }
  const needed = readdirSync(join(folder, 'files'), { recursive: true, encoding: 'utf8' });
  expect(needed.filter((name) => name.length > 60).length).toBeLessThanOrEqual(24);
});
