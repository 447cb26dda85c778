import { expect, test } from 'vitest';
import { cacheFolder, noBase, requireFolder, resolvePaths } from '../../src/config/paths.js';
import type { Environment } from '../../src/data/environment.js';
import { ConfigError } from '../../src/errors.js';
import { inProcess } from '../support/in-process.js';

const on = (env: Environment, platform: NodeJS.Platform = 'linux') => {
  const { config, state, cache } = resolvePaths({ env, platform, uid: 1000 });
  return [config?.path, state?.path, cache?.path];
};

test.each<[string, Environment, NodeJS.Platform, (string | undefined)[]]>([
  [
    'a home folder alone',
    { HOME: '/home/ann' },
    'linux',
    [
      '/home/ann/.config/rosterctl',
      '/home/ann/.local/state/rosterctl',
      '/home/ann/.cache/rosterctl',
    ],
  ],
  [
    'the XDG folders',
    { HOME: '/home/ann', XDG_CONFIG_HOME: '/x/c', XDG_STATE_HOME: '/x/s', XDG_CACHE_HOME: '/x/k' },
    'darwin',
    ['/x/c/rosterctl', '/x/s/rosterctl', '/x/k/rosterctl'],
  ],
  [
    'our own variables, used unchanged',
    {
      HOME: '/home/ann',
      XDG_CONFIG_HOME: '/x/c',
      ROSTERCTL_CONFIG_DIR: '/r/c',
      ROSTERCTL_STATE_DIR: '/r/s',
      ROSTERCTL_CACHE_DIR: '/r/k',
    },
    'linux',
    ['/r/c', '/r/s', '/r/k'],
  ],
  [
    'empty variables count as unset',
    { HOME: '/home/ann', XDG_CONFIG_HOME: '', ROSTERCTL_CONFIG_DIR: '' },
    'linux',
    [
      '/home/ann/.config/rosterctl',
      '/home/ann/.local/state/rosterctl',
      '/home/ann/.cache/rosterctl',
    ],
  ],
  [
    'Windows',
    { APPDATA: 'C:\\Users\\ann\\AppData\\Roaming', LOCALAPPDATA: 'C:\\Users\\ann\\AppData\\Local' },
    'win32',
    [
      'C:\\Users\\ann\\AppData\\Roaming\\rosterctl',
      'C:\\Users\\ann\\AppData\\Local\\rosterctl\\state',
      'C:\\Users\\ann\\AppData\\Local\\rosterctl\\cache',
    ],
  ],
])('%s', (_, env, platform, expected) => {
  expect(on(env, platform)).toEqual(expected);
});

test.each<[string, Environment]>([
  ['no HOME', {}],
  ['an empty HOME', { HOME: '' }],
  ['a HOME relative to wherever one stands', { HOME: '.' }],
  ['a relative XDG folder without HOME', { XDG_CONFIG_HOME: 'config' }],
])('%s means no folder, and the error names the variable to set', (_, env) => {
  expect(on(env)).toEqual([undefined, undefined, undefined]);
  const paths = resolvePaths({ env, platform: 'linux', uid: 1000 });
  let refusal: unknown;
  try {
    requireFolder(paths, 'config');
  } catch (error) {
    refusal = error;
  }
  expect(refusal).toBeInstanceOf(ConfigError);
  expect((refusal as ConfigError).hint).toContain('ROSTERCTL_CONFIG_DIR');
});

test('the variable that is not set is named as the system has it', () => {
  expect(noBase('state', false)).toBe('HOME is not set');
  expect(noBase('state', true)).toBe('LOCALAPPDATA is not set');
  expect(noBase('config', true)).toBe('APPDATA is not set');
});

test('the cache of one organization is kept apart from that of any other', () => {
  const paths = resolvePaths({ env: { HOME: '/home/ann' }, platform: 'linux', uid: 1000 });
  const folders = [
    cacheFolder(paths, 'https://a.example', 'org_1'),
    cacheFolder(paths, 'https://a.example', 'org_2'),
    cacheFolder(paths, 'https://b.example', 'org_1'),
    cacheFolder(paths, 'https://a.example', 'ORG_1'),
    cacheFolder(paths, 'https://a.example', '../../..'),
    cacheFolder(paths, 'https://a.example', 'o'.repeat(300)),
  ];
  expect(new Set(folders).size).toBe(6);
  for (const folder of folders)
    expect(folder).toMatch(
      /^\/home\/ann\/\.cache\/rosterctl\/[0-9a-f]{1,143}(\/[0-9a-f]{1,143})*$/,
    );
});

test.each([
  ['tryouts list', 4, 'No stored key can be read, because HOME is not set.'],
  ['-p club tryouts list', 2, 'The profile club cannot be read, because HOME is not set.'],
  ['auth status', 4, 'No stored key can be read, because HOME is not set.'],
])('%s without HOME does not say that nothing is stored', async (line, code, message) => {
  const ran = await inProcess(line, { env: { HOME: '' } });
  expect([ran.code, `${ran.stdout}${ran.stderr}`]).toEqual([
    code,
    expect.stringContaining(message),
  ]);
  expect(ran.stderr).toContain('Set HOME, or ROSTERCTL_CONFIG_DIR to the folder of config.json.');
});
