/** The views whose screens are read back: what is typed, and what holds of it. */

export interface View {
  readonly line: string;
  /** What is typed after which question; SERVICE is the address of the service. */
  readonly answers?: readonly (readonly [question: RegExp, typed: string])[];
  /** A table: each row has its cells where the heads begin. */
  readonly isTable?: true;
  /** Sentences, whose words are whole at every width. */
  readonly isProse?: true;
  /** It needs a home folder of its own. */
  readonly changesHome?: true;
  /** The widths at which its screens stand in a text file of this folder. */
  readonly kept?: Readonly<
    Partial<Record<'lists' | 'cards' | 'changes' | 'pages', readonly number[]>>
  >;
}

const change = 'tryouts set-status --all --to withdrawn';

/** The views with the widest content, which are read at every width. */
export const wideViews: readonly View[] = [
  { line: 'tryouts list', isTable: true, kept: { lists: [40, 80, 120, 200] } },
  { line: 'tryouts get app_0064' },
  { line: 'tryouts get app_0058', kept: { cards: [40, 80] } },
  {
    line: change,
    answers: [[/\(y\/N/, 'n\r']],
    changesHome: true,
    kept: { changes: [40, 80] },
  },
  { line: `${change} --yes`, changesHome: true, kept: { changes: [80] } },
  { line: `${change} --yes -v`, changesHome: true },
];

/** Every view. */
export const views: readonly View[] = [
  ...wideViews,
  { line: 'teams list', isTable: true },
  { line: 'players list', isTable: true },
  { line: 'docs list', isTable: true, kept: { lists: [80] } },
  { line: 'profile list', isTable: true },
  { line: 'config list', isTable: true },
  { line: 'runs list', isTable: true },
  { line: 'uploads list', isTable: true },
  { line: 'cursors list', isTable: true },
  { line: 'overview' },
  { line: 'check' },
  { line: 'tryouts list --status pending --game Chess', isProse: true, kept: { pages: [80] } },
  { line: 'teams get team_7' },
  { line: 'players get player_2' },
  { line: 'person player_2', isProse: true, kept: { cards: [40] } },
  { line: 'docs get doc_6' },
  { line: 'tryouts stats' },
  { line: "tryouts stats --by 'Main role'" },
  { line: 'check' },
  { line: 'overview' },
  { line: `${change} --dry-run` },
  { line: 'tryouts update app_0064 --status accepted', changesHome: true, kept: { changes: [80] } },
  { line: `${change} --plan changes.json`, changesHome: true },
  { line: 'plan show HOME/plan.json' },
  { line: 'runs show last' },
  { line: 'tryouts convert', answers: [[/Which application/, '\u001b']] },
  {
    line: 'auth login --profile third',
    answers: [
      [/Service/, 'SERVICE\r'],
      [/Organization/, 'org_7\r'],
      [/API key/, 'typed-canary-5e6f7a8b\r'],
    ],
    changesHome: true,
  },
  { line: 'auth status' },
  { line: 'doctor', isProse: true },
  { line: '', isProse: true, kept: { pages: [40, 80] } },
  { line: '--help', isProse: true },
  { line: 'tryouts set-status -h', isProse: true },
  { line: 'help security', isProse: true },
  { line: 'help backup' },
  { line: 'tryouts list --stauts pending', isProse: true, kept: { pages: [40] } },
  { line: 'tryouts get nobody', isProse: true },
];
