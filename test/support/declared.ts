/** A command held to what its own file declares. */
import { expect } from 'vitest';
import { safeParse } from 'zod/mini';
import { commands } from '../../src/commands/index.js';
import type { ManifestCommand } from '../../src/data/command-manifest.js';
import { aDesk, lineOf } from './examples.js';
import { inProcess } from './in-process.js';
import { rosterctl } from './run.js';
import { dryRun, report, shapeOf } from './shapes.js';

/** Reads that no other test starts as a process. */
const reads = new Set([
  ...['overview', 'person', 'commands', 'teams template', 'players template', 'uploads list'],
  ...['backup diff', 'backup show', 'cursors list', 'cursors show', 'sandbox events'],
]);

/** Of those that are started as a process, the two that `npm test` starts. */
export const early = new Set(['overview', 'teams create']);

/** True for a command whose first example is run as a process. */
export function isStarted({ words, writes }: ManifestCommand): boolean {
  return writes || reads.has(words.join(' '));
}

/** Loads a command by its words. */
export async function load(words: readonly string[]) {
  const entry = commands[words[0] ?? ''];
  const loader = typeof entry === 'function' ? entry : entry?.commands[words[1] ?? ''];
  if (!loader) throw new Error(`no command ${words.join(' ')}`);
  return (await loader()).default;
}

/** Runs the first example of a command and expects JSON of its shape. */
export async function expectDeclaredShape(command: ManifestCommand): Promise<void> {
  const name = command.words.join(' ');
  const { view } = await load(command.words);
  const line = lineOf(command, command.examples[0]?.[1] ?? '');
  const run = isStarted(command) ? rosterctl : inProcess;
  const ran = await run([...line, '--yes', '--json'], await aDesk(name));
  expect({ code: ran.code, stderr: ran.code === 0 ? '' : ran.stderr }).toEqual({
    code: 0,
    stderr: '',
  });
  const value: unknown = JSON.parse(ran.stdout);
  const isReport =
    typeof value === 'object' && value !== null && 'summary' in value && 'results' in value;
  const isDryRun = typeof value === 'object' && value !== null && 'dryRun' in value && !isReport;
  const shape = isReport ? report : isDryRun ? dryRun : shapeOf(name, view);
  expect(safeParse(shape, value).error).toBeUndefined();
}
