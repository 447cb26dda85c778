import { describe, expect, test } from 'vitest';
import { findLink } from '../../src/api/links.js';
import { ApiError, ProtocolError } from '../../src/errors.js';
import { type Reply, recordingService } from '../support/service.js';
import { apiTo, thrownBy } from './wiring.js';

const now = new Date('2026-11-21T12:00:00Z');
const baseUrl = 'https://api.example.com/v1';
const requestUrl = new URL(`${baseUrl}/documents/d/download`);
const url = 'https://files.example.com/d?sig=abc';
const wrong = 'https://elsewhere.example.com/';
const ofApi = `${baseUrl}/documents/d`;

interface Asked {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly verb?: 'download' | 'preview';
}

function linkIn(
  body: unknown,
  urlPath?: string,
  { status = 200, headers = {}, verb = 'download' }: Asked = {},
) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const answer = { status, headers, body: Buffer.from(text) };
  return findLink(answer, { requestUrl, baseUrl, verb, urlPath, now });
}

describe.each(['download', 'preview'] as const)('where the signed URL of a %s is', (verb) => {
  const other = verb === 'download' ? 'preview' : 'download';

  test.each<[string, unknown]>([
    ['url', { url, expiresAt: null }],
    ["the verb's own word", { [`${verb}Url`]: url }],
    ["the verb's own word in snake case", { [`${verb}_url`]: url }],
    ["the other verb's word", { [`${other}Url`]: url }],
    ['signedUrl', { id: 'd', signedUrl: url }],
    ['presignedUrl', { presignedUrl: url }],
    ['pre_signed_url', { pre_signed_url: url }],
    ['href', { href: url }],
    ['link', { link: url }],
    ['nested in data', { data: { url } }],
    ['nested in document', { document: { fileUrl: wrong, downloadUrl: url } }],
    ['nested in results', { success: true, results: { url } }],
    ['nested in file', { file: { id: 'f', href: url } }],
    ['nested in response', { response: { link: url } }],
    ['nested three deep', { data: { document: { file: { signedUrl: url } } } }],
    ['a JSON:API document', { data: { id: 'd', attributes: { url } } }],
    ['a list of one', [{ url }]],
    ['a list of one URL', [url]],
    ['a list of one in results', { results: [{ url }] }],
    ['a list of one in a list of one', { data: [{ files: [{ signedUrl: url }] }] }],
    ['a text in data', { data: url }],
    ['the only URL', { id: 'd', target: url, fileUrl: 'https://private.example/x' }],
    ['the only URL beside a private reference', { target: url, fileRef: 's3://bucket/key' }],
    ['the only URL twice', { target: url, original: url }],
    ['beside an empty one', { [`${verb}Url`]: '', url: null, signedUrl: url }],
    ['a JSON string', JSON.stringify(url)],
    ['a text body', `${url}\n`],
    ['the own word before url', { url: wrong, [`${verb}Url`]: url }],
    ['the own word before signedUrl', { signedUrl: wrong, data: { [`${verb}Url`]: url } }],
    ["the own word before the other verb's", { [`${other}Url`]: wrong, [`${verb}Url`]: url }],
    [
      'url before previewUrl, and after downloadUrl',
      verb === 'download' ? { previewUrl: wrong, url } : { url: wrong, downloadUrl: url },
    ],
    [
      'signedUrl before previewUrl, and after downloadUrl',
      verb === 'download'
        ? { previewUrl: wrong, signedUrl: url }
        : { signedUrl: wrong, downloadUrl: url },
    ],
    ['signedUrl before presignedUrl', { presignedUrl: wrong, signedUrl: url }],
    ['signedUrl before url', { url: wrong, data: { signedUrl: url } }],
    ['url before href and link', { link: wrong, href: wrong, url }],
    ['the outer url before an inner one', { document: { url: wrong }, url }],
    ['by verb', { urls: { [other]: wrong, [verb]: url } }],
    ['by verb, as objects', { [other]: { url: wrong }, [verb]: { url } }],
    ['HAL links', { _links: { self: { href: wrong }, [verb]: { href: url } } }],
    [
      'links by rel',
      {
        links: [
          { rel: 'self', href: wrong },
          { rel: verb, href: url },
        ],
      },
    ],
    ['beside a thumbnail', { thumbnailUrl: wrong, target: url }],
    ['beside the avatar of its author', { author_avatar: wrong, avatarUrl: wrong, target: url }],
    ['beside a link to itself', { self: wrong, next: wrong, location: url }],
    ['beside a link to the documentation', { docsUrl: wrong, '@context': wrong, target: url }],
    ['not below the base URL', { url: ofApi, data: { href: url } }],
    ['not below the base URL, whatever its name', { [`${verb}Url`]: ofApi, target: url }],
  ])('%s', (_, body) => {
    expect(linkIn(body, undefined, { verb })).toEqual({ kind: 'url', url, expiresAt: undefined });
  });

  test.each<[string, unknown]>([
    ['a private reference', { fileUrl: 'https://private.example/x' }],
    ['a private reference in a document', { document: { fileUrl: wrong, file_key: wrong } }],
    ['another scheme', { url: 'file:///etc/passwd' }],
    ['a relative URL', { url: '/files/d?sig=abc' }],
    ['one of two unknown ones', { a: url, b: wrong }],
    ['two of unknown names', { preview_page: url, original: wrong }],
    ['a list of two', [url, wrong]],
    ['one of two files', { files: [{ url }, { url: wrong }] }],
    ['a thumbnail', { thumbnailUrl: url, url: null }],
    ['an avatar', { document: { avatar_url: url } }],
    ['a link to itself', { _links: { self: { href: url } }, next: url }],
    ['where to upload', { uploadUrl: url }],
    ["another object's address", { organization: { url }, uploadedBy: { link: url } }],
    ['nothing', {}],
    ['an empty list', { results: [] }],
    ['an empty answer', ''],
  ])('%s is no link', (_, body) => {
    expect(linkIn(body, undefined, { verb })).toBeUndefined();
  });

  test('a URL below the base URL is taken if there is no other', () => {
    const signed = `${baseUrl}/files/d?sig=abc`;
    const body = { self: ofApi, data: { url: signed }, thumbnailUrl: wrong };
    expect(linkIn(body, undefined, { verb })).toMatchObject({ url: signed });
  });
});

describe('other answers', () => {
  test('a redirect counts as the link', () => {
    expect(linkIn('', undefined, { status: 302, headers: { location: url } })).toMatchObject({
      url,
    });
    expect(linkIn('', undefined, { status: 307, headers: { location: '/files/d' } })).toMatchObject(
      {
        url: 'https://api.example.com/files/d',
      },
    );
  });

  test('a body that is neither JSON nor a URL is the file', () => {
    const headers = { 'content-type': 'application/pdf' };
    expect(linkIn('%PDF-1.4 …', undefined, { headers })).toEqual({
      kind: 'bytes',
      bytes: Buffer.from('%PDF-1.4 …'),
      headers,
    });
  });

  test.each([
    [{ url, expiresAt: '2026-11-21T12:05:00Z' }, '2026-11-21T12:05:00Z'],
    [{ url, expires_at: 1_795_262_700 }, new Date(1_795_262_700_000).toISOString()],
    [{ url, expiresIn: 300 }, '2026-11-21T12:05:00.000Z'],
    [{ data: { url, expiry_time: '2026-11-21T13:00:00Z' } }, '2026-11-21T13:00:00Z'],
    [{ url: `${url}&X-Amz-Date=20261121T120000Z&X-Amz-Expires=900` }, '2026-11-21T12:15:00.000Z'],
    [{ url, expiresAt: 'soon' }, undefined],
  ])('%j expires at %s', (body, expiresAt) => {
    expect(linkIn(body)).toMatchObject({ kind: 'url', expiresAt });
  });
});

describe('a configured path', () => {
  test.each<[string, unknown]>([
    ['deep.link.to', { url: wrong, deep: { link: { to: url } } }],
    ['files.0.url', { files: [{ url }, { url: wrong }] }],
    ['data[1].url', { data: [{ url: wrong }, { url }] }],
    ['[0].url', [{ url }, { url: wrong }]],
    ['1', [wrong, url]],
    ['pair[1][0]', { pair: [[wrong], [url]] }],
    ['thumbnail', { thumbnail: url, url: wrong }],
  ])('%s leads to the URL in %j', (path, body) => {
    expect(linkIn(body, path)).toMatchObject({ url });
  });

  test.each([
    ['/files/d?sig=abc', 'https://api.example.com/files/d?sig=abc'],
    ['content?sig=abc', `${baseUrl}/documents/d/content?sig=abc`],
    ['../../files/d', `${baseUrl}/files/d`],
    ['?sig=abc', `${requestUrl.href}?sig=abc`],
    ['//files.example.com/d?sig=abc', url],
  ])('may lead to the relative URL %s', (relative, absolute) => {
    expect(linkIn({ data: { path: relative } }, 'data.path')).toMatchObject({ url: absolute });
  });

  test.each<[string, unknown]>([
    ['data.signedUrl', { url }],
    ['data', { data: { url } }],
    ['name', { name: 'Rules.pdf', url }],
    ['name', { name: 'The / rules', url }],
    ['fileUrl', { fileUrl: 's3://bucket/key', url }],
    ['files.0.url', { files: [], url }],
    ['files.first.url', { files: [{ url }] }],
    ['url', { url: null, signedUrl: url }],
    ['url', JSON.stringify(url)],
  ])('%s that leads to no URL in %j is not replaced by another', (path, body) => {
    expect(linkIn(body, path)).toBeUndefined();
  });

  test('finds when the URL expires beside it', () => {
    const body = { files: [{ path: '/d?sig=abc', expiresIn: 300 }, {}] };
    expect(linkIn(body, 'files.0.path')).toMatchObject({ expiresAt: '2026-11-21T12:05:00.000Z' });
  });
});

describe('through the client', () => {
  const call = { endpoint: 'downloadDocument', params: { documentId: 'd' } } as const;
  const link = async (reply: Reply, overrides = {}) => {
    const service = await recordingService(() => reply);
    return apiTo(service.baseUrl, { overrides }).api.link(call);
  };

  test('a redirect is returned, not followed', async () => {
    const foreign = await recordingService(() => ({ status: 200 }));
    const location = `${foreign.origin}/file?sig=1`;
    expect(await link({ status: 302, headers: { location } })).toMatchObject({ url: location });
    expect(foreign.requests).toHaveLength(0);
  });

  test('a redirect may be written in UTF-8, as browsers read it', async () => {
    const written = 'https://files.example.org/\u00dcbersicht.pdf?sig=1';
    const location = Buffer.from(written).toString('latin1');
    expect(await link({ status: 302, headers: { location } })).toMatchObject({
      url: new URL(written).href,
    });
  });

  test('an HTML page is an error that does not show its text', async () => {
    const page = { status: 200, text: '<html>canary', headers: { 'content-type': 'text/html' } };
    const error = await thrownBy(link(page));
    expect(error).toBeInstanceOf(ProtocolError);
    expect((error as Error).message).toContain('answered with a web page');
    expect((error as Error).message).not.toContain('canary');
  });

  test('an answer without a link names what it holds, and the setting', async () => {
    const error = await thrownBy(link({ status: 200, json: { ok: true, files: [] } }));
    expect((error as ProtocolError).hint).toBe(
      'The answer holds ok, files.\nSay where the URL is: rosterctl config set download.urlPath PATH',
    );
  });

  test('a configured path that leads nowhere is named, with what there is and what to type', async () => {
    const overrides = { 'download.urlPath': 'data.url' };
    const error = await thrownBy(link({ status: 200, json: { a: url, b: wrong } }, overrides));
    expect(error).toMatchObject({
      message:
        'No signed URL at "data.url" (download.urlPath) in the answer to GET /documents/{documentId}/download (200).',
      hint: 'The answer holds a, b.\nSay where the URL is: rosterctl config set download.urlPath PATH',
    });
    const plain = await thrownBy(link({ status: 200, json: { url } }, overrides));
    expect((plain as ProtocolError).hint).toContain('rosterctl config set download.urlPath auto');
  });

  test('a file that is not ready is said to be so, also with a configured path', async () => {
    const replies = [
      { status: 202, json: { state: 'scanning' } },
      { status: 202, text: 'Accepted', headers: { 'content-type': 'text/plain' } },
      { status: 202 },
    ];
    for (const reply of replies)
      for (const overrides of [{}, { 'download.urlPath': 'data.url' }])
        expect(await thrownBy(link(reply, overrides))).toMatchObject({
          code: 'notReady',
          exitName: 'temporary',
          hint: expect.stringContaining('not ready yet'),
        });
  });

  test('a URL that a framework sends as text/html, its default for text, is no web page', async () => {
    const text = 'https://files.example/a.pdf?sig=1';
    const headers = { 'content-type': 'text/html;charset=UTF-8' };
    expect(await link({ status: 200, text, headers })).toMatchObject({ kind: 'url', url: text });
    expect(await thrownBy(link({ status: 200, text: `<a>${text}</a>`, headers }))).toBeInstanceOf(
      ProtocolError,
    );
  });

  test('a JSON answer that breaks off is not taken for the file, and asked for again', async () => {
    const headers = { 'content-type': 'application/json; charset=utf-8' };
    const text = `{"url":"${url}","expires`;
    const error = await thrownBy(link({ status: 200, text, headers }));
    expect(error).toBeInstanceOf(ProtocolError);
    expect((error as ProtocolError).message).toContain('is not JSON');
    const service = await recordingService(() =>
      service.requests.length === 1
        ? { status: 200, text, headers }
        : { status: 200, json: { url } },
    );
    const { api } = apiTo(service.baseUrl, { retries: 1, sleep: async () => undefined });
    expect(await api.link(call)).toMatchObject({ kind: 'url', url });
    const pdf = { status: 200, text: '%PDF-1.4 …', headers };
    expect(await link(pdf)).toMatchObject({ kind: 'bytes' });
  });

  test.each(['{"a":1}\n{"b":2}\n', '{ // comment\n"a":1}', '"name","age"\n"Kim","9"\n'])(
    'a file that is sent as JSON, but is none as a whole, is the file: %j',
    async (text) => {
      const headers = { 'content-type': 'application/json' };
      expect(await link({ status: 200, text, headers })).toMatchObject({ kind: 'bytes' });
    },
  );

  test('a part of a file (206) is not taken for the file', async () => {
    const reply = { status: 206, text: 'The first', headers: { 'content-type': 'text/plain' } };
    expect(await thrownBy(link(reply))).toBeInstanceOf(ProtocolError);
  });

  test('a refusal stays a refusal', async () => {
    const error = await thrownBy(link({ status: 404, json: { error: 'notFound' } }));
    expect(error).toBeInstanceOf(ApiError);
  });
});
