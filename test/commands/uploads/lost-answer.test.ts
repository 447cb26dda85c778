import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { converse } from '../../support/converse.js';
import { inProcess } from '../../support/in-process.js';
import { errorOf, rosterctl, temporaryFolder } from '../../support/run.js';
import { type Reply, recordingService } from '../../support/service.js';
import { grantsOf } from './grants.js';

interface Made {
  readonly id: string;
  readonly name: string;
  readonly fileKey: string;
  readonly contentType: string;
  readonly sizeBytes: number;
  readonly createdAt?: string;
}

interface Behaviour {
  /** What the list shows of the existing documents. */
  readonly list: (documents: readonly Made[]) => unknown;
  /** The outcome of the first request to create a document. */
  readonly first: (make: () => Made) => Reply;
  readonly second?: (make: () => Made) => Reply;
  /** After the first request to create one, the list answers only once this many documents exist. */
  readonly listedFrom?: number;
}

const lost: Reply = (_, response) => void response.destroy();

/** Creates the document and drops the answer. */
const madeAndLost = (make: () => Made): Reply => {
  make();
  return lost;
};

const conflict: Reply = { status: 409, json: { error: 'conflict', message: 'used by doc_1' } };

/** Creates the document for a proxy that then repeats the request, and refuses the second one. */
const madeAndRepeated = (make: () => Made): Reply => {
  make();
  return conflict;
};

async function service({ list, first, second, listedFrom = 0 }: Behaviour) {
  const documents: Made[] = [];
  const waiting: (() => void)[] = [];
  const store = await recordingService(() => ({ status: 200 }));
  const grant = grantsOf(store);
  let asked = 0;
  const api = await recordingService(({ method, url, body }): Reply => {
    if (method === 'GET' && (asked === 0 || documents.length >= listedFrom))
      return { status: 200, json: list(documents) };
    if (method === 'GET')
      return (_, response) => {
        waiting.push(() => {
          response.writeHead(200, { 'content-type': 'application/json' });
          response.end(JSON.stringify(list(documents)));
        });
      };
    if (url === '/v1/uploads/document-file') return grant();
    const make = () => {
      const createdAt = new Date().toISOString();
      const wanted = JSON.parse(body.toString()) as Omit<Made, 'id'>;
      const made = { ...wanted, id: `doc_${documents.length + 1}`, createdAt };
      documents.push(made);
      if (documents.length >= listedFrom) for (const answer of waiting.splice(0)) answer();
      return made;
    };
    const special = [first, second][asked++];
    return special ? special(make) : { status: 201, json: { document: make() } };
  });
  return { ...api, documents };
}

function desk(env: object, names: readonly string[] = ['a.txt']) {
  const home = temporaryFolder();
  for (const name of names) {
    mkdirSync(dirname(join(home, name)), { recursive: true });
    writeFileSync(join(home, name), `this is ${name}`);
  }
  return { home, cwd: home, env: { ...env, ROSTERCTL_RETRIES: '0' } };
}

/** Runs a line with its files in the folder; the lines of all tests run side by side in this process. */
const near = (line: string, { home, env }: ReturnType<typeof desk>) =>
  inProcess(line.replace(/(?<= )(?:t|[\w/]+\.txt)(?= |$)/g, `${home}/$&`), { home, env });

const keyless = (documents: readonly Made[]) =>
  documents.map((record) => ({ ...record, fileKey: undefined }));

/** Documents of other files, with their keys. */
const others = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ id: `old_${index}`, fileKey: `old/${index}` }));

const doubtful: Readonly<Record<string, (documents: readonly Made[]) => unknown>> = {
  'is shorter than its total': ({ length }) => ({ documents: others(1), total: length + 1 }),
  'says that there is more and not where': () => ({ documents: others(1), hasMore: true }),
  'has exactly twenty records': () => ({ documents: others(20) }),
  'shows no key of a document of this size': () => ({
    documents: [{ id: 'x', contentType: 'text/plain', sizeBytes: 13 }],
  }),
  'shows empty keys': (made) => made.map((record) => ({ ...record, fileKey: '' })),
  'shows no keys, and sizes as text': (made) =>
    keyless(made).map((record) => ({ ...record, sizeBytes: `${record.sizeBytes}` })),
  'shows no keys, and types with parameters': (made) =>
    keyless(made).map((record) => ({ ...record, contentType: 'text/plain; charset=utf-8' })),
  'shows null for keys, sizes and types': (made) =>
    made.map(({ id }) => ({ id, fileKey: null, sizeBytes: null, contentType: null })),
};

for (const [how, list] of Object.entries(doubtful)) {
  test.concurrent(`a document with a lost answer is not created twice if the list ${how}`, async () => {
    const api = await service({ list, first: madeAndLost });
    const at = desk(api.env);
    const first = await near('docs upload a.txt --json', at);
    expect([first.code, errorOf(first).code]).toEqual([10, 'unknownOutcome']);
    expect(first.stderr).toContain('key files/1, fileRef ref:files/1');
    for (const line of ['uploads finish --all --json', 'docs upload a.txt --json'])
      expect((await near(line, at)).code).toBe(10);
    expect(api.documents).toHaveLength(1);
  });
}

test.concurrent('a document that a proxy asked for twice is uploaded', async () => {
  const api = await service({ list: (documents) => ({ documents }), first: madeAndRepeated });
  const ran = await near('docs upload a.txt --json', desk(api.env));
  expect({ code: ran.code, stderr: ran.stderr }).toEqual({
    code: 0,
    stderr: 'The document was created, although the service answered: used by doc_1.\n',
  });
  expect(JSON.parse(ran.stdout)).toMatchObject({ id: 'doc_1', fileKey: 'files/1' });
});

test.concurrent.each(['shows none', 'may have more'])(
  'a document that the service refuses stays in conflict if the list %s',
  async (how) => {
    const list = () => ({ documents: [], hasMore: how === 'may have more' });
    const api = await service({ list, first: () => conflict });
    const ran = await near('docs upload a.txt --json', desk(api.env));
    expect([ran.code, errorOf(ran).code]).toEqual([6, 'conflict']);
    expect(ran.stderr).toContain('a.txt was sent (13 bytes), but no document records it.');
  },
);

test.concurrent('of several files the one with a lost answer is unknown, and the others are created', async () => {
  const list = doubtful['is shorter than its total'] ?? (() => []);
  const api = await service({ list, first: madeAndLost });
  const line = 'docs upload a.txt b.txt --concurrency 1 --json';
  const ran = await rosterctl(line, desk(api.env, ['a.txt', 'b.txt']));
  expect([ran.code, JSON.parse(ran.stdout).summary]).toMatchObject([
    10,
    { changed: 1, unknown: 1 },
  ]);
  expect(api.documents.map(({ name }) => name)).toEqual(['a.txt', 'b.txt']);
});

test.concurrent('a document with a lost answer stays unknown if the list shows no keys', async () => {
  const api = await service({ list: keyless, first: madeAndLost });
  const ran = await near('docs upload a.txt --json', desk(api.env));
  expect([ran.code, errorOf(ran).code, api.documents.length]).toEqual([10, 'unknownOutcome', 1]);
  expect(ran.stderr).toContain('key files/1');
});

test.concurrent('an upload that no list can settle ends with the line that it names', async () => {
  const api = await service({ list: keyless, first: madeAndLost });
  const own = desk(api.env);
  const line = 'docs upload a.txt';
  await near(line, own);
  const { code, stderr } = await near(line, own);
  const [, forget = ''] =
    /: rosterctl (uploads forget \S+) \(if its document is there\)/.exec(stderr) ?? [];
  expect([code, (await near(forget, own)).code]).toEqual([10, 0]);
  expect([(await near(line, own)).code, api.documents.length]).toEqual([0, 1]);
});

test.concurrent('the line that finishes an upload with a lost answer reaches the same organization', async () => {
  const api = await service({ list: keyless, first: madeAndLost });
  const { stderr } = await near('docs upload a.txt --org org_7', desk(api.env));
  expect(stderr).toMatch(/Not finished\.[^\n]*: rosterctl --org org_7 uploads finish \w{6}\.1\n/);
});

test.concurrent('at a terminal, an upload with a lost answer says in four lines what happened and then what to do', async () => {
  const api = await service({ list: keyless, first: madeAndLost });
  const { home, env } = desk(api.env);
  const words = ['docs', 'upload', 'a.txt'];
  const own = { ...env, NO_COLOR: '1', ROSTERCTL_SETTLE: '0.1s' };
  const { shown, code } = await converse(home, words, [], own, 400);
  expect(code).toBe(10);
  const what = /was sent \(13 bytes\), and its document may have been created\.\r\n/.source;
  const why = /[^\n]*✘ POST \/documents may have taken effect[^\n]*\n/.source;
  const next = / {2}Check whether[^\n]*\n {2}Not finished\.[^\n]*uploads finish \w{6}\.1\r\n/
    .source;
  expect(shown).toMatch(new RegExp(`${what}${why}${next}\\W*\\w*$`));
  const list = await converse(home, ['uploads', 'list'], [], own, 80);
  expect(list.shown).toMatch(/Id +Path +State +Started\s+\w{6}\.1 +a\.txt +file sent +just now/);
});

test.concurrent('uploads finish --all names the file whose document it made', async () => {
  const api = await service({
    list: (documents) => ({ documents }),
    first: () => ({ status: 401, json: { error: 'unauthorized' } }),
  });
  const { home, env } = desk(api.env);
  const own = { ...env, NO_COLOR: '1' };
  expect((await converse(home, ['docs', 'upload', 'a.txt'], [], own)).code).toBe(4);
  const { shown } = await converse(home, ['uploads', 'finish', '--all'], [], own);
  expect(shown).toContain('✔ a.txt: uploaded as doc_1');
});

const byHand =
  'docs create --file-key old/0 --file-ref r --content-type text/plain --size-bytes 13 --name New --json';

test.concurrent('an older document of the same file does not prove docs create, and the new one beside it does', async () => {
  const old = { id: 'older', name: 'Old', fileKey: 'old/0' };
  const oldToo = { ...old, name: 'New', createdAt: '2020-01-01T00:00:00.000Z' };
  for (const there of [old, oldToo]) {
    const list = (made: readonly Made[]) => [there, ...made];
    const unmade = await service({ list, first: () => lost });
    expect((await near(byHand, desk(unmade.env))).code).toBe(10);
    const made = await service({ list, first: madeAndLost });
    const ran = await near(byHand, desk(made.env));
    expect([ran.code, JSON.parse(ran.stdout).id]).toEqual([0, 'doc_1']);
  }
});

test.concurrent('docs create makes no second document where the clock of the service is behind', async () => {
  const api = await service({
    list: (documents) =>
      documents.map((record) => ({ ...record, createdAt: '2020-01-01T00:00:00.000Z' })),
    first: madeAndLost,
  });
  const { home, env } = desk(api.env);
  const ran = await rosterctl(`${byHand} --retries 3`, { home, env });
  expect([ran.code, api.documents.length]).toEqual([10, 1]);
  expect(errorOf(ran)['message']).toContain('The document doc_1 records this file');
});

for (const createdAt of [null, 'yesterday'])
  test.concurrent(`a document whose createdAt reads ${createdAt} may be the one with a lost answer, and is not created twice`, async () => {
    const api = await service({
      list: (documents) => documents.map((record) => ({ ...record, createdAt })),
      first: madeAndLost,
    });
    const ran = await near(byHand, desk(api.env));
    expect([ran.code, JSON.parse(ran.stdout).id]).toEqual([0, 'doc_1']);
    expect(api.documents).toHaveLength(1);
  });

test.concurrent('docs create finds its document after a lost answer where the service counts whole seconds', async () => {
  const api = await service({
    list: (documents) =>
      documents.map(({ createdAt, ...record }) => ({
        ...record,
        createdAt: `${String(createdAt).slice(0, 19)}Z`,
      })),
    first: madeAndLost,
  });
  const ran = await near(byHand, desk(api.env));
  expect([ran.code, JSON.parse(ran.stdout).id, api.documents.length]).toEqual([0, 'doc_1', 1]);
});

for (const other of [{ organizationId: 'org_8' }, { fileKey: 'files/9' }])
  test.concurrent(`an answer to step 3 with another document is not taken for it: ${Object.keys(other).join()}`, async () => {
    const api = await service({
      list: (documents) => documents,
      first: (make) => ({ status: 201, json: { document: { ...make(), id: 'doc_7', ...other } } }),
    });
    const ran = await near('docs upload a.txt --json', desk(api.env));
    expect([ran.code, JSON.parse(ran.stdout).id, api.documents.length]).toEqual([0, 'doc_1', 1]);
  });

const namesakes = ['t/1/c.txt', 't/2/c.txt'];

test.concurrent('the document of another file of the run is not mistaken for the one with a lost answer', async () => {
  const api = await service({ list: keyless, first: () => lost, listedFrom: 1 });
  const ran = await near('docs upload -r t --concurrency 1 --json', desk(api.env, namesakes));
  const { summary, results } = JSON.parse(ran.stdout);
  expect([ran.code, summary]).toMatchObject([10, { changed: 1, unknown: 1 }]);
  expect(results).toMatchObject([{ result: 'unknown' }, { after: { id: 'doc_1' } }]);
  expect(api.documents).toHaveLength(1);
});

test.concurrent('of two lost answers for similar files neither claims the only document', async () => {
  const api = await service({
    list: keyless,
    first: () => lost,
    second: madeAndLost,
    listedFrom: 1,
  });
  const ran = await near('docs upload -r t --json', desk(api.env, namesakes));
  expect([ran.code, JSON.parse(ran.stdout).summary]).toMatchObject([10, { unknown: 2 }]);
  expect(api.documents).toHaveLength(1);
});

test.concurrent('the document of a later upload is not mistaken for the one with an earlier lost answer', async () => {
  const shown = { list: doubtful['has exactly twenty records'] ?? keyless };
  const api = await service({ list: (made) => shown.list(made), first: () => lost });
  const at = desk(api.env, namesakes);
  expect((await near('docs upload t/1/c.txt', at)).code).toBe(10);
  // The list holds a document of that name, type and size.
  const second = 'docs upload t/2/c.txt --if-exists duplicate --json';
  expect((await near(second, at)).code).toBe(0);
  shown.list = keyless;
  expect((await near('runs prune --older-than 0s', at)).stdout).toBe('0 runs removed.\n');
  const ran = await near('uploads finish --all --json', at);
  expect([ran.code, JSON.parse(ran.stdout).summary]).toMatchObject([10, { unknown: 1 }]);
  expect((await near('docs upload t/1/c.txt', at)).code).toBe(10);
  expect((await near(second, at)).code).toBe(0);
  expect(api.documents.map(({ id }) => id)).toEqual(['doc_1', 'doc_2']);
});

test.concurrent('a document that a complete list with keys lacks is created by one more request', async () => {
  for (const documents of [[], others(3)]) {
    const list = (made: readonly Made[]) => [...documents, ...made];
    const api = await service({ list, first: () => lost });
    const at = desk(api.env);
    const env = { ...at.env, ROSTERCTL_RETRIES: '1' };
    const ran = await near('docs upload a.txt --json', { ...at, env });
    expect([ran.code, api.documents.length]).toEqual([0, 1]);
  }
});

const strangers = {
  'of another organization': { id: 'doc_9', organizationId: 'org_other' },
  'of another file': { id: 'doc_9', fileKey: 'files/other' },
};

for (const [whose, document] of Object.entries(strangers)) {
  test.concurrent(`an answer with the record ${whose} is verified by the list, and the request is sent once`, async () => {
    const answered = { status: 201, json: { document } };
    const first = (make: () => Made) => {
      make();
      return answered;
    };
    const seen = await service({ list: (made) => made, first });
    const ran = await near('docs upload a.txt --json', desk(seen.env));
    expect([ran.code, JSON.parse(ran.stdout).id]).toEqual([0, 'doc_1']);
    const unseen = await service({ list: () => others(1), first: () => answered });
    const at = desk(unseen.env);
    for (const line of ['docs upload a.txt --json', 'uploads finish --all --json']) {
      const again = await near(line, at);
      expect([again.code, again.stderr]).toEqual([10, expect.stringContaining('key files/1')]);
    }
    const made = unseen.requests.filter(({ url }) => url === '/v1/documents');
    expect([ran.stderr.includes('org_other'), made.length]).toEqual([false, 1]);
  });
}
