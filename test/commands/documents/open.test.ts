import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { documentStore, stored } from '../../support/document-store.js';
import { inProcess } from '../../support/in-process.js';
import { errorOf, rosterctl, temporaryFolder } from '../../support/run.js';
import { key } from '../../support/service.js';

const pdf = { name: 'Contract.pdf', contentType: 'application/pdf' };

/** A desktop whose opener writes down what it was given; `exit`: its exit code, null = there is none. */
async function desktop(more: Record<string, unknown> = pdf, exit: number | null = 0) {
  const api = await documentStore({ documents: [stored('doc_1', Buffer.from('hello'), more)] });
  const home = temporaryFolder();
  const programs = join(home, 'programs');
  mkdirSync(programs);
  const seen = join(home, 'seen');
  if (exit !== null) {
    const script = `#!/bin/sh\nprintf '%s\\n' "$#" "$1" > '${seen}'\n/usr/bin/env >> '${seen}'\nexit ${exit}\n`;
    writeFileSync(join(programs, 'xdg-open'), script);
    chmodSync(join(programs, 'xdg-open'), 0o755);
  }
  const run = (line: string, env: Record<string, string> = { DISPLAY: ':0' }) =>
    inProcess(line, { env: { ...api.env, PATH: programs, ...env }, home });
  return { api, home, run, opened: () => (existsSync(seen) ? readFileSync(seen, 'utf8') : '') };
}

test('open hands a private, read-only copy to the opener, without a shell and without the key', async () => {
  const { run, opened, home } = await desktop({ ...pdf, name: "it's; $(rm -rf x).pdf" });
  const ran = await run('docs open doc_1 --json');
  const row = JSON.parse(ran.stdout);
  expect([ran.code, row]).toMatchObject([0, { id: 'doc_1', bytes: 5, opened: true }]);
  expect(opened().split('\n').slice(0, 2)).toEqual(['1', row.path]);
  expect(opened()).not.toContain(key);
  expect(row.path.startsWith(join(home, '.cache/rosterctl/open/'))).toBe(true);
  expect(basename(row.path)).toBe("it's; $(rm -rf x).pdf");
  expect(readFileSync(row.path, 'utf8')).toBe('hello');
  expect(statSync(row.path).mode & 0o777).toBe(0o400);
  expect(statSync(dirname(row.path)).mode & 0o777).toBe(0o700);
});

test.each([
  [{ name: 'run.desktop', contentType: 'text/plain; charset=utf-8' }, 'run.desktop.txt'],
  [{ name: '../../photo.JPE', contentType: 'image/jpeg' }, 'photo.jpg'],
  [{ name: 'contract.pdf.exe', contentType: 'application/pdf' }, 'contract.pdf.exe.pdf'],
  [{ name: undefined, contentType: 'image/png' }, 'document-doc_1.png'],
  [{ name: 'typeless.sh', contentType: undefined }, 'typeless.sh.txt'],
])('a copy of %j is named %s', async (record, name) => {
  const { run } = await desktop(record);
  const ran = await run('docs open doc_1 --json');
  expect([ran.code, basename(JSON.parse(ran.stdout).path)]).toEqual([0, name]);
});

test('a type that cannot be uploaded is not opened, and not downloaded', async () => {
  const { run, api, opened } = await desktop({ name: 'page.pdf', contentType: 'text/html' });
  const ran = await run('docs open doc_1 --json');
  expect([ran.code, errorOf(ran).message]).toEqual([
    11,
    'doc_1 is text/html, which rosterctl does not open.',
  ]);
  expect([api.store.requests.length, opened()]).toEqual([0, '']);
  const dry = await run('docs open doc_1 --dry-run --json');
  expect([dry.code, errorOf(dry).message]).toEqual([ran.code, errorOf(ran).message]);
});

test.each([
  ['an SSH session', { DISPLAY: ':0', SSH_CONNECTION: '::1 1 ::1 2' }, 0, 'This is an SSH session'],
  ['no display', {}, 0, 'No display found'],
  ['no opener', { DISPLAY: ':0' }, null, 'No program opened the file'],
  ['an opener that fails', { WAYLAND_DISPLAY: 'w' }, 3, 'No program opened the file'],
] as const)('with %s the path is printed', async (_, env, exit, says) => {
  const { run } = await desktop(pdf, exit);
  const ran = await run('docs open doc_1', env);
  expect([ran.code, existsSync(ran.stdout.trimEnd())]).toEqual([0, true]);
  expect(ran.stderr).toContain(says);
});

test('--url prints the signed URL alone, a dry run downloads nothing, an unknown id exits 5', async () => {
  const { run, api, home, opened } = await desktop();
  expect((await run('docs open doc_1 --url')).stdout).toBe(
    `${api.store.origin}/files/doc_1?sig=canary-signature\n`,
  );
  expect(JSON.parse((await run('docs open doc_1 -n --json')).stdout).requests).toHaveLength(1);
  expect((await run('docs open doc_9')).code).toBe(5);
  expect([api.store.requests.length, opened()]).toEqual([0, '']);
  const folder = join(home, '.cache/rosterctl/open');
  expect(existsSync(folder) ? readdirSync(folder) : []).toEqual([]);
});

test('copies older than a day are removed by the next open', async () => {
  const { run, home } = await desktop();
  const first = dirname(JSON.parse((await run('docs open doc_1 --json')).stdout).path as string);
  const second = dirname(JSON.parse((await run('docs open doc_1 --json')).stdout).path as string);
  const before = new Date(Date.now() - 25 * 3_600_000);
  utimesSync(first, before, before);
  await run('docs open doc_1');
  expect([existsSync(first), existsSync(second)]).toEqual([false, true]);
  expect(readdirSync(join(home, '.cache/rosterctl/open'))).toHaveLength(2);
});

test('without a cache folder, only its own copies are removed from among the temporary files', async () => {
  const { api, home } = await desktop();
  const temporary = join(home, 'tmp');
  const names = ['copy-backup', 'rosterctl-copy-Ab3dEf', 'rosterctl-copy-of-mine'];
  const before = new Date(Date.now() - 25 * 3_600_000);
  for (const name of names) {
    mkdirSync(join(temporary, name), { recursive: true });
    utimesSync(join(temporary, name), before, before);
  }
  writeFileSync(join(home, 'a-file'), '');
  const own = { TMPDIR: temporary, ROSTERCTL_CACHE_DIR: join(home, 'a-file') };
  const ran = await rosterctl('docs open doc_1', { home, env: { ...api.env, ...own } });
  const copy = basename(dirname(ran.stdout.trimEnd()));
  expect(new Set(readdirSync(temporary))).toEqual(new Set([names[0], copy, names[2]]));
});

test('a document may be named', async () => {
  const { run, opened } = await desktop();
  expect((await run('docs open name:Contract.pdf')).code).toBe(0);
  expect(opened()).toContain('Contract.pdf');
});

test.each(['docs open REF', 'docs download REF -D HOME', 'docs preview REF -D HOME'])(
  '%s reads the list once to find a document by its name',
  async (line) => {
    const { run, api, home } = await desktop();
    const ran = await run(line.replace('REF', 'name:contract.PDF').replace('HOME', home), {});
    expect(ran.code).toBe(0);
    expect(api.requests.filter(({ url }) => url === '/v1/documents/org_7')).toHaveLength(1);
  },
);
