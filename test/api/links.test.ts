import { describe, expect, test } from 'vitest';
import { findLink } from '../../src/api/links.js';
import { ApiError, ProtocolError } from '../../src/errors.js';
import { type Reply, recordingService } from '../support/service.js';
import { apiTo, thrownBy } from './wiring.js';

const now = new Date('2026-11-21T12:00:00Z');
const requestUrl = new URL('https://api.example.com/v1/documents/d/download');
const url = 'https://files.example.com/d?sig=abc';

function linkIn(body: unknown, urlPath?: string, status = 200, headers = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const answer = { status, headers, body: Buffer.from(text) };
  return findLink(answer, { requestUrl, urlPath, now });
}

describe('where the signed URL is', () => {
  test.each<[string, unknown]>([
    ['url', { url, expiresAt: null }],
    ['downloadUrl', { downloadUrl: url }],
    ['download_url', { download_url: url }],
    ['signedUrl', { id: 'd', signedUrl: url }],
    ['presignedUrl', { presignedUrl: url }],
    ['previewUrl', { previewUrl: url }],
    ['href', { href: url }],
    ['nested in data', { data: { url } }],
    ['nested in document', { document: { fileUrl: 'https://x.example/', downloadUrl: url } }],
    ['nested in results', { success: true, results: { url } }],
    ['the only URL', { id: 'd', target: url, fileUrl: 'https://private.example/x' }],
    ['the only URL beside a private reference', { target: url, fileRef: 's3://bucket/key' }],
    ['a JSON string', JSON.stringify(url)],
    ['a text body', `${url}\n`],
  ])('%s', (_, body) => {
    expect(linkIn(body)).toEqual({ kind: 'url', url, expiresAt: undefined });
  });

  test('a redirect counts as the link', () => {
    expect(linkIn('', undefined, 302, { location: url })).toMatchObject({ url });
    expect(linkIn('', undefined, 307, { location: '/files/d' })).toMatchObject({
      url: 'https://api.example.com/files/d',
    });
  });

  test('a configured path comes first', () => {
    const body = { url: 'https://wrong.example/', deep: { link: { to: url } } };
    expect(linkIn(body, 'deep.link.to')).toMatchObject({ url });
  });

  test.each<[string, unknown]>([
    ['a private reference', { fileUrl: 'https://private.example/x' }],
    ['another scheme', { url: 'file:///etc/passwd' }],
    ['two candidates', { a: url, b: 'https://other.example/' }],
    ['nothing', {}],
    ['a list', [url]],
    ['an empty answer', ''],
  ])('%s is no link', (_, body) => {
    expect(linkIn(body)).toBeUndefined();
  });

  test('a body that is neither JSON nor a URL is the file', () => {
    const headers = { 'content-type': 'application/pdf' };
    expect(linkIn('%PDF-1.4 …', undefined, 200, headers)).toEqual({
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

describe('through the client', () => {
  const call = { endpoint: 'downloadDocument', params: { documentId: 'd' } } as const;
  const link = async (reply: Reply) => {
    const service = await recordingService(() => reply);
    return apiTo(service.baseUrl).api.link(call);
  };

  test('a redirect is returned, not followed', async () => {
    const foreign = await recordingService(() => ({ status: 200 }));
    const location = `${foreign.origin}/file?sig=1`;
    expect(await link({ status: 302, headers: { location } })).toMatchObject({ url: location });
    expect(foreign.requests).toHaveLength(0);
  });

  test('an HTML page is an error that does not show its text', async () => {
    const page = { status: 200, text: '<html>canary', headers: { 'content-type': 'text/html' } };
    const error = await thrownBy(link(page));
    expect(error).toBeInstanceOf(ProtocolError);
    expect((error as Error).message).toContain('HTML from http://127.0.0.1');
    expect((error as Error).message).not.toContain('canary');
  });

  test('an answer without a link names the setting', async () => {
    const error = await thrownBy(link({ status: 200, json: { ok: true } }));
    expect((error as ProtocolError).hint).toContain('download.urlPath');
  });

  test('a refusal stays a refusal', async () => {
    const error = await thrownBy(link({ status: 404, json: { error: 'notFound' } }));
    expect(error).toBeInstanceOf(ApiError);
  });
});
