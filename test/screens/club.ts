/** A service whose records are hard to print, and a home folder that knows it. */
import { hashOfPlan } from '../../src/runs/plan-file.js';
import { application, keep } from '../commands/tryouts/service.js';
import { organization } from '../support/service.js';

const hourMs = 3_600_000;
/** So long ago, and some minutes, so that no age changes while a test runs. */
const ago = (hours: number) => new Date(Date.now() - hours * hourMs - 5 * 60_000).toISOString();

/** Names: plain, wide, right to left, emoji, with marks, long, hostile and empty. */
const names = [
  'Nimbus Kolmarden',
  '星見 そら',
  'نور الساحلي',
  'Kite 🦊 🇩🇪',
  'Zoe\u0308 Bra\u030angdal',
  'Maximiliana-Theodora Wolkenstein von Unterquellenhausen-Berg',
  'Eve\u001b[2J\u001b]0;title\u0007\r\nsecond line\tcell \u202egnp.exe\u202c',
  '',
];

const statuses = ['pending', 'reviewing', 'shortlisted', 'accepted', 'rejected', 'withdrawn'];

const answers = {
  'What is your peak rank?': 'Immortal 1',
  'Hours per week': 11,
  'Why do you want to play for us, and what should we know about you before the first trial?':
    'I like the way you review games, and the people that I met at the open evening were kind. ' +
    'My old team stopped in spring.\nAnd the colours.',
  なぜこのチームに入りたいですか: '長い答えです。'.repeat(9),
  'لماذا تريد الانضمام إلينا؟': 'أحب الطريقة التي تراجعون بها المباريات',
  'VOD 🦊': `https://example.com/vod/${'1063'.repeat(12)}`,
  '\u001b[31mred': '\u001b]52;c;aGVsbG8=\u0007\r\ttab',
  '': '',
};

const tag = (game: string, gamerTag: string) => ({
  id: `tag_${game}`,
  game,
  gamerTag,
  createdAt: ago(2000),
  updatedAt: ago(2000),
});

export const applications = names.map((name, index) =>
  application(`app_00${64 - index}`, {
    name,
    status: statuses[index % statuses.length] ?? '',
    email: index === 7 ? '' : `${['nimbus.kolmarden', 'sora', 'nour'][index] ?? 'x'}@example.com`,
    discordUsername: index % 3 === 2 ? null : `${name.slice(0, 6)}_demo`,
    submittedAt: ago(4 + index * index * 30),
    updatedAt: ago(2),
    formResponses: index % 2 === 0 ? answers : {},
    internalNotes: index === 0 ? '2026-03-02  Strong aim, quiet on comms' : null,
    gamerTags:
      index === 7
        ? []
        : [
            tag('Valorant', `${name}#DEMO`),
            tag(index === 1 ? '星' : 'Overwatch 2', 'NimbusVole#DEMO'),
          ],
  }),
);

const record = (kind: string) => (name: string, index: number) => ({
  id: `${kind}_${index + 1}`,
  organizationId: organization,
  name,
  createdAt: ago(2000),
});
const teams = names.map(record('team')).map((team) => ({ ...team, shortName: 'KTE' }));
const players = names.map(record('player')).map((player, index) => ({
  ...player,
  role: ['Duelist', '', null][index % 3],
  teamIds: ['team_1'],
}));
const documents = names.map(record('doc')).map((document, index) => ({
  ...document,
  contentType: ['application/pdf', 'image/png', 'text/plain'][index % 3],
  sizeBytes: [81_100, 0, 2_500_000_000][index % 3],
  tags: index % 2 === 0 ? ['contract', '2026-spring', '星'] : [],
}));
const records: Readonly<Record<string, readonly { readonly id: string }[]>> = {
  teams,
  players,
  documents,
};

/**
 * Serves the awkward records and keeps no change. A change of app_0060 is refused, app_0058 was
 * changed by someone else, and no upload gets past its first step.
 */
export function awkwardClub() {
  return keep(applications, ({ url, method, body }, step) => {
    if (step === 'PATCH app_0060')
      return { status: 400, json: { error: 'validationFailed', message: `No: ${names[6]} 星見` } };
    if (step === 'PATCH app_0058') return { status: 409, json: { error: 'conflict' } };
    if (method === 'PATCH') return { status: 200, json: changed(step, body) };
    if (method === 'POST') return { status: 503, json: { error: 'unavailable' } };
    const [, resource = '', , id] = /^\/v1\/(\w+)\/(\w+)(?:\/(\w+))?/.exec(url) ?? [];
    const kept = records[resource];
    if (!kept) return undefined;
    if (id === undefined) return { status: 200, json: kept };
    const found = kept.find((each) => each.id === id);
    return found ? { status: 200, json: found } : { status: 404, json: { error: 'notFound' } };
  });
}

/** A plan file that rejects everybody. */
export function awkwardPlan(service: string): string {
  const rows = applications.map(({ id, name, status, internalNotes }, index) => ({
    row: index + 1,
    id,
    ...(name !== '' && { name }),
    changes: [
      { field: 'status', from: status, to: 'rejected' },
      { field: 'internalNotes', from: internalNotes, to: `${internalNotes ?? ''}\nNo: ${name}` },
    ],
  }));
  const members = {
    rosterctlPlan: 1,
    version: '0.2.0',
    madeAt: ago(3),
    expiresAt: ago(1),
    madeBy: { user: 'anna', host: 'laptop' },
    action: 'tryouts.set-status',
    resource: 'tryouts',
    profile: 'club',
    organization,
    service,
    command: 'rosterctl tryouts set-status --all --to rejected',
    leftOut: { unchanged: 2, skipped: 0 },
    job: { status: 'rejected' },
    guards: { ifStatus: ['pending', 'reviewing'] },
    rows,
  };
  return JSON.stringify({ ...members, hash: hashOfPlan(members) });
}

function changed(step: string, body: Buffer) {
  const found = applications.find(({ id }) => step === `PATCH ${id}`);
  return { ...found, ...(JSON.parse(body.toString()) as object) };
}
