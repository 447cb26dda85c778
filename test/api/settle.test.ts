import { describe, expect, test } from 'vitest';
import { settle } from '../../src/api/settle.js';
import { NetworkError, UnknownOutcomeError, UsageError } from '../../src/errors.js';
import { rosterctl } from '../support/run.js';
import { organization, type Recorded, recordingService, type Reply } from '../support/service.js';
import { thrownBy } from './wiring.js';

const call = { method: 'POST', path: '/teams' };
const unknown = () => Promise.reject(new UnknownOutcomeError('Lost.', call, { hint: 'Read.' }));

const failing = () =>
  Promise.reject(new NetworkError('x', { reason: 'lost', origin: 'https://x' }));
const never = () => Promise.reject(new Error('read'));

function world(wait: string | undefined, signal = new AbortController().signal) {
  const notes: string[] = [];
  return {
    env: { ROSTERCTL_SETTLE: wait },
    signal,
    notes,
    note: (text: string) => notes.push(text),
  };
}

describe.concurrent('a write whose outcome is unknown', () => {
  test('is done when a reading shows it', async () => {
    const told = world('20ms');
    expect(await settle(unknown, async () => 'there', told)).toEqual({ seen: 'there' });
    expect(told.notes).toHaveLength(1);
  });

  test('stays unknown when none does, and says that it was read', async () => {
    let readings = 0;
    const error = await thrownBy(settle(unknown, async () => void readings++, world('20ms')));
    expect(error).toBeInstanceOf(UnknownOutcomeError);
    expect((error as UnknownOutcomeError).hint).toContain('read again 20ms after it was sent');
    expect(readings).toBe(1);
  });

  test('is read a second time when the first reading came too soon', async () => {
    const readings: number[] = [];
    const start = performance.now();
    const outcome = await settle(
      unknown,
      async () => {
        readings.push(performance.now() - start);
        return readings.length === 2 ? 'late' : undefined;
      },
      world('2.4s'),
    );
    expect(outcome).toEqual({ seen: 'late' });
    expect(readings[0]).toBeGreaterThanOrEqual(1990);
    expect(readings[1]).toBeGreaterThanOrEqual(2390);
  });

  test('a reading that fails shows nothing', async () => {
    const error = await thrownBy(settle(unknown, failing, world('20ms')));
    expect(error).toBeInstanceOf(UnknownOutcomeError);
  });

  test('an interruption ends the waiting and leaves it unknown', async () => {
    const stop = new AbortController();
    const error = thrownBy(settle(unknown, async () => 'there', world('1h', stop.signal)));
    stop.abort();
    expect(await error).toBeInstanceOf(UnknownOutcomeError);
  });
});

test('a certain outcome is neither waited for nor read', async () => {
  expect(await settle(async () => 7, never, world('1h'))).toEqual({ answer: 7 });
  const refused = new UsageError('no');
  expect(await thrownBy(settle(() => Promise.reject(refused), never, world('1h')))).toBe(refused);
});

test('a setting that is no time is told before anything is sent', async () => {
  let sent = 0;
  const error = await thrownBy(
    settle(
      async () => void sent++,
      async () => undefined,
      world('15'),
    ),
  );
  expect(error).toBeInstanceOf(UsageError);
  expect((error as UsageError).message).toContain('ROSTERCTL_SETTLE');
  expect(sent).toBe(0);
});

// --- as commands ---

const application = {
  id: 'app_1',
  organizationId: organization,
  status: 'pending',
  name: 'Ann',
  email: 'ann@example.org',
  formResponses: {},
  gamerTags: [],
  convertedPlayerId: null as string | null,
  submittedAt: '2026-01-01T00:00:00Z',
  createdAt: '2026-01-01T00:00:00Z',
  updatedAt: '2026-01-01T00:00:00Z',
};

/** A service that takes writes and loses its answers; `takes` false: it loses the writes, too. */
async function losing(takes: boolean, lateMs = 0) {
  const state = {
    app: { ...application },
    team: { id: 'team_1', organizationId: organization, name: 'Old' },
    documents: [] as object[],
  };
  const take = ({ url, body }: Recorded) => {
    const fields = JSON.parse(body.toString()) as { status?: string; name?: string };
    if (url.includes('convert')) state.app.convertedPlayerId = 'player_9';
    else if (url.includes('tryout')) state.app.status = fields.status ?? '';
    else if (url.includes('teams')) state.team.name = fields.name ?? '';
    else state.documents.push({ id: 'doc_1', ...fields });
  };
  const service = await recordingService((request): Reply => {
    if (request.method !== 'GET')
      return (_, response) => {
        if (takes) setTimeout(() => take(request), lateMs);
        response.destroy();
      };
    if (request.url.includes('documents')) return { status: 200, json: state.documents };
    const json = request.url.includes('tryout') ? state.app : state.team;
    return { status: 200, json };
  });
  const writes = () => service.requests.filter(({ method }) => method !== 'GET').length;
  return { ...service, writes };
}

const document =
  'docs create --file-key documents/x/a.pdf --file-ref private://a --content-type application/pdf --size-bytes 3 --name A -y';

describe.concurrent.each([
  ['a status', 'tryouts set-status app_1 --to accepted -y --json', '"status":"accepted"', 2],
  ['a conversion', 'tryouts convert app_1 -y --json', '"convertedPlayerId":"player_9"', 2],
  ['a team', 'teams update team_1 --name New -y --json', '"name":"New"', 2],
  ['a document', `${document} --json`, '"id":"doc_1"', 1],
])('%s whose answer is lost', (_, line, shown, times) => {
  test('is a success once reading shows it, and is sent once', async () => {
    const service = await losing(true);
    const { code, stdout, stderr } = await rosterctl(line, { env: service.env });
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stdout).toContain(shown);
    expect(service.writes()).toBe(1);
  });

  test('is sent again when reading shows that it was not done, and exits 10 in the end', async () => {
    const service = await losing(false);
    const { code, stdout, stderr } = await rosterctl(line, { env: service.env });
    expect(code).toBe(10);
    expect(`${stdout}${stderr}`).toContain('may have taken effect');
    expect(stdout).not.toContain(shown);
    expect(service.writes()).toBe(times);
  });
});

test.concurrent('a write that takes effect after the first look is found by the second', async () => {
  const service = await losing(true, 2300);
  const env = { ...service.env, ROSTERCTL_SETTLE: '3s' };
  const { code } = await rosterctl('tryouts set-status app_1 --to accepted -y', { env });
  expect(code).toBe(0);
  expect(service.writes()).toBe(1);
});

test.concurrent('a create without a witness is unknown at once', async () => {
  const service = await losing(true);
  const { code } = await rosterctl('teams create --name New -y', { env: service.env });
  expect(code).toBe(10);
  expect(service.requests).toHaveLength(1);
});
