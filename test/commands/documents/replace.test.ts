import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { converseInside } from '../../support/converse-inside.js';
import { errorOf, rosterctl } from '../../support/run.js';
import { desk, type Made } from '../../support/upload-desk.js';

/** A folder with an uploaded document, `old.txt`, and the file `new.txt`. */
async function office() {
  const at = await desk({ 'old.txt': 'the old rules', 'new.txt': 'the new ones' });
  await at.upload("old.txt --name 'House rules' --tag legal --tag 2026");
  const sent = () =>
    at.api.requests.filter(({ method }) => method !== 'GET').map(({ method }) => method);
  at.api.requests.length = 0;
  return { ...at, sent };
}

test('a replacement has the name and the tags of the old document, which is then deleted', async () => {
  const { run, documents, sent, home } = await office();
  const ran = await run('docs replace doc_1 new.txt --yes');
  expect([ran.code, JSON.parse(ran.stdout)]).toMatchObject([0, { id: 'doc_2' }]);
  expect(documents).toMatchObject([
    { id: 'doc_2', name: 'House rules', tags: ['legal', '2026'], sizeBytes: 12 },
  ]);
  expect(sent()).toEqual(['POST', 'POST', 'DELETE']);
  const again = await run('docs replace doc_1 new.txt --yes');
  expect([again.code, errorOf(again).code, documents.length]).toEqual([5, 'notFound', 1]);
  expect((await run(`docs get doc_2 --out ${home}/got.json`)).code).toBe(0);
});

test('at a terminal one line says which document is replaced by which', async () => {
  const { api, home } = await office();
  const line = ['docs', 'replace', 'doc_1', 'new.txt', '--yes'];
  const { code, printed } = await converseInside(home, line, [], api.env);
  expect(code).toBe(0);
  expect(printed).toContain('✔ House rules: doc_1 replaced by doc_2 (12 B).');
});

const withTagObjects = (made: Made) => ({
  ...made,
  tags: (made['tags'] as string[]).map((name) => ({ id: `tag_${name}`, name })),
});

test('a tag with an id and a name is taken over by its name', async () => {
  const { run, documents, view } = await office();
  view.list = (made) => ({ status: 200, json: made.map(withTagObjects) });
  const ran = await run('docs replace doc_1 new.txt --yes');
  expect([ran.code, documents]).toMatchObject([0, [{ id: 'doc_2', tags: ['legal', '2026'] }]]);
});

test('--fields chooses fields of the new document', async () => {
  const { run, sent } = await office();
  const { code, stdout } = await run('docs replace doc_1 new.txt --yes --fields id,name');
  expect([code, JSON.parse(stdout)]).toEqual([0, { id: 'doc_2', name: 'House rules' }]);
  expect(sent()).toEqual(['POST', 'POST', 'DELETE']);
});

test('a script without --yes is refused before anything is sent, and a dry run shows all requests', async () => {
  const { run, api, sent, home } = await office();
  const refused = await run('docs replace doc_1 new.txt');
  expect([refused.code, api.requests.length]).toEqual([2, 0]);
  const shown = JSON.parse((await run('docs replace doc_1 new.txt -n')).stdout);
  expect(shown.requests.map(({ method }: { method: string }) => method)).toEqual([
    'POST',
    'PUT',
    'POST',
    'DELETE',
  ]);
  const page = await rosterctl('docs replace doc_1 new.txt -n', { home, cwd: home, env: api.env });
  expect(page.stdout).toMatch(
    /^Would send\n[^]*\nWould create\n {2}id: - → \(new document\)\nWould send\n/,
  );
  expect(page.stdout).toMatch(
    /\n {2}DELETE \/documents\/doc_1 {2}\(assumed route\)\nWould delete\n {2}document House rules\n$/,
  );
  expect(sent()).toEqual([]);
});

test('a dry run shows fields of the new document, and names the deletion of the old one', async () => {
  const { api, sent, home } = await office();
  const at = { home, cwd: home, env: api.env };
  const requests = ['POST /uploads', 'PUT', 'POST /documents', 'DELETE /documents/doc_1'];
  for (const [flags, stdout] of [
    ['-o ids', ''],
    ['--fields name', 'name\tHouse rules\n'],
    ['--template {name}', 'House rules\n'],
  ]) {
    const ran = await rosterctl(`docs replace doc_1 new.txt -n ${flags}`, at);
    expect([ran.code, ran.stdout]).toEqual([0, stdout]);
    for (const request of requests) expect(ran.stderr).toContain(`Would send ${request}`);
  }
  expect(sent()).toEqual([]);
});

test('a document that was changed while its replacement was uploaded is not deleted', async () => {
  const { run, documents, sent, view } = await office();
  view.download = (file) => {
    documents[0] = { ...(documents[0] as Made), name: 'Rules of the house' };
    return file;
  };
  const ran = await run('docs replace doc_1 new.txt --yes');
  expect([ran.code, errorOf(ran)['message']]).toEqual([
    6,
    'doc_1 was changed while doc_2 was uploaded, so it was not deleted. Both documents stay.',
  ]);
  expect(sent()).toEqual(['POST', 'POST']);
  expect(documents.map(({ id, name }) => [id, name])).toEqual([
    ['doc_1', 'Rules of the house'],
    ['doc_2', 'House rules'],
  ]);
});

test('a document whose file the store has lost is replaced, also by the same file', async () => {
  const { run, sent, documents, view } = await office();
  const lost = '<Error><Code>NoSuchKey</Code></Error>';
  view.get = () => (documents.length === 1 ? { status: 404, text: lost } : undefined);
  const ran = await run('docs replace doc_1 old.txt --yes');
  expect([ran.code, JSON.parse(ran.stdout)]).toMatchObject([0, { id: 'doc_2' }]);
  expect(sent()).toEqual(['POST', 'POST', 'DELETE']);
});

test('a store without its bucket does not say that a file is lost, so nothing is replaced', async () => {
  const { run, sent, view } = await office();
  const refusal = '<Error><Code>NoSuchBucket</Code></Error>';
  view.get = () => ({ status: 404, text: refusal });
  const ran = await run('docs replace doc_1 old.txt --yes');
  expect([ran.code, sent()]).toEqual([1, []]);
  expect(errorOf(ran).code).toBe('NoSuchBucket');
});

test('a file that the document holds already sends nothing', async () => {
  const { run, sent } = await office();
  const ran = await run('docs replace doc_1 old.txt --yes');
  expect([ran.code, JSON.parse(ran.stdout), sent()]).toMatchObject([0, { id: 'doc_1' }, []]);
  expect(ran.stderr).toContain('doc_1 already holds this content');
  const shown = await run('docs replace doc_1 old.txt -n');
  expect([shown.code, JSON.parse(shown.stdout).requests]).toEqual([0, []]);
});

test.each([
  ['another name', '--name Other --tag legal --tag 2026'],
  ['another tag', "--name 'House rules' --tag legal --tag 2025"],
  ['fewer tags', "--name 'House rules' --tag legal"],
  ['more tags', "--name 'House rules' --tag legal --tag 2026 --tag old"],
  ['other bytes by now', "--name 'House rules' --tag legal --tag 2026"],
])('an earlier upload of the file does not replace the document with %s', async (what, flags) => {
  const { upload, run, documents, view } = await office();
  expect((await upload(`new.txt ${flags}`)).code).toBe(0);
  if (what === 'other bytes by now')
    view.get = () => (documents.length === 2 ? { status: 200, text: 'THE NEW ONES' } : undefined);
  const ran = await run('docs replace doc_1 new.txt --yes');
  expect([ran.code, JSON.parse(ran.stdout)]).toMatchObject([0, { id: 'doc_3' }]);
  expect(documents).toMatchObject([
    { id: 'doc_2' },
    { id: 'doc_3', name: 'House rules', tags: ['legal', '2026'] },
  ]);
});

test('a document with the bytes of the file but another type is replaced', async () => {
  const { run, documents } = await office();
  const ran = await run('docs replace doc_1 old.txt --content-type application/pdf --yes');
  expect([ran.code, documents]).toMatchObject([
    0,
    [{ id: 'doc_2', contentType: 'application/pdf' }],
  ]);
});

test.each<[string, Record<string, unknown>]>([
  ['a size as text', { sizeBytes: '13' }],
  ['a type with parameters', { contentType: 'text/plain; charset=utf-8' }],
])(
  'a file that the document holds already sends nothing, also at a service that shows %s',
  async (_, own) => {
    const { run, sent, documents } = await office();
    documents[0] = { ...(documents[0] as Made), ...own };
    const ran = await run('docs replace doc_1 old.txt --yes');
    expect([ran.code, JSON.parse(ran.stdout), sent()]).toMatchObject([0, { id: 'doc_1' }, []]);
  },
);

test('a document whose name is null is replaced', async () => {
  const { run, sent, documents } = await office();
  const own: Record<string, unknown> = { name: null };
  documents[0] = { ...(documents[0] as Made), ...own };
  const ran = await run('docs replace doc_1 new.txt --yes');
  expect([ran.code, JSON.parse(ran.stdout)]).toMatchObject([0, { id: 'doc_2', name: 'new.txt' }]);
  expect(sent()).toEqual(['POST', 'POST', 'DELETE']);
});

test('a document that does not exist, or whose list is in doubt, is not replaced', async () => {
  const { run, view, sent } = await office();
  expect((await run('docs replace doc_9 new.txt --yes')).code).toBe(5);
  view.list = () => ({ status: 200, json: { documents: [], total: 7 } });
  expect((await run('docs replace doc_1 new.txt --yes')).code).toBe(11);
  view.list = () => ({ status: 403, json: { error: 'forbidden' } });
  expect((await run('docs replace doc_1 new.txt --yes')).code).toBe(7);
  expect(sent()).toEqual([]);
});

test.each(['a list', 'a list whose total is ahead of it'])(
  '%s that lags behind the upload is read again before the old document is deleted',
  async (what) => {
    const { run, view, documents } = await office();
    let late = 2;
    view.list = (made) => {
      const shown = made.length > 1 && (late -= 1) >= 0 ? made.slice(0, 1) : made;
      const { length: total } = what === 'a list' ? shown : made;
      return { status: 200, json: { documents: shown, total } };
    };
    expect((await run('docs replace doc_1 new.txt --yes')).code).toBe(0);
    expect(documents.map(({ id }) => id)).toEqual(['doc_2']);
  },
);

test('while the deletion is refused both stay, and the same command only deletes', async () => {
  const { run, view, documents, store } = await office();
  view.remove = () => ({ status: 403, json: { error: 'forbidden' } });
  const refused = await run('docs replace doc_1 new.txt --yes');
  expect([refused.code, documents.length]).toEqual([7, 2]);
  expect(refused.stderr).toContain('doc_1 was not deleted.');
  const puts = store.requests.length;
  view.remove = () => undefined;
  const ran = await run('docs replace doc_1 new.txt --yes');
  // As an undisturbed replacement prints it.
  expect([ran.code, JSON.parse(ran.stdout)]).toEqual([0, documents[0]]);
  expect(documents.map(({ id }) => id)).toEqual(['doc_2']);
  expect(store.requests.slice(puts).every(({ method }) => method === 'GET')).toBe(true);
});

test('a deletion whose outcome is unknown is not told as one that was not made', async () => {
  const { run, view } = await office();
  const failed = { status: 500, json: { error: 'internalError' } };
  view.remove = () => {
    view.list = () => failed;
    return failed;
  };
  const lost = await run('docs replace doc_1 new.txt --yes --retries 0');
  expect(lost.code).toBe(10);
  expect(lost.stderr).toContain(
    'doc_1 may not have been deleted. To delete the old document, run the same command again with its id: doc_1',
  );
  expect(lost.stderr).not.toContain('was not deleted');
});

test('an upload that was told of the replacement is not repeated by it', async () => {
  const { run, upload, documents } = await office();
  await upload("new.txt --name 'House rules' --tag 2026 --tag legal");
  const ran = await run('docs replace doc_1 new.txt --yes');
  expect([ran.code, JSON.parse(ran.stdout).id]).toEqual([0, 'doc_2']);
  expect(documents.map(({ id }) => id)).toEqual(['doc_2']);
});

test('bytes that the store changed are noticed, and the old document stays', async () => {
  const { run, documents, api, view } = await office();
  const link = api.requests.length;
  view.download = (bytes) => Buffer.from(bytes.toString().replace('new', 'odd'));
  const ran = await run('docs replace doc_1 new.txt --yes');
  expect([ran.code, errorOf(ran).code]).toEqual([1, 'notVerified']);
  expect(documents.map(({ id }) => id)).toEqual(['doc_1', 'doc_2']);
  expect(api.requests.slice(link).some(({ method }) => method === 'DELETE')).toBe(false);
});

test('undo deletes the new document while the old one is there, and never the last one', async () => {
  const { run, view, documents, home } = await office();
  view.remove = () => ({ status: 403, json: { error: 'forbidden' } });
  await run('docs replace doc_1 new.txt --yes');
  view.remove = () => undefined;
  const folder = join(home, '.local/state/rosterctl/runs/open');
  const replaced = readdirSync(folder).find((name) =>
    readFileSync(join(folder, name, 'journal.jsonl'), 'utf8').includes('documents.replace'),
  );
  expect((await run(`runs undo ${replaced} --yes`)).code).toBe(0);
  expect(documents.map(({ id }) => id)).toEqual(['doc_1']);
  // The same command knows of the new document, and does not delete the old one without it.
  const alone = await run('docs replace doc_1 new.txt --yes');
  expect([alone.code, documents.length]).toEqual([11, 1]);
  await run('docs replace doc_1 new.txt --yes --restart');
  const runs = JSON.parse((await run('runs list --all')).stdout) as {
    run: string;
    action: string;
  }[];
  const last = runs.findLast(({ action }) => action === 'documents.replace')?.run;
  const undone = await run(`runs undo ${last} --yes`);
  expect([undone.code, errorOf(undone).message]).toEqual([
    11,
    expect.stringContaining('that replaced doc_1, which is gone'),
  ]);
  expect(documents).toHaveLength(1);
});

test('a document may be named, and its successor of the same name is not deleted for it', async () => {
  const { run, documents } = await office();
  const ran = await run("docs replace 'name:House rules' new.txt --yes");
  expect([ran.code, JSON.parse(ran.stdout).id]).toEqual([0, 'doc_2']);
  expect(documents.map(({ id }) => id)).toEqual(['doc_2']);
  expect((await run("docs replace 'name:Nothing' new.txt --yes")).code).toBe(5);
});

test('a deletion that failed is taken up by the id, because both documents have the name', async () => {
  const { run, view, documents } = await office();
  view.remove = () => ({ status: 403, json: { error: 'forbidden' } });
  const refused = await run("docs replace 'name:House rules' new.txt --yes");
  const [, id] = /run the same command again with its id: (\S+?)\.?\n/.exec(refused.stderr) ?? [];
  expect([refused.code, id]).toEqual([7, 'doc_1']);
  view.remove = () => undefined;
  expect((await run("docs replace 'name:House rules' new.txt --yes")).code).toBe(11);
  expect((await run(`docs replace ${id} new.txt --yes`)).code).toBe(0);
  expect(documents.map(({ id: left }) => left)).toEqual(['doc_2']);
});
