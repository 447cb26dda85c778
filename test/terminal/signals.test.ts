import { expect, test } from 'vitest';
import { endOfTerminal, watchStops } from '../../src/terminal/signals.js';

function refuse(_pid: number, signal: string): never {
  throw new TypeError(`Unknown signal: ${signal}`);
}

test('Ctrl-Z and a closed window are no errors on Windows, which has no such signals', () => {
  // The process as Node has it there: these signals are unknown or cannot be sent.
  const owner = Object.create(process, {
    platform: { value: 'win32' },
    kill: { value: refuse },
    removeAllListeners: { value: () => {} },
  }) as NodeJS.Process;
  expect(() => watchStops(owner).suspend()).not.toThrow();
  expect(() => endOfTerminal(owner)).not.toThrow();
});
