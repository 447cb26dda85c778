import { once } from 'node:events';
import { expect, test } from 'vitest';
import { resolvePaths } from '../../src/config/paths.js';
import { cursorPlace, ensureCursorFolder, readCursor } from '../../src/cursors/cursor-file.js';
import { application, cut, keep } from '../commands/tryouts/service.js';
import { startRosterctl, temporaryFolder } from '../support/run.js';
import { seeded } from '../support/seeded.js';
import { organization, type Reply } from '../support/service.js';

// Cron ticks of --since-last over a list that changes all the time, while answers fail, readers go
// away, disks are full and processes are killed (-9). Every new row and every change is told.

const ticks = Number(process.env['CURSOR_TICKS'] ?? 30);
const seed = Number(process.env['CRASH_SEED'] ?? 20_260_301);
type Name = 'mail' | 'bot';
const statuses = ['pending', 'reviewing', 'shortlisted', 'accepted'];

test(`${ticks} ticks tell every row and every change`, { timeout: 1_800_000 }, async () => {
  const random = seeded(seed);
  const below = (count: number) => Math.floor(random() * count);
  let instead: Reply | undefined;
  const { kept, env, baseUrl } = await keep([], () => instead);
  const home = temporaryFolder();
  const figures = { rows: 0, changes: 0, removed: 0, kills: 0, failures: 0, lost: 0, told: 0 };

  const paths = resolvePaths({ env: { HOME: home }, platform: 'linux', uid: process.getuid?.() });
  const folder = ensureCursorFolder(paths, cursorPlace(baseUrl, organization));
  const stateOf = (name: Name) => readCursor(folder, { name, resource: 'tryouts' }, paths.owner);

  /** What each name was told last of each row when it succeeded: its status. */
  const told: Record<Name, Map<string, string>> = { mail: new Map(), bot: new Map() };
  const take = (name: Name, text: string) => {
    // The last line may be torn.
    for (const line of text.split('\n').slice(0, -1)) {
      const [id = '', status = ''] = line.split(' ');
      told[name].set(id, status);
      figures.told += 1;
    }
  };

  const change = () => {
    for (let count = below(4); count > 0; count--) {
      // Many have the same time, and some come late.
      const submittedAt = new Date(Date.UTC(2026, 2, 1 + below(5))).toISOString();
      const id = `app_${figures.rows++}`;
      kept.set(id, application(id, { submittedAt }));
    }
    for (const [id, record] of kept)
      if (random() < 0.05) {
        kept.set(id, { ...record, status: statuses[below(4)] ?? '' });
        figures.changes += 1;
      } else if (random() < 0.01 && told.mail.has(id)) {
        kept.delete(id);
        for (const name of ['mail', 'bot'] as const) told[name].delete(id);
        figures.removed += 1;
      }
  };

  const run = async (line: readonly string[], { mayFail = true } = {}) => {
    const fate = mayFail ? random() : 1;
    const through = fate < 0.06 ? 'exec "$@" > /dev/full' : undefined;
    instead = fate < 0.12 && fate >= 0.06 ? faults[below(faults.length)] : undefined;
    const child = startRosterctl(line, { env, home, ...(through && { through }) });
    child.stdin.on('error', () => {}).end();
    child.stderr.resume();
    let stdout = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    const isLost = fate >= 0.12 && fate < 0.2;
    if (isLost) child.stdout.destroy();
    const timer =
      fate >= 0.2 && fate < 0.5
        ? setTimeout(() => child.kill('SIGKILL'), 60 + random() * 200)
        : undefined;
    const [code] = (await once(child, 'close')) as [number | null];
    clearTimeout(timer);
    if (code === null) figures.kills += 1;
    else if (code !== 0 && code !== 12) figures[isLost ? 'lost' : 'failures'] += 1;
    return { code, stdout: isLost ? '' : stdout };
  };

  const list = (name: Name) => [
    ...['tryouts', 'list', '--since-last', name, '--template', '{id} {status}', '-q'],
    ...['--retries', '0', '--initial', 'all', ...(name === 'bot' ? ['--changed', 'status'] : [])],
  ];
  const tick = async (name: Name) => {
    const flags = random() < 0.3 ? ['--limit', `${1 + below(3)}`] : [];
    const before = stateOf(name)?.lastAt;
    const isPeek = random() < 0.4;
    const { code, stdout } = await run([...list(name), ...flags, ...(isPeek ? ['--peek'] : [])]);
    if (isPeek) {
      expect(stateOf(name)?.lastAt).toBe(before);
      // A post that fails is not committed.
      if (code !== 0 || random() < 0.3) return;
      await run(['cursors', 'commit', name]);
    }
    // A killed process may have recorded what it printed, or not.
    const isRecorded = stateOf(name)?.lastAt !== before;
    if (!isPeek && code !== null) expect(isRecorded).toBe(code === 0);
    if (isRecorded) take(name, stdout);
  };

  for (let count = 0; count < ticks; count++) {
    change();
    await tick(random() < 0.5 ? 'mail' : 'bot');
  }
  for (const name of ['mail', 'bot'] as const) {
    const last = await run(list(name), { mayFail: false });
    expect(last.code).toBe(0);
    take(name, last.stdout);
    expect((await run(list(name), { mayFail: false })).stdout).toBe('');
  }
  const forgotten = [...kept.keys()].filter((id) => !told.mail.has(id) || !told.bot.has(id));
  const stale = [...kept.values()].filter(({ id, status }) => told.bot.get(id) !== status);
  expect({ forgotten, stale }).toEqual({ forgotten: [], stale: [] });
  console.info(`  ${ticks} ticks: ${JSON.stringify(figures)}`);
});

const faults: readonly Reply[] = [
  { status: 500, json: { error: 'internal' } },
  { status: 200, json: { applications: [], total: 99 } },
  { status: 200, text: '{"applications":[{"id":"app_0"' },
  cut,
];
