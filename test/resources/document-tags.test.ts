import { describe, expect, test } from 'vitest';
import { changedTags } from '../../src/resources/document-tags.js';
import { inProcess } from '../support/in-process.js';
import { errorOf, temporaryFolder } from '../support/run.js';
import { organization, recordingService } from '../support/service.js';

/** A service with documents, which keeps what a PATCH sends. */
async function service(documents: readonly object[]) {
  const records = new Map(documents.map((each, at) => [`doc_${at + 1}`, each]));
  const api = await recordingService(({ method, url, body }) => {
    const id = url.split('/').at(-1) ?? '';
    if (method === 'PATCH') records.set(id, { ...records.get(id), ...JSON.parse(body.toString()) });
    const all = [...records].map(([each, fields]) => ({ id: each, name: each, ...fields }));
    return { status: 200, json: id === organization ? { documents: all } : all };
  });
  const sent = () =>
    api.requests.flatMap(({ method, body }) =>
      method === 'PATCH' ? [JSON.parse(body.toString()) as unknown] : [],
    );
  return { ...api, sent };
}

const update = async (flags: string, documents: readonly object[]) => {
  const { env, sent } = await service(documents);
  const ran = await inProcess(`docs update ${flags} --json`, { env, home: temporaryFolder() });
  return { ...ran, sent: sent() };
};

describe('docs update writes tags in the shape that the record has', () => {
  test.each<[string, unknown, unknown]>([
    ['--add-tag signed', ['legal'], ['legal', 'signed']],
    ['--add-tag signed', undefined, ['signed']],
    ['--add-tag signed', null, ['signed']],
    ['--add-tag signed', [], ['signed']],
    ['--add-tag 7', [3, 5], [3, 5, 7]],
    ['--remove-tag 3', [3, 5], [5]],
    ['--add-tag signed', [{ name: 'legal' }], [{ name: 'legal' }, { name: 'signed' }]],
    ['--add-tag signed', [{ label: 'legal' }], [{ label: 'legal' }, { label: 'signed' }]],
    ['--add-tag 7', [{ id: 3 }], [{ id: 3 }, { id: 7 }]],
    ['--add-tag signed --remove-tag legal', [{ name: 'legal' }], [{ name: 'signed' }]],
    [
      '--remove-tag legal',
      [
        { id: 1, name: 'legal' },
        { id: 2, name: 'x' },
      ],
      [{ id: 2, name: 'x' }],
    ],
    ['--remove-tag legal', ['legal', { name: 'x' }], [{ name: 'x' }]],
    [
      '--tag x',
      [
        { id: 1, name: 'legal' },
        { id: 2, name: 'x' },
      ],
      [{ id: 2, name: 'x' }],
    ],
    ['--tag a --tag b', [{ name: 'b' }], [{ name: 'a' }, { name: 'b' }]],
    ['--add-tag signed', 'legal, 2026', 'legal, 2026, signed'],
    ['--add-tag signed', 'legal,2026', 'legal,2026,signed'],
    ['--add-tag signed', 'legal;2026', 'legal;2026;signed'],
    ['--add-tag signed', 'legal', 'legal, signed'],
    ['--add-tag signed', '', 'signed'],
    ['--remove-tag 2026', 'legal, 2026', 'legal'],
    ['--remove-tag legal', 'legal', ''],
    ['--tag z', 'legal, 2026', 'z'],
    ['--add-tag signed', '["legal","a, b"]', '["legal","a, b","signed"]'],
    ['--add-tag signed', '[]', '["signed"]'],
    ['--remove-tag legal', '["legal"]', '[]'],
  ])('%s beside %j', async (flags, tags, expected) => {
    const ran = await update(`doc_1 ${flags}`, [{ tags }]);
    expect([ran.code, ran.sent]).toEqual([0, [{ tags: expected }]]);
    expect(JSON.parse(ran.stdout)).toMatchObject({ tags: expected });
  });

  test.each<[string, unknown]>([
    ['--add-tag legal', [{ id: 1, name: 'legal' }]],
    ['--add-tag legal --remove-tag x', 'legal ,2026'],
    ['--tag legal', [{ id: 1, name: 'legal' }]],
    ['--remove-tag x', [3, 5]],
    ['--remove-tag x', null],
    ['--remove-tag x', undefined],
    ['--add-tag 5', [3, 5]],
    ['--add-tag legal', '[ "legal" ]'],
  ])('%s beside %j sends nothing, for it is so already', async (flags, tags) => {
    const ran = await update(`doc_1 ${flags}`, [{ tags }]);
    expect([ran.code, ran.sent]).toEqual([0, []]);
  });
});

describe('tags that cannot be written in the shape of the record are refused before anything is sent', () => {
  test.each<[string, unknown, string]>([
    ['--add-tag signed', [{ id: 1, name: 'legal' }], 'are objects with id, name'],
    ['--tag signed', [{ id: 1, name: 'legal' }], 'are objects with id, name'],
    ['--add-tag signed', [3, 5], 'are numbers, and "signed" is not one'],
    ['--add-tag 07', [3, 5], 'are numbers, and "07" is not one'],
    ['--add-tag signed', [{ id: 3 }], 'are numbers, and "signed" is not one'],
    ['--add-tag signed', ['legal', { name: 'x' }], 'are of several types'],
    ['--add-tag signed', { legal: true }, 'are neither a list nor text'],
    ['--remove-tag legal', { legal: true }, 'are neither a list nor text'],
    ['--tag signed', 7, 'are neither a list nor text'],
    ['--add-tag signed', '{legal,2026}', 'are neither a list nor text'],
    ['--tag signed', '{"0":"legal"}', 'are neither a list nor text'],
    ['--add-tag "a, b"', 'legal, 2026', 'which cannot hold "a, b"'],
    ['--add-tag signed', [{ de: 'Vertrag' }], 'are objects with de'],
  ])('%s beside %j', async (flags, tags, text) => {
    const ran = await update(`doc_1 ${flags}`, [{ tags }]);
    expect([ran.code, ran.stdout, ran.sent]).toEqual([2, '', []]);
    expect(errorOf(ran)).toMatchObject({
      message: expect.stringContaining(text),
      hint: expect.stringContaining("-F 'tags=JSON'"),
    });
  });

  test('of several documents, for those that have such tags', async () => {
    const documents = [{ tags: ['legal'] }, { tags: { legal: true } }];
    const ran = await update('doc_1 doc_2 --add-tag signed --yes', documents);
    expect([ran.code, ran.sent]).toEqual([8, [{ tags: ['legal', 'signed'] }]]);
    expect(JSON.parse(ran.stdout)).toMatchObject({
      summary: { changed: 1, failed: 1 },
      results: [
        { id: 'doc_1', result: 'changed' },
        { id: 'doc_2', error: { message: expect.stringContaining('are neither a list nor text') } },
      ],
    });
  });
});

test.each([
  ['["legal","2026"]', 'doc_1\n'],
  ['["illegal"]', ''],
])('docs list --tag finds the tags in %s', async (tags, ids) => {
  const { env } = await service([{ tags }]);
  const ran = await inProcess('docs list --tag legal -o ids', { env, home: temporaryFolder() });
  expect([ran.code, ran.stdout]).toEqual([0, ids]);
});

test('a tag is the same in every Unicode form', () => {
  const composed = 'Vertr\u00e4ge';
  const decomposed = 'Vertra\u0308ge';
  expect(changedTags([composed], { addTag: [decomposed] })).toEqual([composed]);
  expect(changedTags([{ name: composed }], { removeTag: [decomposed] })).toEqual([]);
});
