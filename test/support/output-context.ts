import { emptyConfig } from '../../src/config/config-file.js';
import { resolveSettings, type Settings } from '../../src/config/settings.js';
import type { Context } from '../../src/context.js';
import { isAlive } from './alive.js';

/** The parts of a command's context with which its value is printed, where only these settings were given. */
export function outputContext(given: Partial<Settings> = {}) {
  const { settings } = resolveSettings({ flags: {}, env: {}, file: emptyConfig(undefined) });
  return {
    settings: { ...settings, pager: undefined, ...given },
    flags: {},
    env: {},
    self: { pid: process.pid, isAlive },
    now: () => new Date('2026-11-21T12:00:00Z'),
    note: () => {},
    lendKeys: () => () => {},
    withConnection: (text) => text,
    signal: new AbortController().signal,
  } satisfies Partial<Context>;
}
