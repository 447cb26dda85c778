import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  type DocumentStoreOptions,
  documentStore,
  fileReply,
  type Stored,
  sha256,
  stored,
} from '../../support/document-store.js';
import { inProcess } from '../../support/in-process.js';
import { errorOf, rosterctl, temporaryFolder } from '../../support/run.js';

const kept = '.rosterctl-downloads.json';

const contract = (id: string, text: string, more: Record<string, unknown> = {}) =>
  stored(id, Buffer.from(text), { name: 'Contract.txt', updatedAt: '2026-01-01', ...more });

/** What a stranger may write of a document. */
const entry = (name: string) => ({
  id: 'doc_1',
  name,
  size: 3,
  sha256: 'a'.repeat(64),
  updatedAt: '2026-01-01',
});

/** A service with documents that a test may exchange, and the folder that mirrors them. */
const mirror = (...documents: Stored[]) => mirrorOf({ documents });

async function mirrorOf({
  documents,
  ...options
}: DocumentStoreOptions & { readonly documents: Stored[] }) {
  const api = await documentStore({ documents, ...options });
  const home = temporaryFolder();
  const out = join(home, 'out');
  const run = (line = '--all', env: Record<string, string> = {}) =>
    inProcess(`docs download -D ${out} --skip-existing ${line}`, {
      env: { ...api.env, ...env },
      home,
    });
  const asked = () => api.asked().splice(0);
  const files = () =>
    Object.fromEntries(
      readdirSync(out)
        .filter((name) => name !== kept)
        .map((name) => [name, readFileSync(join(out, name), 'utf8')]),
    );
  const requested = () => {
    const ids = asked();
    api.store.requests.length = 0;
    return ids;
  };
  return { api, documents, home, out, run, files, requested };
}

test('a mirror downloads each document once, and remembers it in a private file', async () => {
  const { run, requested, out, files } = await mirror(
    contract('doc_1', 'one', { name: 'a.txt' }),
    contract('doc_2', 'two', { name: 'b.txt', updatedAt: undefined }),
  );
  expect((await run()).code).toBe(0);
  expect([requested(), files()]).toEqual([['doc_1', 'doc_2'], { 'a.txt': 'one', 'b.txt': 'two' }]);
  const content = JSON.parse(readFileSync(join(out, kept), 'utf8'));
  expect(content).toMatchObject({
    schema: 1,
    organization: 'org_7',
    files: [
      { id: 'doc_1', name: 'a.txt', size: 3, updatedAt: '2026-01-01' },
      { id: 'doc_2', name: 'b.txt', size: 3, record: expect.stringMatching(/^\w{64}$/) },
    ],
  });
  expect(statSync(join(out, kept)).mode & 0o777).toBe(0o600);
  const again = await run();
  expect([again.code, requested()]).toEqual([0, []]);
  expect(again.stdout).toContain('a.txt  3 bytes  skipped (unchanged)');
});

test('what was replaced on the service is fetched again, also at the same size', async () => {
  const { run, requested, documents, files } = await mirror(contract('doc_1', 'one'));
  await run();
  requested();
  documents[0] = contract('doc_1', 'two', { updatedAt: '2026-02-02' });
  expect((await run()).code).toBe(0);
  expect([requested(), files()]).toEqual([['doc_1'], { 'Contract.txt': 'two' }]);
});

test('a record without a time that is sent in another order is the same, one with another value is not', async () => {
  const first = contract('doc_1', 'one', { updatedAt: undefined, owner: { id: 1, name: 'Ann' } });
  const { run, requested, documents, files } = await mirror(first);
  await run();
  requested();
  const { owner: _, ...rest } = first.record;
  documents[0] = { ...first, record: { owner: { name: 'Ann', id: 1 }, ...rest } };
  expect([(await run()).code, requested()]).toEqual([0, []]);
  documents[0] = contract('doc_1', 'two', { updatedAt: undefined, owner: { id: 2 } });
  expect([(await run()).code, requested(), files()]).toEqual([
    0,
    ['doc_1'],
    { 'Contract.txt': 'two' },
  ]);
});

test('no file that is there is renamed, whatever else gets its name', async () => {
  const { run, documents, files, requested } = await mirror(contract('doc_1', 'one'));
  await run();
  requested();
  documents.push(contract('doc_2', 'uno'));
  await run();
  expect(files()).toEqual({ 'Contract.txt': 'one', 'Contract-doc_2.txt': 'uno' });
  expect(requested()).toEqual(['doc_2']);
  documents[0] = contract('doc_1', 'uno', { updatedAt: '2026-02-02' });
  await run();
  expect(files()).toEqual({ 'Contract.txt': 'uno', 'Contract-doc_2.txt': 'uno' });
  documents[0] = contract('doc_1', 'uno', { name: 'Renamed.txt', updatedAt: '2026-03-03' });
  const renamed = await run('--all --json');
  const rows = JSON.parse(renamed.stdout) as { id: string; path: string }[];
  expect(rows.find(({ id }) => id === 'doc_1')?.path).toMatch(/Contract\.txt$/);
  expect(Object.keys(files())).toEqual(['Contract-doc_2.txt', 'Contract.txt']);
  documents[1] = contract('doc_2', 'newer', { updatedAt: '2026-04-04' });
  await run();
  expect(files()).toEqual({ 'Contract.txt': 'uno', 'Contract-doc_2.txt': 'newer' });
});

test('documents with one name and one content have a file each', async () => {
  const { run, documents, files } = await mirror(contract('doc_1', 'one'));
  await run();
  documents.push(contract('doc_2', 'one'));
  await run();
  expect(files()).toEqual({ 'Contract.txt': 'one', 'Contract-doc_2.txt': 'one' });
});

test('a document with another name and other bytes of that length comes beside its old file', async () => {
  const { run, documents, files } = await mirror(contract('doc_1', 'one'));
  await run();
  documents[0] = contract('doc_1', 'uno', { name: 'Renamed.txt', updatedAt: '2026-02-02' });
  await run();
  expect(files()).toEqual({ 'Contract.txt': 'one', 'Renamed.txt': 'uno' });
});

test('a file whose document is gone stays and is told; its successor gets its id appended', async () => {
  const { run, documents, files } = await mirror(contract('doc_1', 'old one'));
  await run();
  documents[0] = contract('doc_2', 'new');
  const ran = await run();
  expect(ran.code).toBe(0);
  expect(ran.stderr).toContain(
    '1 document is no longer in the list; its file stays: Contract.txt (doc_1)',
  );
  expect(files()).toEqual({ 'Contract.txt': 'old one', 'Contract-doc_2.txt': 'new' });
  expect((await run('--tag none')).stderr).not.toContain('no longer');
});

test('what --overwrite brought meanwhile is taken as it is', async () => {
  const { run, api, home, out, documents, files } = await mirror(contract('doc_1', 'one'));
  await run();
  documents[0] = contract('doc_1', 'newer', { updatedAt: '2026-02-02' });
  const line = `docs download --all -D ${out} --overwrite`;
  expect((await inProcess(line, { env: api.env, home })).code).toBe(0);
  expect((await run()).stderr).not.toContain('was changed here');
  expect(files()).toEqual({ 'Contract.txt': 'newer' });
  expect((await run()).stdout).toContain('skipped (unchanged)');
});

test('a file that is changed here while its document is downloaded stays', async () => {
  const documents = [contract('doc_1', 'one')];
  const [home, file] = [temporaryFolder(), 'out/Contract.txt'];
  let edits = false;
  const store = () => {
    if (edits) writeFileSync(join(home, file), 'mine');
    return undefined;
  };
  const { env } = await documentStore({ documents, store });
  const run = () =>
    inProcess(`docs download --all -D ${join(home, 'out')} --skip-existing`, { env, home });
  await run();
  documents[0] = contract('doc_1', 'newer', { updatedAt: '2026-02-02' });
  edits = true;
  const ran = await run();
  expect([ran.code, readFileSync(join(home, file), 'utf8')]).toEqual([11, 'mine']);
  expect(ran.stderr).toContain('Contract.txt was changed here during the download');
  edits = false;
  expect((await run()).code).toBe(0);
  expect(readFileSync(join(home, 'out/Contract-doc_1.txt'), 'utf8')).toBe('newer');
  expect(readFileSync(join(home, file), 'utf8')).toBe('mine');
});

test('a file that was changed here stays, and the document comes beside it', async () => {
  const { run, files, out, documents } = await mirror(contract('doc_1', 'one'));
  await run();
  writeFileSync(join(out, 'Contract.txt'), 'my own notes');
  const ran = await run();
  expect(ran.stderr).toContain('was changed here and stays');
  expect(files()).toEqual({ 'Contract.txt': 'my own notes', 'Contract-doc_1.txt': 'one' });
  writeFileSync(join(out, 'Contract-doc_1.txt'), 'ONE');
  documents[0] = contract('doc_1', 'two', { updatedAt: '2026-02-02' });
  expect((await run()).code).toBe(0);
  expect(files()).toEqual({
    'Contract-doc_1-2.txt': 'two',
    'Contract-doc_1.txt': 'ONE',
    'Contract.txt': 'my own notes',
  });
  for (const name of ['Contract-doc_1.txt', 'Contract-doc_1-2.txt']) unlinkSync(join(out, name));
  expect((await run()).code).toBe(0);
  expect(files()).toEqual({ 'Contract-doc_1.txt': 'two', 'Contract.txt': 'my own notes' });
  unlinkSync(join(out, 'Contract-doc_1.txt'));
  writeFileSync(join(out, 'Contract.txt'), 'two');
  expect([(await run()).code, files()]).toEqual([0, { 'Contract.txt': 'two' }]);
  expect((await run()).stdout).toContain('Contract.txt  3 bytes  skipped (unchanged)');
});

test('the folder of another organization or service is refused before a document is requested', async () => {
  const { run, api, out } = await mirror(contract('doc_1', 'one'));
  mkdirSync(out);
  const other = { schema: 1, origin: api.baseUrl, organization: 'org_other', files: [] };
  for (const content of [other, { ...other, origin: 'https://x/v1', organization: 'org_7' }]) {
    writeFileSync(join(out, kept), JSON.stringify(content));
    const ran = await run('--all --json');
    expect([ran.code, errorOf(ran).code]).toEqual([11, 'otherOrganization']);
  }
  expect(api.store.requests).toEqual([]);
  expect(readdirSync(out)).toEqual([kept]);
});

test('a damaged file is ignored with a note and written anew', async () => {
  const { run, out, requested, documents } = await mirror(contract('doc_1', 'one'));
  await run();
  requested();
  const text = readFileSync(join(out, kept), 'utf8');
  const content = JSON.parse(text);
  const { files: _, ...fileless } = content;
  const wrong = [fileless, { ...content, schema: 2 }, { ...content, organization: 7 }];
  for (const damaged of [text.slice(0, -20), '', '[]', ...wrong]) {
    writeFileSync(join(out, kept), typeof damaged === 'string' ? damaged : JSON.stringify(damaged));
    const ran = await run();
    expect([ran.code, ran.stderr]).toEqual([0, expect.stringContaining('is damaged')]);
    expect(ran.stdout).toContain('skipped (same name and size)');
  }
  expect(requested()).toEqual([]);
  documents.push(contract('doc_2', 'two', { name: 'b.txt' }));
  await run();
  expect((await run()).stderr).not.toContain('is damaged');
});

test('entries of strangers can save a download, and name no place to write', async () => {
  const { run, out, home, api, documents } = await mirror(contract('doc_1', 'one'));
  mkdirSync(out);
  writeFileSync(join(home, 'secret'), 'abc');
  symlinkSync(join(home, 'secret'), join(out, 'link'));
  mkdirSync(join(out, 'folder'));
  for (const name of [
    '../secret',
    join(home, 'secret'),
    'link',
    'folder',
    '..',
    '',
    'a\0b',
    '.x',
  ]) {
    const head = { schema: 1, origin: api.baseUrl, organization: 'org_7' };
    const wrong = [7, null, {}, { ...entry('x'), name: 5 }, { ...entry('x'), size: '3' }];
    writeFileSync(join(out, kept), JSON.stringify({ ...head, files: [entry(name), ...wrong] }));
    const ran = await run('doc_1');
    expect([ran.code, ran.stdout]).toEqual([0, expect.stringMatching(/out\/Contract[\w-]*\.txt /)]);
    documents[0] = contract('doc_1', 'two', { updatedAt: '2026-02-02' });
  }
  const others = readdirSync(out).filter((name) => !/^Contract[\w-]*\.txt$/.test(name));
  expect(others.toSorted()).toEqual([kept, 'folder', 'link']);
  expect(readFileSync(join(home, 'secret'), 'utf8')).toBe('abc');
  expect(lstatSync(join(out, 'link')).isSymbolicLink()).toBe(true);
});

test('an entry of strangers that describes a file of yours does not have it replaced', async () => {
  const { run, out, api, files } = await mirror(contract('doc_1', 'two'));
  mkdirSync(out);
  writeFileSync(join(out, 'thesis.txt'), 'one');
  const mine = { ...entry('thesis.txt'), sha256: sha256(Buffer.from('one')), updatedAt: 'before' };
  const head = { schema: 1, origin: api.baseUrl, organization: 'org_7' };
  writeFileSync(join(out, kept), JSON.stringify({ ...head, files: [mine] }));
  expect((await run()).code).toBe(0);
  expect(files()).toEqual({ 'Contract.txt': 'two', 'thesis.txt': 'one' });
});

test('a link in place of the file is neither read nor written through', async () => {
  const { run, out, home, requested } = await mirror(contract('doc_1', 'one'));
  mkdirSync(out);
  writeFileSync(join(home, 'precious'), 'keep me');
  symlinkSync(join(home, 'precious'), join(out, kept));
  const ran = await run();
  expect([ran.code, ran.stderr]).toEqual([0, expect.stringContaining('is not a regular file')]);
  expect([requested(), readFileSync(join(home, 'precious'), 'utf8')]).toEqual([
    ['doc_1'],
    'keep me',
  ]);
});

test('without -D nothing is remembered, and only name and size are compared', async () => {
  const api = await documentStore({ documents: [contract('doc_1', 'one')] });
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, 'Contract.txt'), 'two');
  const at = { env: api.env, home: cwd, cwd };
  const one = await rosterctl('docs download doc_1 --skip-existing', at);
  expect([one.code, one.stderr]).toEqual([0, expect.stringContaining('only these were compared')]);
  const all = await rosterctl('docs download --all --skip-existing', at);
  expect(all.stdout).toContain('skipped (same name and size)');
  expect([readdirSync(cwd).includes(kept), api.store.requests]).toEqual([false, []]);
});

const nameless = (id: string, text: string, more: Record<string, unknown> = {}) =>
  contract(id, text, { name: undefined, ...more });

/** The store, which names each file alike. */
const namingStore: DocumentStoreOptions['store'] = (request, { bytes }) =>
  fileReply(request, bytes, { headers: { 'content-disposition': 'inline; filename=Paper.txt' } });

test('documents that only the store names have a file each, which is fetched when they change', async () => {
  const documents = [nameless('doc_1', 'one')];
  const { run, files, requested } = await mirrorOf({ documents, store: namingStore });
  await run();
  documents.push(nameless('doc_2', 'two'));
  expect((await run()).code).toBe(0);
  expect(files()).toEqual({ 'Paper.txt': 'one', 'Paper-doc_2.txt': 'two' });
  requested();
  documents[1] = nameless('doc_2', 'newer', { updatedAt: '2026-02-02' });
  documents[0] = nameless('doc_1', 'uno', { updatedAt: '2026-02-02' });
  const ran = await run();
  expect([ran.code, files()]).toEqual([0, { 'Paper.txt': 'uno', 'Paper-doc_2.txt': 'newer' }]);
  requested();
  expect([(await run()).code, requested()]).toEqual([0, []]);
});

test('documents that the store names alike at the same time have a file each', async () => {
  const documents = ['one', 'two', 'three'].map((text, index) => nameless(`doc_${index}`, text));
  const { run, files } = await mirrorOf({ documents, store: namingStore });
  expect((await run()).code).toBe(0);
  expect(Object.values(files()).toSorted()).toEqual(['one', 'three', 'two']);
});

test('without a list, documents of one name have a file each, too', async () => {
  const documents = ['one', 'two', 'three'].map((text, index) => nameless(`doc_${index}`, text));
  const { run, files, out } = await mirrorOf({
    documents,
    store: namingStore,
    api: ({ url }) =>
      url === '/v1/documents/org_7' ? { status: 403, json: { error: 'forbidden' } } : undefined,
  });
  await run('doc_1');
  expect((await run('doc_0 doc_1 doc_2 --concurrency 1')).code).toBe(0);
  const all = { 'Paper.txt': 'two', 'Paper-doc_0.txt': 'one', 'Paper-doc_2.txt': 'three' };
  expect(files()).toEqual(all);
  const again = await run('doc_2 doc_1 doc_0 --concurrency 1');
  expect([again.code, files()]).toEqual([0, all]);
  expect(again.stdout.replaceAll(`${out}/`, '').trim().split('\n')).toEqual([
    'Paper-doc_2.txt  5 bytes  skipped (exists)',
    'Paper.txt  3 bytes  skipped (exists)',
    'Paper-doc_0.txt  3 bytes  skipped (exists)',
  ]);
  documents.pop();
  expect((await run('doc_2')).code).toBe(5);
});

test('a preview is not taken for the document', async () => {
  const { api, home, out, run, files } = await mirror(
    contract('doc_1', 'one', { sizeBytes: undefined }),
  );
  const line = `docs preview doc_1 -D ${out} --skip-existing`;
  expect((await inProcess(line, { env: api.env, home })).code).toBe(0);
  expect([Object.keys(files()), existsSync(join(out, kept))]).toEqual([['Contract.txt'], false]);
  expect((await run()).stdout).toContain('Contract.txt  3 bytes  skipped (exists)');
});

test('a dry run says what would be fetched, and writes nothing', async () => {
  const { run, documents, out } = await mirror(contract('doc_1', 'one'), contract('doc_2', 'x'));
  await run();
  const before = readFileSync(join(out, kept), 'utf8');
  documents[1] = contract('doc_2', 'y', { updatedAt: '2026-02-02' });
  const { changes } = JSON.parse((await run('--all -n --json')).stdout);
  expect(changes).toMatchObject([{ id: 'doc_2', to: join(out, 'Contract-doc_2.txt') }]);
  expect(readFileSync(join(out, kept), 'utf8')).toBe(before);
});
