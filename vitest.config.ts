import { defineConfig } from 'vitest/config';
import { keepFilesInMemory } from './test/support/in-memory.js';

keepFilesInMemory();

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: ['test/support/setup.ts'],
    include: ['test/**/*.test.ts'],
    // These have commands of their own: npm run faults, with all that is slow, and npm run shapes.
    exclude: [
      'test/faults/**',
      'test/crash/**',
      'test/**/*.slow.test.ts',
      'test/shapes/all/**',
      'node_modules/**',
    ],
    // Tells a hang from an answer, on a machine that is busy with other work, too.
    testTimeout: 120_000,
    hookTimeout: 60_000,
    isolate: false,
    pool: 'forks',
    // Each test waits for a child of its own, and many a child waits, too: four keep two cores busy.
    maxWorkers: 4,
    reporters: ['default', './test/support/skips.ts'],
    // The machine's own certificates, colours and time zone must not reach what is tested.
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
