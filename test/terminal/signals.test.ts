import { expect, test } from 'vitest';
import { watchSuspension } from '../../src/terminal/signals.js';

function refuse(_pid: number, signal: string): never {
  throw new TypeError(`Unknown signal: ${signal}`);
}

test('Ctrl-Z is no error on Windows, which has no such signal', () => {
  // The process as Node has it there: the signal is unknown.
  const owner = Object.create(process, {
    platform: { value: 'win32' },
    kill: { value: refuse },
  }) as NodeJS.Process;
  expect(() => watchSuspension(owner).suspend()).not.toThrow();
});
