/** The three forms of the demo data and how applicants answered them. */
import type { JsonObject } from '../../data/json.js';

/** A tryout form of the demo data; each writes its answers under another style of keys. */
interface DemoForm {
  readonly id: string;
  readonly game: (index: number) => string;
  readonly answers: (index: number) => JsonObject;
}

/** Human questions, slugs and opaque ids; an application uses the form of its number. */
export const demoForms: readonly [DemoForm, DemoForm, DemoForm] = [
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
export const hostileAnswer = 'fine\u001b[31m red\u001b[0m\nsecond line\r\u0007 \u009b2J end';

function pick(values: readonly string[], index: number): string {
  return values[index % values.length] ?? '';
}

/** 1,500 characters. */
function longAnswer(): string {
  return 'I have played since the first demo and would love to learn with a real staff. '
    .repeat(20)
    .slice(0, 1500);
}
