/** The file `table.json`: the command table, in a form that starts fast. */
import type { PlainCall, PlainCommand, PlainParam, PlainTable } from './plain-table.js';

/**
 * Returns the text of `table.json`: ASCII JSON with each command on its own line, so that a start
 * parses only the command it needs. The first line also contains all their names.
 */
export function tableText({ commands, ...rest }: PlainTable): string {
  const names = commands.map(({ words, summary }) => [words, summary]);
  const head = JSON.stringify({ ...rest, names, commands: [] });
  const lines = commands.map((command) => JSON.stringify(command));
  return ascii(`${head.slice(0, -end.length)}\n${lines.join(',\n')}\n${end}\n`);
}

/** Reads what `tableText` wrote. Parses a command's line when more than its name is needed. */
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

  private get complete(): PlainCommand {
    return (this.parsed ??= JSON.parse(this.line.replace(/,$/, '')) as PlainCommand);
  }

  get about(): string | undefined {
    return this.complete.about;
  }
  get examples(): PlainCommand['examples'] {
    return this.complete.examples;
  }
  get args(): readonly PlainParam[] {
    return this.complete.args;
  }
  get flags(): readonly PlainParam[] {
    return this.complete.flags;
  }
  get needsOneOf(): PlainCommand['needsOneOf'] {
    return this.complete.needsOneOf;
  }
  get excludes(): PlainCommand['excludes'] {
    return this.complete.excludes;
  }
  get calls(): readonly PlainCall[] {
    return this.complete.calls;
  }
  get basis(): PlainCommand['basis'] {
    return this.complete.basis;
  }
  get local(): boolean {
    return this.complete.local;
  }
  get writes(): boolean {
    return this.complete.writes;
  }
  get asks(): boolean {
    return this.complete.asks;
  }
  get shows(): readonly string[] {
    return this.complete.shows;
  }
  get fields(): readonly string[] {
    return this.complete.fields;
  }
}

function ascii(text: string): string {
  return text.replaceAll(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
