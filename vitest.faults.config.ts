import { statSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { keepFilesInMemory } from './test/support/in-memory.js';

keepFilesInMemory();

/** What takes longest begins first, so that no worker is left alone with it at the end. */
const longest = [
  'faults/upload.',
  'crash/system-calls.',
  'faults/silence.',
  'cli/completion-shells.slow.',
  'crash/model.',
  'faults/framing.',
  'backups/verify.slow.',
  'commands/uploads/finish.slow.',
  'faults/convert-steps.',
  'faults/freshness.',
  'review/kill.slow.',
  'sheets/memory.slow.',
  'crash/configuration.',
  'crash/journal-cut.',
  'faults/connection.',
  'faults/undo.',
  'crash/kill.',
  'sandbox-promises.slow.',
  'readme.slow.',
  'every-command.slow.',
  'terminal/interaction.slow.',
  'faults/hostile-texts.',
  'faults/spreadsheet.',
  'crash/power-cut.',
  'crash/ticks.',
  'replaced-files.slow.',
  'cli/completion-zsh.slow.',
  'files/named-pipes.slow.',
  'api/list-memory.slow.',
  'random/taken-up.slow.',
  'crash/plan.',
  'crash/backup.',
  'screens/screens.slow.',
  'bulk/references.slow.',
  'crash/import.',
];

const rank = ({ moduleId }: TestSpecification) => {
  const at = longest.findIndex((name) => moduleId.includes(`/${name}`));
  return at < 0 ? longest.length : at;
};
const size = ({ moduleId }: TestSpecification) => statSync(moduleId).size;

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((a, b) => rank(a) - rank(b) || size(b) - size(a));
  }
}

/** The fault catalogue, the kill loop and what is slow: the built program against hostile servers, files and kill -9. */
export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts', 'test/faults/support/program.ts'],
    setupFiles: ['test/support/setup.ts'],
    include: ['test/faults/**/*.test.ts', 'test/crash/**/*.test.ts', 'test/**/*.slow.test.ts'],
    testTimeout: 900_000,
    hookTimeout: 60_000,
    isolate: false,
    pool: 'forks',
    // Most of them wait, for a child or for what a child waits for: four keep two cores busy.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    maxConcurrency: 6,
    reporters: ['default', './test/faults/support/summary.ts'],
    env: {
      TZ: 'UTC',
      NODE_EXTRA_CA_CERTS: '',
      NO_COLOR: '',
      FORCE_COLOR: '',
      // The AWS library announces which Node it will want one day.
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    },
  },
});
