/** A program named like the opener of this platform, which writes down what it was given. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Puts it first in the path of a user with a display. */
export function fakeOpener(home: string) {
  const bin = join(home, 'openers');
  const log = join(home, 'opened');
  mkdirSync(bin);
  for (const name of ['xdg-open', 'open']) {
    const program = join(bin, name);
    writeFileSync(
      program,
      `#!/bin/sh\nfor word; do echo "$word"; done > '${log}'\nenv > '${log}.env'\n`,
    );
    chmodSync(program, 0o700);
  }
  return {
    env: { DISPLAY: ':99', PATH: `${bin}:${process.env['PATH'] ?? ''}` },
    arguments: () => (existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : []),
    environment: () => readFileSync(`${log}.env`, 'utf8'),
  };
}
