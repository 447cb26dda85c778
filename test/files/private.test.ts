import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ConfigError } from '../../src/errors.js';
import {
  ensurePrivateFolder,
  ensurePrivateFolders,
  inspectPrivateFile,
  tightenPrivateFile,
} from '../../src/files/private.js';
import { temporaryFolder } from '../support/run.js';

const home = temporaryFolder();
const owner = process.getuid?.();
const modeOf = (path: string) => statSync(path).mode & 0o777;
let count = 0;
const fresh = () => join(home, `case-${++count}`);

describe.each([0o000, 0o022, 0o077])('with umask %i', (mask) => {
  let before = 0;
  beforeEach(() => {
    before = process.umask(mask);
  });
  afterEach(() => {
    process.umask(before);
  });

  test('a new folder and its missing parents are private to the owner', () => {
    const top = fresh();
    ensurePrivateFolder(join(top, 'a', 'b'), { owner });
    expect([top, join(top, 'a'), join(top, 'a', 'b')].map(modeOf)).toEqual([0o700, 0o700, 0o700]);
  });
});

test('an existing looser folder is tightened, its content stays', () => {
  const folder = fresh();
  mkdirSync(folder);
  chmodSync(folder, 0o777);
  writeFileSync(join(folder, 'kept'), 'kept');
  ensurePrivateFolder(folder, { owner });
  expect(modeOf(folder)).toBe(0o700);
  expect(existsSync(join(folder, 'kept'))).toBe(true);
});

test('a planted link is refused, and its target is left alone', () => {
  const [target, planted] = [fresh(), fresh()];
  mkdirSync(target);
  chmodSync(target, 0o755);
  symlinkSync(target, planted);
  expect(() => ensurePrivateFolder(planted, { owner })).toThrow(/is a link/);
  expect(modeOf(target)).toBe(0o755);
});

test('a dangling link is refused and its target is not created', () => {
  const [target, planted] = [fresh(), fresh()];
  symlinkSync(target, planted);
  expect(() => ensurePrivateFolder(planted, { owner })).toThrow(ConfigError);
  expect(existsSync(target)).toBe(false);
});

test('a file in the place of the folder or of a parent is reported', () => {
  const file = fresh();
  writeFileSync(file, '');
  expect(() => ensurePrivateFolder(file, { owner })).toThrow(/is not a folder/);
  expect(() => ensurePrivateFolder(join(file, 'below'), { owner })).toThrow(ConfigError);
});

test('a folder shared by all users is not made private', () => {
  const shared = fresh();
  mkdirSync(shared);
  chmodSync(shared, 0o1777);
  expect(() => ensurePrivateFolder(shared, { owner })).toThrow(/shared by everyone/);
  expect(lstatSync(shared).mode & 0o7777).toBe(0o1777);
  // Without an owner nothing is changed, should this fail.
  expect(() => ensurePrivateFolder('/', { owner: undefined })).toThrow(/shared by everyone/);
});

test('folders within a planted link are refused, too', () => {
  const [target, path] = [fresh(), fresh()];
  mkdirSync(target);
  symlinkSync(target, path);
  const folder = { path, within: undefined, variable: 'ROSTERCTL_STATE_DIR' };
  expect(() => ensurePrivateFolders(folder, [join(path, 'cursors')], owner)).toThrow(/is a link/);
  expect(readdirSync(target)).toEqual([]);
});

test('a missing home folder is not created', () => {
  const missing = fresh();
  expect(() =>
    ensurePrivateFolder(join(missing, '.config', 'rosterctl'), { owner, within: missing }),
  ).toThrow(`The home folder ${missing} does not exist.`);
  expect(existsSync(missing)).toBe(false);
});

test('a folder of another user is refused', () => {
  const folder = fresh();
  mkdirSync(folder);
  expect(() => ensurePrivateFolder(folder, { owner: (owner ?? 0) + 4242 })).toThrow(
    /belongs to another user/,
  );
});

test('a file of another user is not read, one of root is', ({ skip }) => {
  skip(owner !== 0, 'only root can give a file to another user');
  const file = fresh();
  writeFileSync(file, 'x', { mode: 0o600 });
  expect(inspectPrivateFile(file, 4242)).toMatchObject({ state: 'present' });
  chownSync(file, 4343, 4343);
  expect(() => inspectPrivateFile(file, 4242)).toThrow(/belongs to another user/);
});

test.for([
  ['rosterctl', /^If sudo created (\/\S+\/rosterctl), make it yours: sudo chown -R "\$USER" \1$/],
  // It may be the home of someone else.
  ['root', /^Name a folder of your own/],
] as const)('a file in the folder %s of another user is refused', ([name, hint], { skip }) => {
  skip(owner !== 0, 'only root can act as another user');
  const folder = join(fresh(), name);
  mkdirSync(dirname(folder));
  for (const visible of [dirname(home), home, dirname(folder)]) chmodSync(visible, 0o755);
  mkdirSync(folder, { mode: 0o700 });
  process.seteuid?.(4242);
  try {
    expect(() => inspectPrivateFile(join(folder, 'runs', 'config.json'), 4242)).toThrow(
      expect.objectContaining({
        message: expect.stringContaining('permission denied (EACCES)'),
        hint: expect.stringMatching(hint),
      }),
    );
  } finally {
    process.seteuid?.(0);
  }
});

test('a looser file is detected and tightened', () => {
  const file = fresh();
  writeFileSync(file, 'x');
  chmodSync(file, 0o644);
  expect(inspectPrivateFile(file, owner)).toEqual({
    state: 'present',
    loose: true,
    link: false,
  });
  tightenPrivateFile(file, owner);
  expect(modeOf(file)).toBe(0o600);
  expect(inspectPrivateFile(file, owner)).toMatchObject({ loose: false });
});

test('a link in the place of a private file is not written through', () => {
  const [target, planted] = [fresh(), fresh()];
  writeFileSync(target, 'mine');
  symlinkSync(target, planted);
  expect(() => tightenPrivateFile(planted, owner)).toThrow(/is a link/);
});

test('a missing file is absent, not an error', () => {
  const file = join(fresh(), 'deep', 'none');
  expect(inspectPrivateFile(file, owner)).toEqual({ state: 'absent' });
  expect(() => tightenPrivateFile(file, owner)).not.toThrow();
});
