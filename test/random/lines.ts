/** Random command lines, made from the program's own table of commands. */
import * as fc from 'fast-check';
import { globalFlags } from '../../src/cli/global-flags.js';
import {
  findGroup,
  type ManifestCommand,
  type ManifestParam,
  readManifest,
} from '../../src/data/command-manifest.js';
import type { ResourceName } from '../../src/data/resources.js';
import { distribution } from '../support/in-process.js';

const table = readManifest(distribution.table);

/** A part of a line that stays together, and another way to spell it. */
interface Item {
  readonly flag?: string;
  readonly words: readonly string[];
  readonly otherwise: readonly string[];
}

export interface RandomLine {
  readonly command: ManifestCommand;
  readonly words: readonly string[];
  /** The same line with aliases, short flags and its flags in another place. */
  readonly otherwise: readonly string[];
  /** The flags that it has, by their long names. */
  readonly flags: readonly string[];
}

const anyOf = (text: string) => fc.constantFrom(...text.split(' '));

const ids: Readonly<Record<ResourceName, string>> = {
  tryouts: 'app_0001 app_0002 app_0007 app_0040 app_0099 email:nilo@example.com tag:demo-1',
  teams: 'team_0001 team_0002 team_0006 team_0009 name:Lanternfish name:lanternfish',
  players: 'player_0001 player_0002 player_0031 player_0099 tag:TarnLynx#DEMO',
  documents: 'doc_0001 doc_0003 doc_0014 doc_0099 name:NDA.docx',
};
const fields = 'id name status email createdAt submittedAt gamerTags.game tags sizeBytes teamIds';

/** Words that a flag or an argument may expect, by its name, its placeholder, or what a TAB offers there. */
const expected: Readonly<Record<string, string>> = {
  '--where': 'name~a id!=x createdAt>2026-01-01 status=pending nope=1 sizeBytes<=900 tags=contract',
  '--if': 'name~a status=pending role=Duelist',
  '--set': 'name=New role=Coach age=17 a.b=1 tags[]=x teamIds[]=team_0002 note=@note.txt name=null',
  '--set-string': 'name=07 legacyRef=1.50 id=x',
  '--sort': 'name id:desc createdAt submittedAt:asc nope',
  '--template': '{name} {id|json} {{x}}{id} {createdAt|ago} {name|md} {nope} {',
  '--key': 'name email legacyRef id',
  '--map': 'Team=name E-Mail=email Bewerber=id',
  '--retries': '0 1',
  '--out': 'out.csv out.json out.xlsx out.txt - new/out.csv',
  '--results': 'results.csv',
  '--plan': 'changes.plan',
  WHEN: '7d yesterday monday 2026-11 2026-11-01T10:00:00Z',
  AGE: '7d 60d 0d',
  N: '1 2 5 100 250',
  'N/s': '50/s',
  '24h': '24h 7d',
  '30s': '10s 1m',
  RUN: 'last nope',
  REF: `${ids.tryouts} ${ids.players}`,
  DIR: 'backups downloads consents',
  'DIR[/SNAPSHOT]': 'backups backups/x consents',
  A: 'backups live',
  'B|live': 'live backups',
  PATH: '/teams/{org} players/{org} /documents/doc_0001/download /nope contract.pdf note.txt',
  'URL|-': '- http://127.0.0.1:1/x',
  VALUE: 'json auto none 10s 3 id,name',
  field: fields,
  file: 'note.txt contract.pdf apps.csv ids.txt roster.csv teams.csv papers.csv missing.txt -',
  directory: 'backups downloads',
  cursor: 'discord mail',
  profile: 'default work nowhere',
  configKey: 'output retries rate columns.tryouts lists.players.path paging.mode undo.keep',
  topic: 'bulk output tryouts teams list nope',
};

/** What no flag and no argument expects, or what means something elsewhere. */
const odd = fc.oneof(
  anyOf(
    '- -x --nope -1 0 1e999 NaN null = a= [] {"a":1} , .. ../x a/b @missing.txt @- id: name: %00',
  ),
  anyOf(
    '__proto__ constructor __proto__.x=1 🦊 e\u0301 \u202eevil a\u0000b \u001b[31mred \ud800 <clear>',
  ),
  anyOf('$(touch\tpwned) `touch\tpwned` ;touch\tpwned it\'s " \\ *'),
  fc.constantFrom('', ' ', 'a\nb', 'x'.repeat(5000)),
);

/** They lead to another service, or end a line in the middle. */
const leftOut = ['--profile', '--org', '--base-url', '--max-time', '--debug'];

function textFor({ choices, commaList, completes = '', word, placeholder }: ManifestParam) {
  if (choices && commaList)
    return fc.subarray([...choices], { minLength: 1, maxLength: 2 }).map((some) => some.join());
  if (choices) return fc.constantFrom(...choices);
  const resource = /^id:(.*)/.exec(completes)?.[1] as ResourceName | undefined;
  if (resource) return anyOf(ids[resource]);
  return anyOf(expected[word] ?? expected[placeholder] ?? expected[completes] ?? 'a demo Valorant');
}

const valueOf = (param: ManifestParam) =>
  fc.oneof({ weight: 12, arbitrary: textFor(param) }, { weight: 1, arbitrary: odd });

const argumentsOf = (param: ManifestParam): fc.Arbitrary<readonly Item[]> =>
  fc
    .array(valueOf(param), {
      minLength: param.required ? 1 : 0,
      maxLength: param.takes === 'values' ? 3 : 1,
    })
    .map((texts) => texts.map((text) => ({ words: [text], otherwise: [text] })));

function flagOf(param: ManifestParam): fc.Arbitrary<Item> {
  const { word: flag, short } = param;
  const brief = short === undefined ? flag : `-${short}`;
  if (param.takes === 'nothing') return fc.constant({ flag, words: [flag], otherwise: [brief] });
  return valueOf(param).map((text) => ({
    flag,
    words: [flag, text],
    otherwise: short === undefined ? [`${flag}=${text}`] : [brief, text],
  }));
}

/** Flags that the command must have, and some of its others. */
function flagsOf({ flags, needsOneOf }: ManifestCommand): fc.Arbitrary<readonly Item[]> {
  const open = flags.filter(({ required, word }) => !required && !leftOut.includes(word));
  const needed = needsOneOf.map((set) =>
    fc.constantFrom(...flags.filter(({ name }) => set.includes(name))),
  );
  return fc
    .tuple(fc.tuple(...needed), fc.subarray(open, { maxLength: Math.min(2, open.length) }))
    .map(([one, more]) => [...new Set([...flags.filter((each) => each.required), ...one, ...more])])
    .chain((chosen) => fc.tuple(...chosen.map(flagOf)));
}

const usual = (text: string, otherwise = text): Item => ({
  flag: text.replace(/^-o .*/, '--output'),
  words: text.split(' '),
  otherwise: otherwise.split(' '),
});
const formats = [
  usual('--json', '-o json'),
  usual('-o ndjson', '--output=ndjson'),
  usual('-o csv', '-ocsv'),
  usual('-o ids', '--output ids'),
];
const ways = [usual('--yes', '-y'), usual('--dry-run', '-n'), usual('--quiet', '-q')];
const rare = globalFlags.filter(
  ({ word, takes }) => takes === 'value' && ![...leftOut, '--output'].includes(word),
);

/** Up to one of each. */
const globals = fc
  .tuple(
    fc.subarray(formats, { maxLength: 1 }),
    fc.subarray(ways, { maxLength: 1 }),
    fc.subarray(rare, { maxLength: 1 }).chain((some) => fc.tuple(...some.map(flagOf))),
  )
  .map((each) => each.flat());

function lineOf(command: ManifestCommand): fc.Arbitrary<RandomLine> {
  const args = fc.tuple(...command.args.map(argumentsOf)).map((each) => each.flat());
  return fc.tuple(args, flagsOf(command), globals, fc.nat(3)).map(([given, own, rest, turn]) => {
    const flags = [...own, ...rest];
    const cut = turn % (flags.length + 1);
    const [noun = '', ...verb] = command.words;
    const alias = verb.length > 0 ? findGroup(noun, table)?.aliases[turn] : undefined;
    return {
      command,
      words: [...command.words, ...[...given, ...flags].flatMap(({ words }) => words)],
      otherwise: [
        alias ?? noun,
        ...verb,
        ...[...flags.slice(0, cut), ...given, ...flags.slice(cut)].flatMap(
          (item) => item.otherwise,
        ),
      ],
      flags: flags.map(({ flag = '' }) => flag),
    };
  });
}

/** A line of any command that ends by itself. */
export const randomLine: fc.Arbitrary<RandomLine> = fc
  .constantFrom(...table.commands.filter(({ words }) => words.join(' ') !== 'sandbox start'))
  .chain(lineOf);
