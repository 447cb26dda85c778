import { defineConfig } from 'vitest/config';

/** The fault catalogue: the built program against hostile servers, files and clocks. */
export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts', 'test/faults/support/program.ts'],
    include: ['test/faults/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    pool: 'forks',
    maxWorkers: 2,
    maxConcurrency: 6,
    reporters: ['default', './test/faults/support/summary.ts'],
    env: { NODE_EXTRA_CA_CERTS: '', NO_COLOR: '', FORCE_COLOR: '' },
  },
});
