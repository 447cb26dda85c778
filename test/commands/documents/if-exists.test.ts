import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { until } from '../../bulk/user.js';
import { errorOf, rosterctl, startLine } from '../../support/run.js';
import type { Reply } from '../../support/service.js';
import { desk } from '../../support/upload-desk.js';

test('the same line twice adds nothing, for one file and for several', async () => {
  const { upload, documents, store } = await desk({ 'a.txt': 'one', 'b.txt': 'two' });
  expect((await upload('a.txt')).code).toBe(0);
  const again = await upload('a.txt');
  expect([again.code, JSON.parse(again.stdout)]).toMatchObject([0, { id: 'doc_1' }]);
  expect(again.stderr).toContain('was skipped: uploaded before as doc_1 (same content).\n');
  const both = JSON.parse((await upload('a.txt b.txt')).stdout);
  expect(both.results).toMatchObject([
    { result: 'skipped', after: { id: 'doc_1' }, error: { code: 'exists' } },
    { result: 'changed', after: { id: 'doc_2' } },
  ]);
  const third = JSON.parse((await upload('a.txt b.txt')).stdout);
  expect([third.run, third.summary]).toMatchObject([null, { skipped: 2 }]);
  expect([documents.length, store.requests.length]).toEqual([2, 2]);
});

test('of several documents with the content of a file, the one with its name is the same', async () => {
  const { upload, documents } = await desk({ 'a.txt': 'one', 'b.txt': 'one' });
  await upload('a.txt');
  await upload('b.txt --if-exists duplicate');
  const again = await upload('a.txt');
  expect([again.code, JSON.parse(again.stdout), documents.length]).toMatchObject([
    0,
    { id: 'doc_1', name: 'a.txt' },
    2,
  ]);
  expect(JSON.parse((await upload('b.txt')).stdout)).toMatchObject({ id: 'doc_2' });
});

/** However slow this machine is, its last upload counts as recent. */
function keepRecent(home: string): void {
  const folder = join(home, '.local/state/rosterctl/uploads');
  const soon = new Date(Date.now() + 60_000);
  for (const name of readdirSync(folder)) utimesSync(join(folder, name), soon, soon);
}

test('the same line again adds nothing where the list lags behind the upload', async () => {
  const { upload, documents, home, view } = await desk({ 'a.txt': 'one' });
  expect((await upload('a.txt')).code).toBe(0);
  keepRecent(home);
  const { list } = view;
  let reads = 0;
  view.list = (made) => list((reads += 1) > 2 ? made : []);
  const again = await upload('a.txt');
  expect([again.code, documents.length]).toEqual([0, 1]);
  expect(again.stderr).toContain('was skipped: uploaded before as doc_1 (same content).\n');
});

test('another file does not wait for an upload that the list does not show, as after a deletion', async () => {
  const { upload, documents, home, view } = await desk({ 'a.txt': 'one', 'b.txt': 'three' });
  expect((await upload('a.txt')).code).toBe(0);
  keepRecent(home);
  const { list } = view;
  let reads = 0;
  view.list = (made) => {
    reads += 1;
    return list(made.slice(1));
  };
  const other = await upload('b.txt');
  expect([other.code, documents.length, reads]).toEqual([0, 2, 1]);
  expect(other.stderr).not.toContain('Waiting');
});

test('files of the size of an upload that was deleted wait once together', async () => {
  const names = ['a.txt', 'b.txt', 'c.txt', 'd.txt'];
  const { upload, documents, view } = await desk(
    Object.fromEntries(names.map((name) => [name, name])),
  );
  expect((await upload('a.txt')).code).toBe(0);
  const { list } = view;
  view.list = (made) => list(made.slice(1));
  const more = await upload(`${names.join(' ')} --concurrency 1`);
  expect([more.code, documents.length]).toEqual([0, 5]);
  expect(more.stderr.match(/Waiting/gu)?.length ?? 0).toBeLessThan(2);
});

test.each([
  ['a.txt', 'a.txt b.txt'],
  ['a.txt b.txt', 'a.txt'],
])(
  'docs upload %s and, at the same time, docs upload %s: one document for each file',
  async (...lines) => {
    const { api, home, documents, view } = await desk({ 'a.txt': 'one', 'b.txt': 'two' });
    let grant: (() => void) | undefined;
    view.grants = new Promise((resolve) => {
      grant = resolve;
    });
    const start = (files: string) =>
      startLine(`docs upload ${files} --json`, {
        home,
        env: { ...api.env, ROSTERCTL_SETTLE: '0s' },
      });
    const first = start(lines[0]);
    const count = (part: string) => api.requests.filter(({ url }) => url.includes(part)).length;
    await until(() => count('document-file') > 0);
    const lists = count('/documents/');
    const other = start(lines[1]);
    await until(() => count('/documents/') > lists || other.stderr().includes('Waiting for it.'));
    grant?.();
    const ended = await Promise.all([first.ended, other.ended]);
    expect(ended.map(({ code }) => code)).toEqual([0, 0]);
    expect(documents.map(({ name }) => name).toSorted()).toEqual(['a.txt', 'b.txt']);
  },
);

/** A desk where the upload of these files was interrupted before the store had one. */
async function interrupted(files: Readonly<Record<string, string>>) {
  const here = await desk(files);
  const { put } = here.view;
  here.view.put = () => ({ status: 503 });
  const { code } = await here.upload(`${Object.keys(files).join(' ')} --retries 0`);
  expect(code).toBe(9);
  here.view.put = put;
  return here;
}

test.each([
  ['a.txt', 'docs upload a.txt'],
  ['a.txt', 'uploads finish --all'],
  ['a.txt b.txt', 'docs upload a.txt b.txt'],
])(
  'an interrupted upload of %s adds nothing that another command uploaded since: %s',
  async (names, line) => {
    const files = names.split(' ').map((name) => [name, `content of ${name}`]);
    const { run, upload, documents } = await interrupted(Object.fromEntries(files));
    await upload('a.txt --name again');
    expect(documents.map(({ name }) => name)).toEqual(['again']);
    if (line.startsWith('docs')) {
      const { stdout, stderr } = await run(`${line} --dry-run`);
      expect(stdout + stderr).toContain('uploaded before as doc_1');
    }
    const ran = await run(line);
    expect([ran.code, ran.stdout]).toEqual([0, expect.stringContaining('doc_1')]);
    expect(documents.map(({ name }) => name)).toEqual(['again', ...names.split(' ').slice(1)]);
  },
);

test('a resumed run uploads a file with the bytes of one that it uploaded before it was interrupted', async () => {
  const { upload, view, documents } = await desk({ 'a.txt': 'one', 'b.txt': 'one' });
  const { put } = view;
  let sent = 0;
  view.put = () => ({ status: (sent += 1) > 1 ? 503 : 200 });
  const line = 'a.txt b.txt --concurrency 1 --retries 0';
  expect((await upload(line)).code).toBe(9);
  view.put = put;
  expect((await upload(line)).code).toBe(0);
  expect(documents.map(({ name }) => name)).toEqual(['a.txt', 'b.txt']);
});

test('a resumed run uploads a file with the name and the size of one that it uploaded before', async () => {
  const { upload, view, documents, home, forget } = await desk({ 'a.txt': 'one' });
  mkdirSync(join(home, 'other'));
  writeFileSync(join(home, 'other/a.txt'), 'two');
  const { put } = view;
  let sent = 0;
  view.put = () => ({ status: (sent += 1) > 1 ? 503 : 200 });
  const line = `a.txt ${home}/other/a.txt --concurrency 1 --retries 0`;
  expect((await upload(line)).code).toBe(9);
  view.put = put;
  forget();
  expect((await upload(line)).code).toBe(0);
  expect(documents.map(({ name }) => name)).toEqual(['a.txt', 'a.txt']);
});

test.each(['lists them as they were named', 'renames them'])(
  'the same line uploads a file that was refused, beside one with its bytes, if the service %s',
  async (how) => {
    const { upload, view, documents } = await desk({ 'a.txt': 'one', 'b.txt': 'one' });
    const { put, list } = view;
    if (how === 'renames them')
      view.list = (made) => list(made.map((each) => ({ ...each, name: `renamed ${each.id}` })));
    let sent = 0;
    view.put = () => ({ status: (sent += 1) > 1 ? 403 : 200 });
    const line = 'a.txt b.txt --concurrency 1';
    expect((await upload(line)).code).toBe(8);
    view.put = put;
    const again = JSON.parse((await upload(line)).stdout);
    expect(again.results).toMatchObject([
      { result: 'skipped', after: { id: 'doc_1' } },
      { result: 'changed', after: { id: 'doc_2' } },
    ]);
    const third = JSON.parse((await upload(line)).stdout);
    expect(third.results).toMatchObject([{ after: { id: 'doc_1' } }, { after: { id: 'doc_2' } }]);
    expect(documents.map(({ name }) => name)).toEqual(['a.txt', 'b.txt']);
  },
);

test('a retry uploads a file that was refused, beside one with its bytes', async () => {
  const { run, upload, view, documents } = await desk({ 'a.txt': 'one', 'b.txt': 'one' });
  const { put } = view;
  let sent = 0;
  view.put = () => ({ status: (sent += 1) > 1 ? 403 : 200 });
  expect((await upload('a.txt b.txt --concurrency 1')).code).toBe(8);
  view.put = put;
  const { results } = JSON.parse((await run('runs retry last --yes --json')).stdout);
  expect(results).toMatchObject([{ result: 'changed', after: { id: 'doc_2' } }]);
  expect(documents.map(({ name }) => name)).toEqual(['a.txt', 'b.txt']);
});

test('a file that is skipped keeps its tags, which is said if others were typed', async () => {
  const { upload } = await desk({ 'a.txt': 'one' });
  await upload('a.txt --tag contract');
  expect((await upload('a.txt --tag contract')).stderr).not.toContain('tags');
  expect((await upload('a.txt --tag "season 26"')).stderr).toContain(
    "Files that are skipped keep their tags. To add one: rosterctl docs update doc_1 --add-tag 'season 26'\n",
  );
});

test.each([
  ['objects', [{ name: 'contract' }]],
  ['a text', 'contract, legal'],
])('a file that is skipped keeps its tags where the list shows them as %s', async (_, tags) => {
  const { upload, view } = await desk({ 'a.txt': 'one' });
  await upload('a.txt --tag contract');
  const { list } = view;
  view.list = (made) => list(made.map((record) => ({ ...record, tags })));
  expect((await upload('a.txt --tag contract')).stderr).not.toContain('keep their tags');
  expect((await upload('a.txt --tag "season 26"')).stderr).toContain("--add-tag 'season 26'\n");
});

test('content is known again under another name, and where the service renames and hides sizes', async () => {
  const { upload, documents, view, write } = await desk({ 'a.txt': 'one' });
  await upload('a.txt');
  view.list = (made) => ({
    status: 200,
    json: { documents: made.map(({ id }) => ({ id, name: `renamed ${id}` })), total: made.length },
  });
  write('copy.txt', 'one');
  for (const line of ['a.txt', 'copy.txt', 'a.txt --if-exists skip']) {
    const ran = await upload(line);
    expect([ran.code, ran.stderr]).toEqual([
      0,
      expect.stringContaining('uploaded before as doc_1'),
    ]);
  }
  expect(documents).toHaveLength(1);
  expect((await upload('a.txt --if-exists duplicate')).code).toBe(0);
  expect(documents).toHaveLength(2);
});

test('without a memory the name, type and size decide, and --verify compares the content', async () => {
  const { upload, documents, write, forget } = await desk({ 'a.txt': 'one' });
  await upload('a.txt');
  forget();
  write('a.txt', 'two');
  const skipped = await upload('a.txt');
  expect(skipped.stderr).toContain(
    'same name, type and size as doc_1; content not compared (--verify compares it)',
  );
  expect(documents).toHaveLength(1);
  const compared = await upload('a.txt --verify');
  expect(compared.stderr).toMatch(/doc_1 has the same name as \S+a\.txt but different content/);
  expect(compared.stderr).toMatch(/rosterctl docs replace doc_1 \S+a\.txt/);
  expect([compared.code, documents.length]).toEqual([0, 2]);
  forget();
  expect((await upload('a.txt --verify')).stderr).toContain('same name and content as doc_2');
  expect(documents).toHaveLength(2);
});

test('--verify compares what was uploaded before with what its document holds now', async () => {
  const { upload, documents, view } = await desk({ 'a.txt': 'one' });
  await upload('a.txt');
  expect(JSON.parse((await upload('a.txt --verify')).stdout)).toMatchObject({ id: 'doc_1' });
  view.get = () => (documents.length === 1 ? { status: 200, text: 'ONE' } : undefined);
  expect(JSON.parse((await upload('a.txt --verify')).stdout)).toMatchObject({ id: 'doc_2' });
});

test('another content that this machine knows under the name is uploaded, and told', async () => {
  const { upload, documents, write } = await desk({ 'a.txt': 'one' });
  await upload('a.txt');
  write('a.txt', 'two');
  expect((await upload('a.txt')).stderr).toMatch(
    /doc_1 has the same name as \S+a\.txt but different content/,
  );
  write('a.txt', 'three');
  expect((await upload('a.txt')).stderr).toMatch(
    /doc_1 has the same name as \S+a\.txt but a different size/,
  );
  expect(documents).toHaveLength(3);
});

test('a document that has the name of --name is told by that name', async () => {
  const { upload, write } = await desk({ 'a.txt': 'one' });
  await upload('a.txt --name Contract.pdf');
  write('a.txt', 'three');
  expect((await upload('a.txt --name Contract.pdf')).stderr).toContain(
    'doc_1 has the same name (Contract.pdf) but a different size; the file is uploaded',
  );
});

test('a document that was deleted meanwhile is uploaded again', async () => {
  const { upload, documents, view } = await desk({ 'a.txt': 'one' });
  await upload('a.txt');
  view.list = (made) => ({ status: 200, json: { documents: made.slice(1), total: 0 } });
  expect((await upload('a.txt')).code).toBe(0);
  expect(documents).toHaveLength(2);
});

const doubtful: Readonly<Record<string, readonly [reply: Reply, code: number, says: string]>> = {
  forbidden: [{ status: 403, json: { error: 'forbidden' } }, 7, 'cannot list documents'],
  incomplete: [{ status: 200, json: { documents: [], total: 9 } }, 11, 'may be incomplete'],
  unreadable: [{ status: 200, text: '<html>' }, 11, 'cannot be read'],
  'without sizes': [
    { status: 200, json: { documents: [{ id: 'doc_9', name: 'b.txt' }], total: 1 } },
    11,
    'does not show the type and size of doc_9',
  ],
  'without types': [
    { status: 200, json: { documents: [{ id: 'doc_9', name: 'b.txt', sizeBytes: 3 }], total: 1 } },
    11,
    'does not show the type and size of doc_9',
  ],
  'with types only': [
    {
      status: 200,
      json: { documents: [{ id: 'doc_9', name: 'b.txt', contentType: 'text/plain' }], total: 1 },
    },
    11,
    'does not show the type and size of doc_9',
  ],
};

test.each(Object.entries(doubtful))(
  'a list that is %s: the default uploads with a warning, skip and error are refused',
  async (_, [reply, code, says]) => {
    const { upload, documents, view } = await desk({ 'a.txt': 'one', 'b.txt': 'two' });
    await upload('a.txt');
    view.list = () => reply;
    const isGone = says.includes('doc_9');
    for (const how of ['skip', 'error'])
      for (const files of ['b.txt', 'b.txt a.txt', ...(isGone ? [] : ['a.txt'])]) {
        const ran = await upload(`${files} --if-exists ${how}`);
        expect([ran.code, errorOf(ran).exitCode]).toEqual([code, code]);
      }
    expect(documents).toHaveLength(1);
    const ran = await upload('b.txt -q');
    expect([ran.code, documents.length]).toEqual([0, 2]);
    expect(ran.stderr).toMatch(
      /Files may be uploaded a second time, because .*[^.]\. To prevent that: /s,
    );
    expect(ran.stderr).toContain(says);
    // What this machine uploaded needs no list, unless the list proves that it is gone.
    const known = await upload('b.txt');
    expect([known.code, documents.length]).toEqual([0, isGone ? 3 : 2]);
  },
);

test('error refuses a file that is there, and a dry run tells what would be skipped', async () => {
  const { upload, api } = await desk({ 'a.txt': 'one', 'b.txt': 'two' });
  await upload('a.txt');
  const before = api.requests.length;
  for (const files of ['a.txt', 'b.txt a.txt']) {
    const ran = await upload(`${files} --if-exists error`);
    expect([ran.code, errorOf(ran).code]).toEqual([11, 'exists']);
  }
  const one = await upload('a.txt -n');
  expect(JSON.parse(one.stdout)).toMatchObject({ requests: [], changes: [] });
  expect(one.stderr).toContain('a.txt would be skipped: uploaded before as doc_1');
  const both = JSON.parse((await upload('a.txt b.txt -n')).stdout);
  expect(both.results.map(({ result }: { result: string }) => result)).toEqual([
    'skipped',
    'would_change',
  ]);
  expect(new Set(api.requests.slice(before).map(({ method }) => method))).toEqual(new Set(['GET']));
});

test('stdin is compared, too, and its document printed', async () => {
  const { home, api, documents } = await desk({});
  const upload = () =>
    rosterctl('docs upload - --name rules.txt --json', { env: api.env, home, stdin: 'the rules' });
  expect((await upload()).code).toBe(0);
  const again = await upload();
  expect([again.code, JSON.parse(again.stdout), documents.length]).toMatchObject([
    0,
    { id: 'doc_1' },
    1,
  ]);
});

test('what was uploaded is kept in a private file that a torn line does not spoil', async () => {
  const { home, upload, documents, write } = await desk({ 'a.txt': 'one', 'b.txt': 'two' });
  await upload('a.txt');
  const folder = join(home, '.local/state/rosterctl/uploads');
  const [name = ''] = readdirSync(folder);
  const path = join(folder, name);
  expect([statSync(folder).mode & 0o777, statSync(path).mode & 0o777]).toEqual([0o700, 0o600]);
  writeFileSync(path, `${readFileSync(path, 'utf8')}\n{"sha256":"torn`);
  write('copy.txt', 'one');
  expect((await upload('copy.txt')).stderr).toContain('uploaded before as doc_1');
  await upload('b.txt');
  expect((await upload('a.txt b.txt')).code).toBe(0);
  expect(documents).toHaveLength(2);
});

test('what was uploaded takes a bounded space, and the newest is kept', async () => {
  const { home, upload, documents } = await desk({ 'a.txt': 'one', 'b.txt': 'two', 'c.txt': 'x' });
  await upload('a.txt');
  const folder = join(home, '.local/state/rosterctl/uploads');
  const [name = ''] = readdirSync(folder);
  const path = join(folder, name);
  writeFileSync(path, `${readFileSync(path, 'utf8')}${'\n'.repeat(4 * 1024 * 1024)}`);
  await upload('b.txt');
  expect(readdirSync(folder)).toHaveLength(2);
  expect(statSync(path).size).toBeLessThan(1000);
  expect((await upload('a.txt b.txt')).code).toBe(0);
  expect(documents).toHaveLength(2);
});

test('--results names the document of each file', async () => {
  const { home, upload } = await desk({ 'a.txt': 'one', 'b.txt': 'two' });
  await upload('a.txt');
  await upload(`a.txt b.txt --results ${join(home, 'out.csv')}`);
  const [head, first, second] = readFileSync(join(home, 'out.csv'), 'utf8').split('\r\n');
  expect(head).toBe('path,result,error_code,message,id');
  expect(first).toMatch(/a\.txt,skipped,exists,uploaded before as doc_1 \(same content\),doc_1$/);
  expect(second).toMatch(/b\.txt,changed,,,doc_2$/);
});
