import type { PlainCall, PlainCommand, PlainParam, PlainTable } from './plain-table.js';

/**
 * The text of `table.json`: JSON of one-byte characters with each command on a line of its own, so
 * that a start parses the one command it is about. The first line also holds all their names.
 */
export function tableText({ commands, ...rest }: PlainTable): string {
  const names = commands.map(({ words, summary }) => [words, summary]);
  const head = JSON.stringify({ ...rest, names, commands: [] });
  const lines = commands.map((command) => JSON.stringify(command));
  return ascii(`${head.slice(0, -end.length)}\n${lines.join(',\n')}\n${end}\n`);
}

/** Reads what `tableText` wrote; a command's line is parsed when more than its name is asked for. */
export function readTable(text: string): PlainTable {
  const [head = '', ...lines] = text.split('\n');
  const { names, ...rest } = JSON.parse(`${head}${end}`) as Head;
  const commands = names.map(
    ([words, summary], index) => new TableCommand(words, summary, lines[index] ?? ''),
  );
  return { ...rest, commands };
}

const end = ']}';

interface Head extends Omit<PlainTable, 'commands'> {
  readonly names: readonly (readonly [words: readonly string[], summary: string])[];
}

class TableCommand implements PlainCommand {
  private parsed: PlainCommand | undefined;

  constructor(
    readonly words: readonly string[],
    readonly summary: string,
    private readonly line: string,
  ) {}

  private get whole(): PlainCommand {
    return (this.parsed ??= JSON.parse(this.line.replace(/,$/, '')) as PlainCommand);
  }

  get about(): string | undefined {
    return this.whole.about;
  }
  get examples(): PlainCommand['examples'] {
    return this.whole.examples;
  }
  get args(): readonly PlainParam[] {
    return this.whole.args;
  }
  get flags(): readonly PlainParam[] {
    return this.whole.flags;
  }
  get needsOneOf(): PlainCommand['needsOneOf'] {
    return this.whole.needsOneOf;
  }
  get excludes(): PlainCommand['excludes'] {
    return this.whole.excludes;
  }
  get calls(): readonly PlainCall[] {
    return this.whole.calls;
  }
  get basis(): PlainCommand['basis'] {
    return this.whole.basis;
  }
  get local(): boolean {
    return this.whole.local;
  }
  get writes(): boolean {
    return this.whole.writes;
  }
  get asks(): boolean {
    return this.whole.asks;
  }
  get shows(): readonly string[] {
    return this.whole.shows;
  }
  get fields(): readonly string[] {
    return this.whole.fields;
  }
}

function ascii(text: string): string {
  return text.replaceAll(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
