import { openSandbox } from '../../src/sandbox/embedded.js';
import { isAlive } from '../support/alive.js';

// A process that opens a sandbox and forgets to close it.
const [, , stateDir = ''] = process.argv;

void openSandbox({
  stateDir,
  self: { pid: process.pid, isAlive },
  now: () => new Date(),
}).then(() => process.stdout.write('open\n'));
