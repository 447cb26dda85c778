import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../support/run.js';

/** A wall clock that a test sets while the program runs; the monotonic clock is unaffected. */
export interface FalseClock {
  readonly env: Readonly<Record<string, string>>;
  /** `-1h`, `+1d` relative to the real time, or `@2038-01-19 03:14:00`. */
  set(time: string): void;
}

export function falseClock(): FalseClock {
  const file = join(temporaryFolder('clock'), 'time');
  const set = (time: string) => {
    // At once: libfaketime ends a program that reads an empty file.
    writeFileSync(`${file}.new`, `${time}\n`);
    renameSync(`${file}.new`, file);
  };
  set('+0');
  return { env: { ...preloaded(), FAKETIME_TIMESTAMP_FILE: file, FAKETIME_NO_CACHE: '1' }, set };
}

/** Returns why the clock cannot be faked here; undefined if it can. */
export function cannotFalsifyClocks(): string | undefined {
  if (library() === undefined) return 'libfaketime is not installed (apt-get install faketime)';
  const env = { ...preloaded(), FAKETIME: '@2038-01-19 03:14:00' };
  const year = execFileSync(process.execPath, ['-p', 'new Date().getFullYear()'], { env });
  return year.toString().trim() === '2038' ? undefined : 'libfaketime has no effect here';
}

function preloaded(): Record<string, string> {
  return { LD_PRELOAD: library() ?? '', FAKETIME_DONT_FAKE_MONOTONIC: '1', TZ: 'UTC' };
}

function library(): string | undefined {
  const folders = existsSync('/usr/lib') ? readdirSync('/usr/lib') : [];
  return ['', ...folders]
    .map((folder) => join('/usr/lib', folder, 'faketime', 'libfaketimeMT.so.1'))
    .find((file) => existsSync(file));
}
