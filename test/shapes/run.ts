/** Runs the cells of a shape and keeps what they show for the report. */
import { describe, test } from 'vitest';
import { type Books, forget, type Run, runCell, type Shape } from './cell.js';
import { type Judged, judge } from './judge.js';
import { type Table, tables } from './matrix.js';
import type { Command } from './reads.js';
import { unseen } from './unseen.js';

/** A judged cell: `unseen` is wrong in a way that no client can notice. */
export interface CellResult {
  readonly command: string;
  readonly verdict: Judged['verdict'] | 'unseen';
  readonly why: string;
  /** Promised to be right, or not to be seen, and it is not so. */
  readonly isBroken: boolean;
}

declare module 'vitest' {
  interface TaskMeta {
    /** The table and the cells of a shape. */
    shapes?: { readonly table: string; readonly shape: string; readonly cells: CellResult[] };
    /** Cells that were run as processes, too. */
    processes?: number;
  }
}

/** Runs and judges one cell; with SHAPES_SHOW=1 it prints what was said and sent. */
export async function resultOf(shape: Shape, command: Command, run?: Run): Promise<CellResult> {
  const idOf = shape.idOf ?? (({ id }) => id);
  const { line } = command;
  const words = typeof line === 'string' ? line : (books: Books) => line(books, idOf);
  const outcome = await runCell(shape, words, run);
  const { verdict, why } = await judge(command, outcome);
  if (process.env['SHAPES_SHOW']) {
    const { ran, requests } = outcome;
    const sent = requests.map(({ server, method, url }) => `${server} ${method} ${url}`);
    console.log(
      [`$ ${outcome.line}`, ...shape.shapes, `=> ${ran.code} ${verdict}: ${why}`, ...sent].join(
        '\n',
      ),
      `\n${ran.stdout.slice(0, 600)}\n${ran.stderr}`,
    );
  }
  forget(outcome);
  const isListed = (unseen[`${shape.table}: ${shape.name}`] ?? []).includes(command.name);
  const isBroken = shape.promise === 'right' && verdict !== 'right';
  if (!isListed) return { command: command.name, verdict, why, isBroken };
  return verdict === 'wrong'
    ? { command: command.name, verdict: 'unseen', why, isBroken: false }
    : { command: command.name, verdict, why: `${why}; unseen.ts lists it`, isBroken: true };
}

/** The commands of a table that a shape concerns. */
export function commandsOf({ commands }: Table, { only, isEmpty }: Shape): readonly Command[] {
  return commands.filter(
    ({ name }) => (!only || only.includes(name)) && !(isEmpty && name.endsWith('get LAST')),
  );
}

/** What is wrong with a shape's cells, to read; empty when nothing is. */
export function faultsOf(cells: readonly CellResult[]): readonly string[] {
  return cells
    .filter(({ verdict, isBroken }) => verdict === 'wrong' || isBroken)
    .map(({ command, verdict, why }) => `${command}: ${verdict}, ${why}`);
}

/** The tests of every table, one for each shape; `part` of `parts` for one worker. */
export function testTables(part: number, parts: number): void {
  describe.concurrent('shapes', () => {
    for (const table of tables)
      for (const shape of table.shapes.filter((_, at) => at % parts === part))
        test(`${table.name}: ${shape.name}`, async ({ task }) => {
          const cells: CellResult[] = [];
          for (const command of commandsOf(table, shape))
            cells.push(await resultOf(shape, command));
          task.meta.shapes = { table: table.name, shape: shape.name, cells };
          const faults = faultsOf(cells);
          if (faults.length > 0) throw new Error(faults.join('\n'));
        });
  });
}

/** A spread of cells over every table. */
export function spread(count: number): readonly (readonly [Shape, Command])[] {
  const all = tables.flatMap((table) =>
    table.shapes.flatMap((shape) =>
      commandsOf(table, shape).map((command) => [shape, command] as const),
    ),
  );
  const step = all.length / count;
  return Array.from({ length: count }, (_, at) => all[Math.floor(at * step)]).flatMap((each) =>
    each ? [each] : [],
  );
}
