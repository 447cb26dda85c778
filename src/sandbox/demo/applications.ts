/** The tryout applications of the demo data: the three forms, and how applicants answered them. */
import type { TryoutStatus } from '../../api/schemas.js';
import { demoOrganization } from '../../config/profiles.js';
import type { JsonObject } from '../../data/json.js';
import { wordList } from '../../data/text.js';
import { recordId, type StoredRecord } from '../records.js';

/** A tryout form of the demo data; each writes its answers under another style of keys. */
interface DemoForm {
  readonly id: string;
  readonly game: (index: number) => string;
  readonly answers: (index: number) => JsonObject;
}

/** Human questions, slugs and opaque ids; an application uses the form of its number. */
const demoForms: readonly [DemoForm, DemoForm, DemoForm] = [
  {
    id: 'form_valorant_2026',
    game: () => 'Valorant',
    answers: (index) => ({
      'In-game name': `demo-${index + 1}`,
      'What is your peak rank?': pick(
        ['Platinum 3', 'Diamond 1', 'Ascendant 2', 'Immortal 1', 'Immortal 3', 'Radiant'],
        index,
      ),
      'Main role': pick(['Duelist', 'Initiator', 'Controller', 'Sentinel', 'Flex', 'IGL'], index),
      'Second role': index % 4 === 0 ? null : pick(['Controller', 'Flex', 'Sentinel'], index),
      'Hours per week': 8 + (index % 20),
      'Can you travel to events?': index % 3 !== 1,
      'Agents you play': ['Omen', 'Sova', 'Jett', 'Killjoy'].slice(0, 1 + (index % 4)),
      'Why us?':
        index % 15 === 0 ? longAnswer() : 'I like the way you review games.\nAnd the colours.',
      'VOD link': `https://example.com/vod/${1000 + index}`,
      'I accept the code of conduct': true,
    }),
  },
  {
    id: 'form_league_2026',
    game: (index) => (index % 2 === 0 ? 'Rocket League' : 'League of Legends'),
    answers: (index) => ({
      peak_rank: pick(['Emerald', 'Diamond IV', 'Diamond I', 'Master', 'Grandmaster'], index),
      main_role: pick(['Top', 'Jungle', 'Mid', 'Bot', 'Support'], index),
      age: 16 + (index % 11),
      has_microphone: true,
      evening_availability: {
        weekdays: ['mon', 'wed', 'thu'].slice(0, 1 + (index % 3)),
        from: '19:00',
        weekend: { saturday: index % 2 === 0, sunday: true },
      },
      earlier_teams: index % 3 === 0 ? [] : ['Paper Lions B', 'none worth naming'],
      gpa: index % 5 === 0 ? null : 2.5 + (index % 15) / 10,
      guardian_consent: index % 11 < 2 ? true : null,
      comment: index % 2 === 0 ? '' : 'see you on the rift',
    }),
  },
  {
    id: 'form_open_2026',
    game: (index) => pick(['Counter-Strike 2', 'Overwatch 2', 'Football'], Math.floor(index / 3)),
    answers: (index) => ({
      q_7f3a: pick(['IGL', 'AWPer', 'Entry', 'Lurker', 'Main Support', 'GK', 'MF'], index),
      q_19bc: 3000 + index * 311,
      q_d04e: index % 2 === 0,
      // Below the first id of an individual account, so nobody's.
      q_55a1: `7656119000${String(1_000_000 + index)}`,
      q_e8c2: { mon: true, tue: false, slots: [{ from: '18:30', to: '21:00' }] },
      q_0b6d: index % 4 === 0 ? null : `https://example.org/profile/${index}`,
      q_91f0: ['headset', '144 Hz', 'wired'].slice(0, index % 4),
    }),
  },
];

/** A form answer with an escape sequence, a line break and a carriage return. */
const hostileAnswer = 'fine\u001b[31m red\u001b[0m\nsecond line\r\u0007 \u009b2J end';

function pick(values: readonly string[], index: number): string {
  return values[index % values.length] ?? '';
}

/** 1,500 characters. */
function longAnswer(): string {
  return 'I have played since the first demo and would love to learn with a real staff. '
    .repeat(20)
    .slice(0, 1500);
}

/** How many applications each seed has. */
export const applicationCounts = { small: 64, large: 1200 } as const;

/** The first applicant's number among the people; those before are players. */
const firstApplicant = 27;
const dayMs = 86_400_000;
const periodDays = 56;

const statusLetters: Readonly<Record<string, TryoutStatus>> = {
  p: 'pending',
  v: 'reviewing',
  s: 'shortlisted',
  a: 'accepted',
  r: 'rejected',
  w: 'withdrawn',
};

/** Oldest first, so most of the early ones are decided. */
const statuses = 'arwarsararwrvrsasvrpsavwsrvpsvrpvpspvpwpvpsvppvppvppspvpppvpvppp';

/** Indexes of the rare cases; the rest follows from the index itself. */
const converted = new Map([0, 3, 6, 8].map((index, at) => [index, recordId('players', 28 + at)]));
const withNotes = new Set([0, 3, 6, 11, 20, 29, 35, 43, 50]);
const withoutDiscord = new Set([2, 9, 14, 19, 23, 28, 33, 38, 44, 51, 59]);
/** Two people applied twice with the same form, after the earlier one was closed (contract 4.1 rule 3). */
const sameEmail = { later: 40, closed: 1 };
const sameDiscord = { later: 49, closed: 10 };
const hostileIndex = 39;

/** Names that are hard to print, with the two words that their addresses are made of. */
const awkwardNames: ReadonlyMap<number, readonly [name: string, first: string, last: string]> =
  new Map([
    [12, ['星見 そら', 'Sora', 'Hoshimi']],
    [15, ['Zoe\u0308 Bra\u030angdal', 'Zoe', 'Brangdal']],
    [18, ['نور الساحلي', 'Nour', 'Alsahili']],
    [
      21,
      [
        'Maximiliana-Theodora Wolkenstein von Unterquellenhausen-Berg',
        'Maximiliana',
        'Wolkenstein',
      ],
    ],
    [24, ["Maeve O'Quill, Jr.", 'Maeve', 'OQuill']],
    [27, ['=Sum Torvane', 'Sum', 'Torvane']],
    [30, ['Alva \u202egnp.tsil\u202c Rook', 'Alva', 'Rook']],
  ]);

const awkwardTags: ReadonlyMap<number, string> = new Map([
  [35, 'Kite🦊#DEMO'],
  [37, '👩‍👩‍👧 squad#DEMO'],
]);

const notes = [
  'Strong aim, quiet on comms.',
  'Ask for a second trial.\nTuesday is best.',
  'Knows the coach of the Paper Lions.',
];

/** The demo applications, always the same; times count back from `at`. */
export function demoApplications(count: number, at: Date): StoredRecord[] {
  return Array.from({ length: count }, (_, index) => application(index, at));
}

/** The person who applied; four of them are players now. */
export function applicant(index: number): Person {
  const number = firstApplicant + index;
  const [name, first, last] = awkwardNames.get(index) ?? [];
  if (name !== undefined && first !== undefined && last !== undefined)
    return { ...personNamed(number, first, last), name };
  const self = demoPerson(number);
  if (index === sameEmail.later) {
    const { name: sameName, email } = demoPerson(firstApplicant + sameEmail.closed);
    // In capitals: the rule ignores case.
    return { ...self, name: sameName, email: email.toUpperCase() };
  }
  if (index === sameDiscord.later) {
    const earlier = demoPerson(firstApplicant + sameDiscord.closed);
    return { ...earlier, email: earlier.email.replace('@', '2@') };
  }
  return self;
}

/** The tags of an applicant: none to three. */
export function applicantTags(index: number, game: string, at: Date): JsonObject[] {
  const self = applicant(index);
  const when = submitted(index, at).toISOString();
  return Array.from({ length: index % 4 }, (_, tag) => ({
    id: `tag_${String(index + 1).padStart(4, '0')}_${tag + 1}`,
    game: tag === 0 ? game : (['Overwatch 2', 'Rocket League'][tag - 1] ?? game),
    gamerTag: (tag === 0 && awkwardTags.get(index)) || demoGamerTag(self),
    createdAt: when,
    updatedAt: when,
  }));
}

/** The indexes of the four converted applications and their players' ids. */
export const conversions: readonly (readonly [index: number, playerId: string])[] = [...converted];

/** The game that an application is for. */
export function gameAt(index: number): string {
  return formOf(index).game(index);
}

const formOf = (index: number) => demoForms[(index % 3) as 0 | 1 | 2];

function application(index: number, at: Date): StoredRecord {
  const self = applicant(index);
  const created = submitted(index, at);
  const status = statusLetters[statuses[index % statuses.length] ?? ''] ?? 'pending';
  const form = formOf(index);
  const playerId = converted.get(index);
  return {
    id: recordId('tryouts', index + 1),
    organizationId: demoOrganization,
    status,
    name: self.name,
    email: self.email,
    ...discordOf(index, self),
    formId: form.id,
    formResponses: {
      ...form.answers(index),
      ...(index === hostileIndex && { 'Anything else?': hostileAnswer }),
    },
    internalNotes: withNotes.has(index) ? (notes[index % notes.length] ?? null) : null,
    convertedPlayerId: playerId ?? null,
    convertedPlayer: null,
    gamerTags: applicantTags(index, form.game(index), at),
    legacyRef: `A-${1000 + index}`,
    submittedAt: created.toISOString(),
    createdAt: created.toISOString(),
    updatedAt: updated(status, created, at).toISOString(),
  };
}

/** Some have no Discord at all, some an explicit null, and one an empty name. */
function discordOf(index: number, self: Person): JsonObject {
  if (withoutDiscord.has(index))
    return index % 2 === 0 ? { discordUserId: null, discordUsername: null } : {};
  const discordUsername = index === 32 ? '' : self.discordUsername;
  return { discordUserId: self.discordUserId, discordUsername };
}

/** Spread over eight weeks up to a few hours ago. */
function submitted(index: number, at: Date): Date {
  const step = (periodDays * dayMs) / statuses.length;
  const back = (statuses.length - (index % statuses.length)) * step - 17 * 3_600_000;
  // The large set lies between the steps of the small one.
  const shift = Math.floor(index / statuses.length) * 61_000;
  return new Date(at.getTime() - back - shift);
}

/** A pending application was never changed: both times are equal. */
function updated(status: TryoutStatus, created: Date, at: Date): Date {
  if (status === 'pending') return created;
  return new Date(created.getTime() + Math.max(0, (at.getTime() - created.getTime()) / 3));
}

/** A person of the demo data; invented, with mail at example domains only. */
interface Person {
  readonly name: string;
  readonly email: string;
  /** A 19-digit id, too large for a double. Its timestamp is in 2082 or later, so no real user has it. */
  readonly discordUserId: string;
  readonly discordUsername: string;
  /** The word that gamer tags are made of. */
  readonly nick: string;
}

const given = wordList(`
  Nimbus Tarn Ilka Bram Soraya Juno Edda Rafi Wren Kasimir Odile Teo Amaru Linnea Yusra
  Pavel Noor Matthis Chiara Dunja Eskil Farah Goran Hana Isandro Kirsi Lev Mirembe Nilo
  Orla`);

const family = wordList(`
  Kite Ember Quellwasser Vantree Osterlund Marrowby Falkenrade Tsukiyo Almendrado
  Brightwater Corvane Dorsk Eastmere Fjellgaard Gansevoort Halloran-Pike Ibarrola
  Jaskari Kolmarden Lumbreras Mandelkow`);

const animals = wordList(`
  Otter Lynx Heron Newt Badger Moth Ibis Stoat Gecko Plover Marten Quokka Vole`);

const domains = ['example.com', 'example.org', 'example.net'];

/** The person with this number, always the same. Names repeat from 630 on, addresses never. */
export function demoPerson(number: number): Person {
  const first = given[number % given.length] ?? '';
  const last = family[(number + Math.floor(number / given.length) * 4) % family.length] ?? '';
  return personNamed(number, first, last);
}

/** The person with this number under another name, of which address and chat user are made. */
function personNamed(number: number, first: string, last: string): Person {
  const nick = `${first}${animals[number % animals.length]}`;
  const suffix = number < 210 ? '' : String(number);
  return {
    name: `${first} ${last}`,
    email: `${first}.${last}${suffix}@${domains[number % domains.length]}`.toLowerCase(),
    discordUserId: `9000000000000${String(100_000 + number * 37).padStart(6, '0')}`,
    discordUsername: `${nick.toLowerCase()}_demo${suffix}`,
    nick,
  };
}

/** A gamer tag that is plainly invented: at most 16 characters and the tag DEMO. */
export function demoGamerTag({ nick }: Pick<Person, 'nick'>): string {
  return `${nick.slice(0, 16)}#DEMO`;
}
