import type { Reporter, TestCase, TestModule } from 'vitest/node';
import { skipped } from './skipped.js';

const first = 1;
const last = 134;

/** Prints the summary of a catalogue run: what ran, what did not and why, what was found. */
export default class Summary implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const cases = new Map<string, TestCase[]>();
    const figures = { runs: 0, stacks: 0, hangs: 0, canaries: 0 };
    for (const module of modules)
      for (const each of module.children.allTests()) {
        const id = /^F\d{3}/.exec(each.name)?.[0];
        if (id) cases.set(id, [...(cases.get(id) ?? []), each]);
        const own = each.meta().faults;
        if (own) {
          figures.runs += own.runs;
          figures.stacks += own.stacks;
          figures.hangs += own.hangs;
          figures.canaries += own.canaries;
        }
      }
    const rows = ids().map((id) => [id, stateOf(id, cases.get(id) ?? [])] as const);
    const of = (state: string) => rows.filter(([, each]) => each.state === state);
    const others = modules
      .flatMap((module) => [...module.children.allTests()])
      .filter((each) => !/^F\d{3}/.test(each.name));
    const lines = [
      '',
      'Fault catalogue',
      row('cases', rows.length),
      row('cases run', of('passed').length + of('failed').length),
      row('cases passed', of('passed').length),
      row('cases failed', of('failed').length, list(of('failed'))),
      row('cases skipped', of('skipped').length),
      ...of('skipped').map(([id, { why }]) => `    ${id}  ${why}`),
      row('cases without a test', of('missing').length, list(of('missing'))),
      row('other checks passed', count(others, 'passed')),
      row('other checks failed', count(others, 'failed')),
      row('other checks skipped', count(others, 'skipped')),
      ...others.flatMap((each) => {
        const result = each.result();
        return result.state === 'skipped' ? [`    ${each.name}: ${result.note ?? 'skipped'}`] : [];
      }),
      row('runs of the program', figures.runs),
      row('stack traces', figures.stacks),
      row('hangs', figures.hangs),
      row('canary secrets found', figures.canaries),
      '',
    ];
    console.log(lines.join('\n'));
  }
}

function ids(): string[] {
  return Array.from(
    { length: last - first + 1 },
    (_, at) => `F${String(first + at).padStart(3, '0')}`,
  );
}

function stateOf(id: string, tests: readonly TestCase[]): { state: string; why: string } {
  const results = tests.map((each) => each.result());
  if (results.some(({ state }) => state === 'failed')) return { state: 'failed', why: '' };
  if (results.some(({ state }) => state === 'passed')) return { state: 'passed', why: '' };
  const why = skipped[id] ?? notesOf(tests);
  return why === undefined ? { state: 'missing', why: '' } : { state: 'skipped', why };
}

function notesOf(tests: readonly TestCase[]): string | undefined {
  const notes = tests.flatMap((each) => {
    const result = each.result();
    return result.state === 'skipped' ? [result.note ?? 'skipped'] : [];
  });
  return notes.length > 0 ? [...new Set(notes)].join('; ') : undefined;
}

function count(tests: readonly TestCase[], state: string): number {
  return tests.filter((each) => each.result().state === state).length;
}

function list(rows: readonly (readonly [string, unknown])[]): string {
  return rows.map(([id]) => id).join(' ');
}

function row(what: string, number: number, more = ''): string {
  return `  ${what.padEnd(24)} ${String(number).padStart(6)}  ${more}`.trimEnd();
}
