import { defineConfig } from 'vitest/config';

/** The fault catalogue, the kill loop and what is slow: the built program against hostile servers, files and kill -9. */
export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts', 'test/faults/support/program.ts'],
    setupFiles: ['test/support/setup.ts'],
    include: ['test/faults/**/*.test.ts', 'test/crash/**/*.test.ts', 'test/**/*.slow.test.ts'],
    testTimeout: 900_000,
    hookTimeout: 60_000,
    pool: 'forks',
    maxWorkers: 2,
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
