import { fishEngine } from './fish-engine.js';
import type { Choice, FlagModel, Model, Slot } from './model.js';

/** The script for fish 3 and later. Lines that it passes on are `word<TAB>what it means`. */
export function fishScript(model: Model): string {
  return [
    '# Completion of rosterctl for fish 3 and later.',
    '# Generated from the command table: rosterctl completion fish',
    '',
    ...fishFunction('noun', 'a word: its noun, and the command it is alone', nouns(model)),
    ...fishFunction('verb', 'noun and word: the command', verbs(model)),
    ...fishFunction('words', 'noun or nothing: names, --, other names', names(model)),
    ...fishFunction('flags', 'command: its own flags', ownFlags(model)),
    ...fishFunction('global_flags', 'the flags of every command', [
      print(model.globals.map(({ long, text }) => ({ word: long, text }))),
    ]),
    ...fishFunction('flag', 'command, flag: name, again or -, slot', flagSlots(model)),
    ...fishFunction('arg', 'command, number: slot', argSlots(model)),
    ...fishFunction('fields', 'command: what to ask or -, then fields', fields(model)),
    ...fishFunction('topics', 'what help explains', [print(model.topics)]),
    fishEngine,
  ].join('\n');
}

type Case = readonly [patterns: readonly string[], body: string];

function fishFunction(name: string, about: string, body: readonly string[]): string[] {
  return [
    `function __rosterctl_${name} # ${about}`,
    ...body.map((statement) => `    ${statement}`),
    'end',
    '',
  ];
}

function nouns({ first, verbs: byNoun }: Model): string[] {
  const cases = first.map(
    ({ word, aliases }): Case => [[word, ...aliases], lines([word, byNoun.has(word) ? '-' : word])],
  );
  return select('"$argv[1]"', cases, lines(['?', '?']));
}

function verbs({ verbs: byNoun }: Model): string[] {
  const cases = [...byNoun].flatMap(([noun, all]) =>
    all.map(
      ({ word, aliases }): Case => [
        [word, ...aliases].map((name) => `${noun} ${name}`),
        lines([`${noun} ${word}`]),
      ],
    ),
  );
  return select('"$argv[1]"', cases, lines(['?']));
}

function names({ first, verbs: byNoun }: Model): string[] {
  const both = (all: typeof first) => {
    const also = all.flatMap(({ aliases, text }) => aliases.map((word) => ({ word, text })));
    return lines([...all.map(line), '--', ...also.map(line)]);
  };
  const cases = [...byNoun].map(([noun, all]): Case => [[noun], both(all)]);
  return select('"$argv[1]"', [[[''], both(first)], ...cases], lines(['--']));
}

function ownFlags({ commands }: Model): string[] {
  return select(
    '"$argv[1]"',
    commands
      .filter(({ flags }) => flags.length > 0)
      .map(
        ({ name, flags }): Case => [
          [name],
          print(flags.map(({ long, text }) => ({ word: long, text }))),
        ],
      ),
  );
}

function flagSlots({ commands, globals }: Model): string[] {
  const own = commands.flatMap(({ name, flags }) =>
    flags.map((flag): Case => [spellings(flag).map((word) => `${name}:${word}`), flagBody(flag)]),
  );
  const shared = globals.map((flag): Case => [spellings(flag), flagBody(flag)]);
  return [
    ...select('"$argv[1]:$argv[2]"', own, 'false', '; and return'),
    ...select('"$argv[2]"', shared, lines(['-', '-', 'unknown'])),
  ];
}

function argSlots({ commands }: Model): string[] {
  const slots = commands.flatMap(({ name, args, variadic }) =>
    args.map(
      (slot, index): Case => [
        [`${name}:${variadic && index === args.length - 1 ? '*' : index}`],
        slotLines(slot),
      ],
    ),
  );
  const numbered = slots.filter(([[pattern]]) => !pattern?.endsWith('*'));
  return select('"$argv[1]:$argv[2]"', [...merged(numbered), ...merged(slots)]);
}

function fields({ commands }: Model): string[] {
  const cases = commands.map(
    ({ name, fields: known, askFields }): Case => [[name], lines([askFields ?? '-', ...known])],
  );
  return select('"$argv[1]"', cases, lines(['-']));
}

function flagBody(flag: FlagModel): string {
  const again = flag.again ? 'again' : '-';
  if (!flag.slot) return lines([flag.long, again, 'switch']);
  return `${lines([flag.long, again])}; ${slotLines(flag.slot)}`;
}

function slotLines({ kind, words, ask, list, ends }: Slot): string {
  return lines([kind, list ? 'list' : '-', ends || '-', ask ?? '-', ...words.map(line)]);
}

function spellings({ long, short }: FlagModel): string[] {
  return short === undefined ? [long] : [long, short];
}

function print(choices: readonly Choice[]): string {
  return lines(choices.map(line));
}

function line({ word, text }: Choice): string {
  return text === '' ? word : `${word}\t${text}`;
}

function lines(all: readonly string[]): string {
  return `printf '%s\\n' ${all.map(quoted).join(' ')}`;
}

/** In single quotes; a tab is written out, so that the file shows it. */
function quoted(text: string): string {
  const [word = '', ...rest] = text.split('\t');
  return [word, ...rest].map(inQuotes).join('\\t');
}

function inQuotes(part: string): string {
  return `'${part.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

function select(subject: string, cases: readonly Case[], otherwise?: string, after = ''): string[] {
  return [
    `switch ${subject}`,
    ...merged(cases).flatMap(([patterns, body]) => [
      `    case ${patterns.map(quoted).join(' ')}`,
      `        ${body}`,
    ]),
    ...(otherwise === undefined ? [] : ["    case '*'", `        ${otherwise}`]),
    `end${after}`,
  ];
}

/** Patterns that lead to the same are written as one. */
function merged(cases: readonly Case[]): Case[] {
  const byBody = new Map<string, readonly string[]>();
  for (const [patterns, body] of cases)
    byBody.set(body, [...new Set([...(byBody.get(body) ?? []), ...patterns])]);
  return [...byBody].map(([body, patterns]) => [patterns, body]);
}
