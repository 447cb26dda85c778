import * as fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { type JsonObject, parseJson } from '../../src/data/json.js';
import { applicationCard } from '../../src/resources/cards/application.js';
import type { CardMaker } from '../../src/resources/cards/card.js';
import type { PastChange } from '../../src/resources/cards/history.js';
import { documentCard, playerCard, teamCard } from '../../src/resources/cards/roster.js';
import { createPaint } from '../../src/terminal/paint.js';
import { displayWidth } from '../../src/terminal/width.js';
import { apiTo } from '../api/wiring.js';
import { application } from '../commands/tryouts/service.js';
import { forbidden, hostileTexts, withoutColor } from '../support/hostile.js';
import { type Reply, recordingService } from '../support/service.js';

const now = new Date('2026-11-22T12:00:00Z');

const tag = (game: string, gamerTag: string) => ({ id: `tag_${game}`, game, gamerTag });

const nimbus = application('app_0064', {
  status: 'shortlisted',
  name: 'Nimbus Kolmarden',
  email: 'nimbus.kolmarden@example.com',
  discordUserId: '9000000000000100064',
  discordUsername: 'nimbusvole_demo',
  formId: 'form_valorant_2026',
  formResponses: {
    'What is your peak rank?': 'Immortal 1',
    'Hours per week': 11,
    'Can you travel to events?': true,
    'Agents you play': ['Omen', 'Sova'],
    'Second role': null,
    'When are you free?': { weekdays: ['mon', 'wed'], weekend: { saturday: false } },
    'Earlier teams': [{ name: 'Paper Lions B', years: 2 }, { name: 'Foxes' }],
    'Why us?': 'I like the way you review games.\nAnd the colours.',
  },
  internalNotes: '2026-11-22  Strong aim, quiet on comms\n2026-11-23  Call on Friday',
  gamerTags: [tag('Valorant', 'NimbusVole#DEMO'), tag('Overwatch 2', 'NimbusVole#DEMO')],
  submittedAt: '2026-11-22T08:05:00Z',
  updatedAt: '2026-11-22T11:00:00Z',
});

/** Wide, right-to-left, joined and hostile values beside empty ones. */
const awkward = application('app_0099', {
  name: '星見 そら 👩‍👩‍👧 نور الساحلي',
  email: '',
  discordUsername: null,
  formResponses: {
    'なぜこのチームに入りたいですか?': '長い答えです。'.repeat(12),
    'لماذا تريد الانضمام إلينا؟': 'أحب الطريقة التي تراجعون بها المباريات',
    'A question that is much longer than any column of labels could ever be, is it not?': 'yes',
    'Kite 🦊': '🦊🦊🦊',
    '\u001b[2Jcleared': '\u001b]0;title\u0007 \u202egnp.exe\u202c\r\nnext',
    '': '',
  },
  internalNotes: '',
  gamerTags: [tag('星', '\u001b[31mred')],
  submittedAt: 'soon',
  updatedAt: 'later',
});

const changes: readonly PastChange[] = [
  change('22 Nov', { status: 'reviewing' }, { status: 'shortlisted', internalNotes: 'sha256:1f' }),
  change('21 Nov', { status: 'pending' }, { status: 'reviewing' }),
  change('3 Jan 2025', {}, { id: 'app_0064', name: 'Nimbus' }),
];

function change(day: string, before: JsonObject, after: JsonObject): PastChange {
  const at = new Date(`${day.includes('20') ? day : `${day} 2026`} 10:12 UTC`);
  const head = { run: '20261122T101200000-d181ba', action: 'tryouts.update' };
  const from = { internalNotes: null, ...before };
  return { at, head: head as PastChange['head'], before: from, after, isUnknown: false };
}

const others = [
  nimbus,
  application('app_0041', {
    status: 'rejected',
    email: 'NIMBUS.Kolmarden@example.com',
    submittedAt: '2026-08-20T10:00:00Z',
  }),
  application('app_0007', {
    status: 'withdrawn',
    discordUserId: '9000000000000100064',
    submittedAt: '2026-03-01T10:00:00Z',
  }),
  application('app_0008'),
];

const listed = await recordingService(({ url }) => ({
  status: 200,
  json: url.includes('/teams/')
    ? [
        { id: 'team_2', name: 'Cobalt Herons' },
        { id: 'team_1', name: 'Lanternfish' },
      ]
    : url.includes('/players/')
      ? [
          { id: 'player_2', name: '星見 そら', teamIds: ['team_1'], role: 'Duelist' },
          { id: 'player_1', name: 'Mira Kite', team: { id: 'team_1' } },
          { id: 'player_3', name: 'Jonas Vale', teamIds: ['team_2'] },
          { id: 'player_4', name: 'Edda Dorsk', teamName: 'x', team: 'Lanternfish' },
          { id: 'player_5', name: 'Zoe', team: 'E\u0301toile' },
        ]
      : others,
}));

interface View {
  readonly columns?: number;
  readonly color?: boolean;
  readonly isUtf8?: boolean;
  readonly verbose?: boolean;
  readonly time?: 'iso' | 'local' | 'relative';
  readonly baseUrl?: string;
  readonly past?: readonly PastChange[];
}

const withConnection = (text: string) => text.replace('rosterctl', 'rosterctl -p club');

async function linesOf(make: CardMaker, record: JsonObject, view: View = {}) {
  const { columns = 80, color = false, isUtf8 = true, verbose = false, time, past = [] } = view;
  const { api } = apiTo(view.baseUrl ?? listed.baseUrl);
  const { signal } = new AbortController();
  const context = { api, signal, settings: { verbose, time }, withConnection };
  const lines = await make(context, record, past);
  return lines({ now, columns, isTerminal: true, isUtf8, paint: createPaint(color) });
}

// The first card loads what reads lists, which takes longer than the patience of a card on a busy machine.
beforeAll(() => linesOf(applicationCard, nimbus));

const screen = async (...args: Parameters<typeof linesOf>) =>
  `\n${(await linesOf(...args)).join('\n')}\n`;

const team = {
  id: 'team_1',
  organizationId: 'org_7',
  name: 'Lanternfish',
  shortName: 'LTF',
  logoUrl: 'https://example.com/logos/lanternfish.png',
  description: null,
  createdAt: '2025-10-01T10:00:00Z',
};
const file = {
  id: 'doc_1',
  name: 'Player contract Nimbus Kite.pdf',
  contentType: 'application/pdf',
  sizeBytes: 81_100,
  tags: ['contract', '2026-spring'],
  fileKey: 'documents/org_7/secret.pdf',
  createdAt: '2026-11-01T10:00:00Z',
};

describe('a card', () => {
  test.each([40, 80, 120, 200])('of an application at %i columns', async (columns) => {
    expect(await screen(applicationCard, nimbus, { columns, past: changes })).toMatchSnapshot();
    expect(await screen(applicationCard, awkward, { columns })).toMatchSnapshot();
  });

  test.each([40, 80, 120, 200])('of the other resources at %i columns', async (columns) => {
    const { formResponses: _, ...player } = nimbus;
    expect(await screen(teamCard, team, { columns })).toMatchSnapshot();
    expect(
      await screen(playerCard, { ...player, teamIds: ['team_1'] }, { columns }),
    ).toMatchSnapshot();
    expect(await screen(documentCard, file, { columns })).toMatchSnapshot();
  });

  test('in colour, in ASCII, with every field and with times as sent', async () => {
    expect(await screen(applicationCard, nimbus, { color: true, past: changes })).toMatchSnapshot();
    expect(
      await screen(applicationCard, nimbus, { isUtf8: false, past: changes }),
    ).toMatchSnapshot();
    expect(await screen(documentCard, file, { verbose: true, time: 'iso' })).toMatchSnapshot();
  });

  test('shows a field in its place only as plain text, and any other below', async () => {
    const email = ['mira@example.org', 'm.kite@example.org'];
    const discordUsername = { name: 'mira', verified: true };
    const player = { id: 'player_1', name: { first: 'Mira', last: 'Kite' }, status: [], email };
    expect(await linesOf(playerCard, { ...player, discordUsername, createdAt: [1, 2] })).toEqual([
      'player_1',
      'player_1',
      '',
      'Name',
      '  first  Mira',
      '  last   Kite',
      'E-mail   mira@example.org, m.kite@example.org',
      'Discord',
      '  name      mira',
      '  verified  yes',
      'Created  1, 2',
    ]);
    const paper = { ...file, name: 'a.pdf', tags: [], contentType: ['application/pdf', 'x'] };
    expect(await linesOf(documentCard, { ...paper, sizeBytes: '81100' })).toEqual([
      expect.stringMatching(/^a\.pdf +79\.2 KiB · 21 d ago$/),
      'doc_1',
      '',
      'Type  application/pdf, x',
    ]);
    for (const [size, shown] of [
      ['80 kB', '80 kB'],
      [parseJson('9007199254740993'), '9007199254740993'],
    ] as const)
      expect((await linesOf(documentCard, { ...paper, sizeBytes: size }))[0]).toContain(shown);
    const answers = await linesOf(applicationCard, {
      ...application('app_8'),
      email,
      submittedAt: { date: '2026-11-01' },
      convertedPlayer: { nick: 'mk' },
    });
    const text = answers.join('\n');
    expect(text).toMatch(/^E-mail +mira@example\.org, m\.kite@example\.org$/m);
    expect(text).toMatch(/^Submitted\n +date +2026-11-01$/m);
    expect(text).toMatch(/^Player\n +nick +mk$/m);
  });

  test('of a record with nothing but an id is that id', async () => {
    expect(await linesOf(playerCard, { id: 'player_1' })).toEqual(['player_1', 'player_1']);
  });
});

function check(lines: readonly string[], columns: number) {
  const bare = lines.map(withoutColor);
  const wide = bare.filter((line) => displayWidth(line) > columns);
  expect(wide.map((line) => line.slice(0, 300))).toEqual([]);
  expect(forbidden.exec(bare.join('\n').toWellFormed())).toBeNull();
}

describe('no line is wider than the terminal', () => {
  const widths = [40, 41, 59, 80, 120, 200, 250];

  test.each(hostileTexts.map((text, index) => [index + 1, text] as const))(
    'and nothing drives it: text %i in every field',
    async (_, text) => {
      const everywhere = {
        ...nimbus,
        name: text,
        status: text,
        email: text,
        discordUsername: text,
        internalNotes: text,
        formResponses: { [text]: text, list: [text, { [text]: text }] },
        gamerTags: [tag(text, text)],
        submittedAt: text,
        [text]: text,
      };
      for (const columns of widths)
        for (const make of [applicationCard, playerCard])
          check(await linesOf(make, everywhere, { columns, color: true }), columns);
    },
  );

  test('and no word is cut that fits into a line', async () => {
    const word = fc.stringMatching(/^[a-zäö星ل]{1,18}$/).filter((text) => displayWidth(text) <= 30);
    const prose = fc.array(word, { maxLength: 30 }).map((words) => words.join(' '));
    const answers = fc.dictionary(prose, prose, { maxKeys: 4 });
    await fc.assert(
      fc.asyncProperty(
        answers,
        prose,
        fc.integer({ min: 40, max: 250 }),
        async (form, notes, columns) => {
          const record = { ...nimbus, formResponses: form, internalNotes: notes };
          const lines = await linesOf(applicationCard, record, { columns });
          check(lines, columns);
          const shown = new Set(lines.flatMap((line) => line.split(/\s+/)));
          for (const text of [...Object.values(form), notes])
            for (const each of text.split(' ')) expect(shown).toContain(each);
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe('a list that cannot be trusted leaves its section out with a remark', () => {
  const cases: readonly (readonly [string, Reply, string])[] = [
    ['refused', { status: 403, json: { error: 'forbidden' } }, 'no permission'],
    ['broken', { status: 500, json: { error: 'oops' } }, 'the list could not be read'],
    [
      'in doubt',
      { status: 200, json: { items: others, hasMore: true } },
      'the list may be incomplete',
    ],
    ['silent', () => {}, 'the list takes too long'],
  ];
  test.concurrent.each(cases)('%s', async (_, reply, reason) => {
    const service = await recordingService(() => reply);
    const { baseUrl } = service;
    const lines = await linesOf(applicationCard, nimbus, { baseUrl });
    expect(lines.at(-1)).toBe(`Other applications were not looked for: ${reason}.`);
    expect(lines.join('\n')).not.toContain('app_0041');
    expect((await linesOf(teamCard, team, { baseUrl })).at(-1)).toBe(
      `Players were not listed: ${reason}.`,
    );
    // Never asked twice: nobody asked for the list.
    expect(service.requests).toHaveLength(2);
  });
});

const cardOver = async (players: readonly JsonObject[], columns = 80) => {
  const { baseUrl } = await recordingService(() => ({ status: 200, json: players }));
  return linesOf(teamCard, team, { baseUrl, columns });
};

const teamsOnCard = async (player: JsonObject, baseUrl = listed.baseUrl) =>
  (await linesOf(playerCard, { id: 'player_1', ...player }, { baseUrl })).slice(3);

describe('the teams of a player', () => {
  test('have their names beside their ids, in whatever field they stand', async () => {
    expect(await teamsOnCard({ teamIds: ['team_1', 'team_9', 'team_2'] })).toEqual([
      'Teams  Lanternfish (team_1), team_9, Cobalt Herons (team_2)',
    ]);
    expect(await teamsOnCard({ teamId: 'team_1' })).toEqual(['Team  Lanternfish (team_1)']);
    expect(await teamsOnCard({ team: 'Paper Lions' })).toEqual(['Team  Paper Lions']);
  });

  test('keep their ids where the list may not be read, and are not asked for where there are none', async () => {
    const service = await recordingService(() => ({ status: 403, json: { error: 'forbidden' } }));
    expect(await teamsOnCard({ teamIds: ['team_1'] }, service.baseUrl)).toEqual(['Teams  team_1']);
    expect(service.requests).toHaveLength(1);
    await teamsOnCard({ teamIds: [], role: 'Duelist' }, service.baseUrl);
    expect(service.requests).toHaveLength(1);
  });
});

describe('the players of a team', () => {
  test('are left out where no field of theirs names a team', async () => {
    const lines = await cardOver([{ id: 'player_1', name: 'Mira' }]);
    expect(lines.join('\n')).not.toContain('Players');
  });

  test('are none where their fields name other teams', async () => {
    const lines = await cardOver([{ id: 'player_1', name: 'Mira', teamId: 'team_9' }]);
    expect(lines.at(-1)).toMatch(/^Players +none$/);
  });

  test('are found by the name of the team in any Unicode form', async () => {
    const lines = await linesOf(teamCard, { id: 'team_5', name: '\u00c9toile' });
    expect(lines.at(-1)).toMatch(/^Players +Zoe +player_5$/);
  });

  test('are counted beyond thirty, with the command that lists all of them', async () => {
    const players = Array.from({ length: 42 }, (_, at) => ({ id: `p_${at}`, teamId: 'team_1' }));
    const lines = await cardOver(players);
    expect(lines.at(-1)).toMatch(/^ +and 12 more: rosterctl -p club players list --team team_1$/);
    // The command neither moves the columns apart nor is broken so that it cannot be pasted.
    const named = await cardOver(
      players.map((each) => ({ ...each, name: 'Mira' })),
      60,
    );
    expect(named.slice(-3)).toEqual([
      '            Mira  p_35',
      '            and 12 more:',
      '            rosterctl -p club players list --team team_1',
    ]);
  });
});
