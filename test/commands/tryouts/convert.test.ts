import { describe, expect, test } from 'vitest';
import { inProcess } from '../../support/in-process.js';
import { errorOf, rosterctl, temporaryFolder } from '../../support/run.js';
import { organization } from '../../support/service.js';
import { application, cut, type Instead, keep, steps, written } from './service.js';

const player = { convertedPlayerId: 'player_9', convertedPlayer: { id: 'player_9', name: 'Ann' } };

/** The lists of players and applications, read to name who holds the same e-mail. */
const holdersRead = ['GET v1', 'LIST'];

async function convert(
  words: string,
  fields: Record<string, unknown> = {},
  instead?: Instead,
  run: typeof rosterctl = inProcess,
) {
  const service = await keep([application('app_1', fields)], instead);
  const ran = await run(`tryouts convert app_1 ${words} --json`, { env: service.env });
  return { service, ran };
}

const onConvert =
  (reply: ReturnType<Instead>): Instead =>
  (_, step) =>
    step === 'CONVERT app_1' ? reply : undefined;

describe('a conversion', () => {
  test('sends only the organization and prints the application as read afterwards', async () => {
    const { service, ran } = await convert('--yes', {}, undefined, rosterctl);
    expect(ran.code).toBe(0);
    expect(ran.stderr).toBe(
      'Applicant app_1 (app_1) is not accepted: the status is pending. --accept sets it first.\n',
    );
    expect(steps(service)).toEqual(['GET app_1', ...holdersRead, 'CONVERT app_1', 'GET app_1']);
    expect(written(service)).toEqual([{ organizationId: organization }]);
    expect(JSON.parse(ran.stdout)).toMatchObject({
      id: 'app_1',
      convertedPlayerId: 'player_app_1',
    });
  });

  test('sends fields as typed', async () => {
    const { service } = await convert('--yes -F teamId=team_1 -F number=7 -f tag=007');
    expect(written(service)).toEqual([
      { organizationId: organization, teamId: 'team_1', number: 7, tag: '007' },
    ]);
  });

  test('of a player sends nothing and needs no confirmation', async () => {
    const { service, ran } = await convert('', player);
    expect(ran.code).toBe(0);
    expect(ran.stderr).toContain('already converted to Ann (player_9)');
    expect(steps(service)).toEqual(['GET app_1']);
    expect(JSON.parse(ran.stdout)).toMatchObject(player);
  });

  test('with --accept leaves the status of players alone, and says so once for the others', async () => {
    const ids = ['app_1', 'app_2', 'app_3', 'app_4', 'app_5', 'app_6'];
    const service = await keep(ids.map((id) => application(id, { ...player, status: 'rejected' })));
    const ran = await inProcess('tryouts convert --all --accept --yes', { env: service.env });
    expect([ran.code, written(service)]).toEqual([0, []]);
    const stays = 'is already a player; its status stays rejected.';
    expect(ran.stderr.match(/is already a player; its status stays/g)?.length).toBeLessThan(6);
    expect(ran.stderr).toContain(`Applicant app_1 (app_1) ${stays}`);
    expect(
      ran.stderr.match(/Others are already players, too; their statuses stay\./g),
    ).toHaveLength(1);
  });

  test('names the applicant, and without --yes or a terminal is rejected', async () => {
    const { service, ran } = await convert('');
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(errorOf(ran)['message']).toContain('Convert "Applicant app_1" (app_1) to a player?');
    expect(written(service)).toEqual([]);
  });

  test('the question names what else is sent', async () => {
    const { ran } = await convert('-F teamId=team_1 -F squad=A');
    expect(errorOf(ran)['message']).toContain(
      'Convert "Applicant app_1" (app_1) to a player with teamId=team_1, squad=A?',
    );
  });

  test('with --accept moves the status first and warns that Flows may act', async () => {
    const { service, ran } = await convert('--accept --yes');
    expect(ran.code).toBe(0);
    expect(steps(service)).toEqual([
      'GET app_1',
      ...holdersRead,
      'PATCH app_1',
      'GET app_1',
      'CONVERT app_1',
      'GET app_1',
    ]);
    expect(written(service)).toEqual([
      { organizationId: organization, status: 'accepted' },
      { organizationId: organization },
    ]);
    expect(ran.stderr).toContain('Flows');
  });

  test('with --accept of an accepted applicant sends no status', async () => {
    const { service } = await convert('--accept --yes', { status: 'accepted' });
    expect(steps(service)).toEqual(['GET app_1', ...holdersRead, 'CONVERT app_1', 'GET app_1']);
  });

  test('is not sent if the acceptance is rejected', async () => {
    const { service, ran } = await convert('--accept --yes', {}, (_, step) =>
      step === 'PATCH app_1' ? { status: 409, json: { error: 'conflict' } } : undefined,
    );
    expect(ran.code).toBe(6);
    expect(steps(service)).toEqual(['GET app_1', ...holdersRead, 'PATCH app_1']);
  });

  test('in a dry run shows both requests and sends none', async () => {
    const { service, ran } = await convert('--accept -n');
    expect(ran.code).toBe(0);
    expect(written(service)).toEqual([]);
    expect(JSON.parse(ran.stdout)).toMatchObject({
      requests: [
        { method: 'PATCH', basis: 'stated', body: { status: 'accepted' } },
        { method: 'POST', path: '/tryout-applications/app_1/convert-to-player' },
      ],
      changes: [
        { field: 'status', from: 'pending', to: 'accepted' },
        { field: 'convertedPlayerId', from: null },
      ],
    });
  });

  test.each([
    ['another application', application('app_2')],
    ['another, converted application', application('app_2', player)],
    ['another application in an envelope', { application: application('app_2') }],
  ])('that is answered with %s is not done', async (_, json) => {
    const { ran } = await convert('--yes', {}, onConvert({ status: 200, json }));
    expect([ran.code, ran.stdout]).toEqual([1, '']);
    expect(errorOf(ran)['code']).toBe('notApplied');
  });

  test.each([{ id: 'app_1', status: 'accepted' }, { application: application('app_1') }])(
    'whose answer shows the application alone, which has no player, is not done: %j',
    async (json) => {
      const { service, ran } = await convert('--yes', {}, onConvert({ status: 200, json }));
      expect([ran.code, errorOf(ran).code]).toEqual([1, 'notApplied']);
      expect(steps(service).filter((step) => step === 'CONVERT app_1')).toHaveLength(1);
    },
  );

  test('of an unknown application is not found', async () => {
    const { service } = await convert('--yes');
    const ran = await inProcess('tryouts convert nobody --yes --json', { env: service.env });
    expect(ran).toMatchObject({ code: 5, stdout: '' });
  });
});

describe('a lost response', () => {
  test('is done when the application shows its player', async () => {
    const instead: Instead = (_, step) =>
      step === 'CONVERT app_1'
        ? (request, response) => {
            service.kept.set('app_1', application('app_1', player));
            cut(request, response);
          }
        : undefined;
    const service = await keep([application('app_1')], instead);
    const ran = await inProcess('tryouts convert app_1 --yes --json --retries 0', {
      env: service.env,
    });
    expect(ran.code).toBe(0);
    expect(JSON.parse(ran.stdout)).toMatchObject(player);
    expect(written(service)).toHaveLength(1);
  });

  test('is retried once if it does not, and then unknown', async () => {
    const { service, ran } = await convert('--yes --retries 1', {}, onConvert(cut));
    expect(ran).toMatchObject({ code: 10, stdout: '' });
    expect(written(service)).toHaveLength(2);
    // All attempts of a row share --retries.
    const once = await convert('--yes --retries 0', {}, onConvert(cut));
    expect(once.ran).toMatchObject({ code: 10, stdout: '' });
    expect(written(once.service)).toHaveLength(1);
  });
});

describe('409', () => {
  test('is done when the application shows its player', async () => {
    let reads = 0;
    const { ran } = await convert('--yes', {}, (_, step) => {
      if (step === 'CONVERT app_1') return { status: 409, json: { error: 'alreadyConverted' } };
      reads += 1;
      return reads === 1 ? undefined : { status: 200, json: application('app_1', player) };
    });
    expect(ran.code).toBe(0);
    expect(JSON.parse(ran.stdout)).toMatchObject(player);
  });

  test('is a conflict when it does not', async () => {
    const { ran } = await convert(
      '--yes',
      {},
      onConvert({ status: 409, json: { error: 'conflict' } }),
    );
    expect(ran).toMatchObject({ code: 6, stdout: '' });
  });
});

describe('404', () => {
  // As Fastify answers a route that it does not have.
  const message = 'Route POST:/v1/tryout-applications/app_1/convert-to-player not found';

  test('names the request, because the application was there a moment ago', async () => {
    const { ran } = await convert(
      '--yes',
      {},
      onConvert({ status: 404, json: { statusCode: 404, error: 'Not Found', message } }),
    );
    expect(ran).toMatchObject({ code: 5, stdout: '' });
    expect(errorOf(ran)).toMatchObject({
      message: `POST /tryout-applications/{applicationId}/convert-to-player was not found (Not Found). The service says: ${message}`,
      hint: 'See: rosterctl tryouts get app_1',
    });
  });
});

describe('after a successful conversion', () => {
  test('a read that fails is a note', async () => {
    let reads = 0;
    const { ran } = await convert('--yes', {}, (_, step) => {
      if (step !== 'GET app_1') return undefined;
      reads += 1;
      return reads === 1 ? undefined : { status: 404, json: { error: 'notFound' } };
    });
    expect(ran.code).toBe(0);
    expect(ran.stderr).toContain(
      'app_1: done, but it could not be read again: Application app_1 was not found (notFound).',
    );
    expect(JSON.parse(ran.stdout)).toEqual({ id: 'app_1', convertedPlayerId: 'player_app_1' });
  });

  test('a read that lags behind is repeated until it shows the player', async () => {
    let convertedAt = Number.POSITIVE_INFINITY;
    const { ran } = await convert('--yes', {}, (_, step) => {
      if (step === 'CONVERT app_1') convertedAt = Date.now();
      const lags = step === 'GET app_1' && Date.now() - convertedAt < 100;
      return lags ? { status: 200, json: application('app_1') } : undefined;
    });
    expect([ran.code, ran.stderr]).toEqual([0, expect.not.stringContaining('does not show it')]);
    expect(JSON.parse(ran.stdout)).toMatchObject({ convertedPlayerId: 'player_app_1' });
  });

  test.each(['app_1', 'app_1 app_2'])(
    'reads that lag behind make no second player of two conversions at once, or of a second one: %s',
    async (ids) => {
      const convertedAt = new Map<string, number>();
      const all = ['app_1', 'app_2'].map((id) => application(id));
      const service = await keep(all, (_, step) => {
        const [verb, id = ''] = step.split(' ');
        if (verb === 'CONVERT') convertedAt.set(id, convertedAt.get(id) ?? Date.now());
        const lags = (each: string) => Date.now() - (convertedAt.get(each) ?? 0) < 700;
        if (verb === 'GET' && id.startsWith('app_') && lags(id))
          return { status: 200, json: application(id) };
        const isLate = verb === 'LIST' && all.some((each) => lags(each.id));
        return isLate ? { status: 200, json: all } : undefined;
      });
      const home = temporaryFolder();
      const line = `tryouts convert ${ids} --yes --wait-lock 20s`;
      const start = () => rosterctl(line, { env: service.env, home });
      const [first, beside] = await Promise.all([start(), start()]);
      const after = await start();
      expect([first.code, beside.code, after.code]).toEqual([0, 0, 0]);
      const sent = steps(service).filter((step) => step.startsWith('CONVERT'));
      expect(sent.toSorted()).toEqual(ids.split(' ').map((id) => `CONVERT ${id}`));
    },
  );

  test('an application that shows no player yet is printed with a note', async () => {
    const { ran } = await convert(
      '--yes',
      {},
      onConvert({ status: 202, json: { player: { id: 'player_5' } } }),
    );
    expect(ran.code).toBe(0);
    expect(ran.stderr).toContain('answered with player_5');
    expect(JSON.parse(ran.stdout)).toMatchObject({ id: 'app_1', convertedPlayerId: null });
  });
});

test('several conversions print a report with the new players', async () => {
  const service = await keep([
    application('app_1', { email: 'same@example.com' }),
    application('app_2', { email: 'SAME@example.com' }),
    application('app_3', player),
  ]);
  const ran = await rosterctl('tryouts convert app_1 app_2 app_3 --yes --json', {
    env: service.env,
  });
  expect(ran.code).toBe(0);
  expect(JSON.parse(ran.stdout)).toMatchObject({
    action: 'tryouts.convert',
    summary: { total: 3, changed: 2, unchanged: 1 },
    results: [
      { id: 'app_1', result: 'changed', after: { convertedPlayerId: 'player_app_1' } },
      { id: 'app_2', result: 'changed', after: { convertedPlayerId: 'player_app_2' } },
      { id: 'app_3', result: 'unchanged', after: { convertedPlayerId: 'player_9' } },
    ],
  });
  expect(
    ran.stderr.match(/Applicant app_1 \(app_1\) and .* have the same e-mail: one person/g),
  ).toHaveLength(1);
});
