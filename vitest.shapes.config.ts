import { defineConfig } from 'vitest/config';
import { keepFilesInMemory } from './test/support/in-memory.js';

keepFilesInMemory();

/** The matrix: every command against every shape that the service may have. */
export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    include: ['test/shapes/all/*.test.ts'],
    testTimeout: 120_000,
    pool: 'forks',
    // One for each file, or two would leave the third to one of them.
    maxWorkers: 3,
    maxConcurrency: 8,
    silent: process.env['SHAPES_SHOW'] === undefined,
    reporters: ['./test/shapes/report.ts'],
    env: {
      NODE_EXTRA_CA_CERTS: '',
      NO_COLOR: '',
      FORCE_COLOR: '',
      // The AWS library announces which Node it will want one day.
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    },
  },
});
