/** Prints the matrix: a line for each shape with a letter for each command, and the sum. */
import type { Reporter, TestModule } from 'vitest/node';
import { tables } from './matrix.js';
import type { CellResult } from './run.js';

const letters = { right: '.', warned: 'w', refused: 'r', unseen: 'u', wrong: 'X' } as const;

export default class Report implements Reporter {
  /** What a cell shows of itself with SHAPES_SHOW=1. */
  onUserConsoleLog({ content }: { readonly content: string }): void {
    process.stdout.write(content);
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const shapes = tests.flatMap((each) => each.meta().shapes ?? []);
    const lines = tables.flatMap((table) => {
      const order = table.shapes.map(({ name }) => name);
      const own = shapes.filter((each) => each.table === table.name);
      return linesOf(
        table.name,
        own.toSorted((a, b) => order.indexOf(a.shape) - order.indexOf(b.shape)),
      );
    });
    const all = shapes.flatMap(({ table, shape, cells }) =>
      cells.map((cell) => ({ ...cell, at: `${table}: ${shape}` })),
    );
    const of = (verdict: CellResult['verdict']) => all.filter((each) => each.verdict === verdict);
    const broken = all.filter(({ isBroken, verdict }) => isBroken && verdict !== 'wrong');
    const others = tests.filter((each) => !each.ok() && !each.meta().shapes);
    console.log(
      [
        ...lines,
        ...list('No client can see', of('unseen')),
        ...list('Less than promised', broken),
        ...list('Silently wrong', of('wrong')),
        `${tests.filter((each) => each.meta().processes).length} cells as processes of the built program`,
        ...others.map((each) => `FAILED ${each.fullName}`),
        `${of('right').length} right, ${of('warned').length} warned, ${of('refused').length} refused, ${of('unseen').length} that no client can see, ${of('wrong').length} silently wrong`,
      ].join('\n'),
    );
  }
}

interface Line {
  readonly shape: string;
  readonly cells: readonly CellResult[];
}

/** A line for each shape, below the commands that its letters stand for. */
function linesOf(table: string, shapes: readonly Line[]): readonly string[] {
  const commands = [...new Set(shapes.flatMap(({ cells }) => cells.map(({ command }) => command)))];
  const row = ({ shape, cells }: Line) => {
    const marks = commands.map((command) => {
      const cell = cells.find((each) => each.command === command);
      return cell ? letters[cell.verdict] : ' ';
    });
    return `  ${marks.join(' ')}  ${shape}`;
  };
  if (shapes.length === 0) return [];
  return [
    `${table}: ${shapes.length} shapes`,
    ...commands.map((command, at) => `  ${'| '.repeat(at)}${command}`),
    ...shapes.map(row),
    '',
  ];
}

function list(
  title: string,
  cells: readonly (CellResult & { readonly at: string })[],
): readonly string[] {
  if (cells.length === 0) return [];
  return [
    `${title} (${cells.length})`,
    ...cells.map(({ at, command, verdict, why }) => `  ${at}: ${command}: ${verdict}: ${why}`),
    '',
  ];
}
