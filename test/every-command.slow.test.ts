import { describe, expect, test } from 'vitest';
import { describeCommands } from '../src/cli/manifest.js';
import { commands } from '../src/commands/index.js';
import type { ManifestCommand } from '../src/data/command-manifest.js';
import { early, expectDeclaredShape, isStarted } from './support/declared.js';
import { aDesk, lineOf, testedElsewhere } from './support/examples.js';
import { inProcess } from './support/in-process.js';
import { rosterctl } from './support/run.js';

/** The first is run as JSON by every-command.test.ts or below; as text it is run here where it is the only one. */
const others = ({ examples }: ManifestCommand) => examples.slice(examples.length > 1 ? 1 : 0);

const { commands: described } = await describeCommands(commands);

/** The one whose examples are processes here; every other command is started as JSON below, or by its own tests. */
const started = 'teams list';

describe.each(
  described
    .map((command) => [command.words.join(' '), command] as const)
    .filter(([name]) => !testedElsewhere.has(name)),
)('the help of %s gives examples that work:', (name, command) => {
  const run = name === started ? rosterctl : inProcess;
  test.each(others(command))('%s', async (_, words) => {
    const ran = await run([...lineOf(command, words), '--yes'], await aDesk(name));
    expect(ran.stderr).not.toMatch(/^\s+at /m);
    expect({ code: ran.code, stderr: ran.code === 0 ? '' : ran.stderr }).toEqual({
      code: 0,
      stderr: '',
    });
  });
});

test.each(
  described
    .filter((command) => isStarted(command))
    .map((command) => [command.words.join(' '), command] as const)
    .filter(([name]) => !testedElsewhere.has(name) && !early.has(name)),
)('%s prints JSON of its declared shape', (_, command) => expectDeclaredShape(command));
