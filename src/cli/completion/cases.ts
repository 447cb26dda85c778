import type { Choice, CommandModel, FlagModel, Model, Slot, WordModel } from './model.js';

/** How one of the two shells that share `case`, arrays and quoting writes a word to offer. */
export type WriteChoice = (choice: Choice) => string;

/**
 * The table as shell functions for bash and zsh. Each sets variables of its caller, and starts no
 * process: noun, command, choices, aliases, own, and of a value slot, list, ends, ask, again, long.
 */
export function tableFunctions(model: Model, write: WriteChoice): string[] {
  return [
    ...shellFunction('noun', '# word: what it is called in the table', nounCases(model)),
    ...shellFunction('verb', '# noun, word: the command', verbCases(model)),
    ...shellFunction('words', '# noun, or nothing: what may stand there', wordCases(model, write)),
    ...shellFunction('flags', '# command: its own flags', flagListCases(model, write)),
    ...shellFunction('global_flags', '# the flags of every command', [
      `choices=(${words(model.globals.map(flagChoice), write)})`,
    ]),
    ...shellFunction('flag', '# command, flag: what it takes', flagCases(model, write)),
    ...shellFunction('arg', '# command, number: what that word may be', argCases(model, write)),
    ...shellFunction('fields', '# command: the fields of what it prints', fieldCases(model, write)),
    ...shellFunction('topics', '# what `help` explains', [
      `choices=(${words(model.topics, write)})`,
    ]),
  ];
}

/** A word in single quotes, for every shell of that family. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

type Case = readonly [pattern: string, body: string];

function shellFunction(name: string, about: string, body: readonly string[]): string[] {
  return [`__rosterctl_${name}() { ${about}`, ...body.map((line) => `  ${line}`), '}', ''];
}

function nounCases({ first, verbs }: Model): string[] {
  const entries = first.flatMap(({ word, aliases }) =>
    [word, ...aliases].map(
      (name): Case => [
        quoted(name),
        verbs.has(word) ? `noun=${quoted(word)}` : `noun=${quoted(word)} command=${quoted(word)}`,
      ],
    ),
  );
  return select('$1', entries, "noun='?' command='?'");
}

function verbCases({ verbs }: Model): string[] {
  const entries = [...verbs].flatMap(([noun, all]) =>
    all.flatMap(({ word, aliases }) =>
      [word, ...aliases].map(
        (name): Case => [quoted(`${noun} ${name}`), `command=${quoted(`${noun} ${word}`)}`],
      ),
    ),
  );
  return select('$1 $2', entries, "command='?'");
}

function wordCases({ first, verbs }: Model, write: WriteChoice): string[] {
  const entries = [...verbs].map(([noun, all]): Case => [quoted(noun), offered(all, write)]);
  return ['choices=() aliases=()', ...select('$1', [["''", offered(first, write)], ...entries])];
}

function offered(all: readonly WordModel[], write: WriteChoice): string {
  const also = all.flatMap(({ aliases, text }) => aliases.map((word) => ({ word, text })));
  return `choices=(${words(all, write)}) aliases=(${words(also, write)})`;
}

function flagListCases({ commands, globals }: Model, write: WriteChoice): string[] {
  const names = new Set(globals.map(({ long }) => long));
  const entries = commands.map(({ name, flags }): Case => {
    const instead = flags.map(({ long }) => long).filter((long) => names.has(long));
    const own = instead.length > 0 ? ` own=${quoted(` ${instead.join(' ')} `)}` : '';
    return [quoted(name), `choices=(${words(flags.map(flagChoice), write)})${own}`];
  });
  return ["choices=() own=' '", ...select('$1', entries)];
}

function flagCases({ commands, globals }: Model, write: WriteChoice): string[] {
  const own = commands.flatMap(({ name, flags }) =>
    flags.flatMap((flag) =>
      spellings(flag).map((word): Case => [quoted(`${name}:${word}`), flagBody(flag, write)]),
    ),
  );
  const shared = globals.flatMap((flag) =>
    spellings(flag).map((word): Case => [quoted(word), flagBody(flag, write)]),
  );
  const fallback = select('$2', shared).join('\n    ');
  return [blank, ...select('$1:$2', own, `\n    ${fallback}\n   `)];
}

function argCases({ commands }: Model, write: WriteChoice): string[] {
  const single = commands.flatMap(({ name, args, variadic }) =>
    args
      .slice(0, variadic ? -1 : undefined)
      .map((slot, index): Case => [quoted(`${name}:${index}`), slotBody(slot, write)]),
  );
  // Behind the numbered ones, which would be caught by these.
  const many = commands.flatMap(({ name, args, variadic }): Case[] => {
    const last = args.at(-1);
    return variadic && last ? [[`${quoted(`${name}:`)}*`, slotBody(last, write)]] : [];
  });
  return [blank, ...select('$1:$2', [...merged(single), ...merged(many)])];
}

function fieldCases({ commands }: Model, write: WriteChoice): string[] {
  const entries = commands.map(({ name, fields, askFields }: CommandModel): Case => {
    const list = words(
      fields.map((word) => ({ word, text: '' })),
      write,
    );
    return [quoted(name), `choices=(${list}) ask=${quoted(askFields ?? '')}`];
  });
  return ["choices=() ask=''", ...select('$1', entries)];
}

const blank = 'slot= choices=() list= ends= ask= again= long=';

function flagBody(flag: FlagModel, write: WriteChoice): string {
  const again = flag.again ? ' again=1' : '';
  const slot = flag.slot ? slotBody(flag.slot, write) : 'slot=switch';
  return `long=${flag.long} ${slot}${again}`;
}

function slotBody({ kind, words: known, ask, list, ends }: Slot, write: WriteChoice): string {
  return [
    `slot=${kind}`,
    ...(known.length > 0 ? [`choices=(${words(known, write)})`] : []),
    ...(ask === undefined ? [] : [`ask=${quoted(ask)}`]),
    ...(list ? ['list=1'] : []),
    ...(ends === '' ? [] : [`ends=${quoted(ends)}`]),
  ].join(' ');
}

function spellings({ long, short }: FlagModel): string[] {
  return short === undefined ? [long] : [long, short];
}

function flagChoice({ long, text }: FlagModel): Choice {
  return { word: long, text };
}

function words(choices: readonly Choice[], write: WriteChoice): string {
  return choices.map((choice) => quoted(write(choice))).join(' ');
}

function select(subject: string, entries: readonly Case[], otherwise?: string): string[] {
  return [
    `case "${subject}" in`,
    ...merged(entries).map(([pattern, body]) => `  ${pattern}) ${body} ;;`),
    ...(otherwise === undefined ? [] : [`  *) ${otherwise} ;;`]),
    'esac',
  ];
}

/** Patterns that lead to the same are written as one. */
function merged(entries: readonly Case[]): Case[] {
  const byBody = new Map<string, string[]>();
  for (const [pattern, body] of entries) byBody.set(body, [...(byBody.get(body) ?? []), pattern]);
  return [...byBody].map(([body, patterns]) => [patterns.join(' | '), body]);
}
