import { connect } from 'node:net';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/data/json.js';
import { call, http, newSandbox, start, type TestSandbox, verdict } from './client.js';

const organizationId = 'org_demo';
const file = Buffer.from('%PDF-1.4 a small file\n');

async function grant(sandbox: TestSandbox, more: JsonObject = {}) {
  const body = { organizationId, contentType: 'application/pdf', sizeBytes: file.length, ...more };
  const answer = await call(sandbox, 'POST /uploads/document-file', body);
  expect(answer.status).toBe(200);
  return answer.json as { key: string; fileRef: string; uploadUrl: string };
}

const put = (url: string, body: Buffer = file, contentType = 'application/pdf') =>
  http('PUT', url, {
    headers: { 'content-type': contentType, 'content-length': body.length },
    body,
  });

const after = (minutes: number) => new Date(start.getTime() + minutes * 60_000);

const codeIn = (answer: { status: number; text: string }) =>
  `${answer.status} ${/<Code>(\w+)<\/Code>/.exec(answer.text)?.[1]}`;

test('a file goes up in three steps and comes down as it was', async () => {
  const sandbox = await newSandbox();
  const { key, fileRef, uploadUrl } = await grant(sandbox);
  expect(key).toMatch(/^documents\/org_demo\/.+\.pdf$/);
  expect(new URL(uploadUrl).origin).toBe(sandbox.fileUrl);
  expect(new URL(uploadUrl).origin).not.toBe(new URL(sandbox.baseUrl).origin);
  expect((await put(uploadUrl)).status).toBe(200);
  const body = {
    organizationId,
    name: 'Täst "x".pdf',
    fileKey: key,
    fileUrl: fileRef,
    contentType: 'application/pdf',
    sizeBytes: file.length,
    tags: ['legal'],
    folder: 'extra',
  };
  const created = await call(sandbox, 'POST /documents', body);
  expect(created.status).toBe(201);
  expect(created.json).toMatchObject({ id: 'doc_0015', name: body.name, folder: 'extra' });
  expect(created.json['fileUrl']).toMatch(/^private:/);
  const link = await call(sandbox, 'GET /documents/doc_0015/download');
  expect(link.json['expiresAt']).toBe('2026-03-01T12:05:00.000Z');
  const down = await http('GET', String(link.json['url']));
  expect(down.bytes.equals(file)).toBe(true);
  expect(down.headers).toMatchObject({
    'content-type': 'application/pdf',
    'content-length': String(file.length),
    'content-disposition': `attachment; filename="T_st _x_.pdf"; filename*=UTF-8''T%C3%A4st%20%22x%22.pdf`,
  });
  const preview = await call(sandbox, 'GET /documents/doc_0015/preview');
  const shown = await http('GET', String(preview.json['url']));
  expect(shown.headers['content-disposition']).toMatch(/^inline; /);
});

test.each([
  [{ contentType: 'image/svg+xml' }],
  [{ contentType: 'application/pdf; charset=utf-8' }],
  [{ sizeBytes: 1.5 }],
  [{ sizeBytes: -1 }],
  [{ sizeBytes: 0 }],
  [{ sizeBytes: '12' }],
  [{ contentType: undefined }],
])('an upload of %j is invalid', async (more) => {
  const sandbox = await newSandbox();
  const body = { organizationId, contentType: 'application/pdf', sizeBytes: 12, ...more };
  expect(verdict(await call(sandbox, 'POST /uploads/document-file', body))).toBe(
    '400 invalidRequest',
  );
});

test('each of the ten content types is taken and ends the key in its extension', async () => {
  const sandbox = await newSandbox();
  const types = [
    'application/pdf',
    'application/msword',
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    'application/vnd.ms-excel',
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    'text/plain',
    'image/jpeg',
    'image/png',
    'image/webp',
    'image/gif',
  ];
  const extensions: (string | undefined)[] = [];
  for (const contentType of types)
    extensions.push((await grant(sandbox, { contentType })).key.split('.').at(-1));
  expect(extensions).toEqual([
    'pdf',
    'doc',
    'docx',
    'xls',
    'xlsx',
    'txt',
    'jpg',
    'png',
    'webp',
    'gif',
  ]);
});

test('a file above the limit is refused before a byte is sent', async () => {
  const sandbox = await newSandbox();
  const body = { organizationId, contentType: 'text/plain', sizeBytes: 25 * 1024 * 1024 + 1 };
  expect(verdict(await call(sandbox, 'POST /uploads/document-file', body))).toBe(
    '413 fileTooLarge',
  );
  expect((await grant(sandbox, { sizeBytes: 25 * 1024 * 1024 })).uploadUrl).toBeTruthy();
});

test('the PUT must have the announced type and length', async () => {
  const sandbox = await newSandbox();
  const { uploadUrl } = await grant(sandbox);
  expect(codeIn(await put(uploadUrl, file, 'text/plain'))).toBe('403 SignatureDoesNotMatch');
  expect(codeIn(await put(uploadUrl, file.subarray(1)))).toBe('400 EntityTooSmall');
  expect(codeIn(await put(uploadUrl, Buffer.concat([file, file])))).toBe('400 EntityTooLarge');
  const chunked = { 'content-type': 'application/pdf', 'transfer-encoding': 'chunked' };
  expect(codeIn(await http('PUT', uploadUrl, { headers: chunked, body: file }))).toBe(
    '411 MissingContentLength',
  );
  expect((await put(uploadUrl)).status).toBe(200);
  const puts = sandbox.requests().filter(({ port }) => port === 'store');
  expect(puts.map(({ applied }) => applied)).toEqual([false, false, false, false, true]);
});

test('a PUT that is cut off stores nothing', async () => {
  const sandbox = await newSandbox();
  const { key, fileRef, uploadUrl } = await grant(sandbox);
  const { port, pathname, search } = new URL(uploadUrl);
  await new Promise<void>((resolve) => {
    const socket = connect(Number(port), '127.0.0.1', () => {
      socket.write(
        `PUT ${pathname}${search} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/pdf\r\nContent-Length: ${file.length}\r\n\r\n%PDF`,
        () => socket.destroy(),
      );
    });
    socket.on('close', () => resolve());
    socket.on('error', () => {});
  });
  const body = { organizationId, fileKey: key, fileUrl: fileRef, tags: [] };
  const sized = { ...body, contentType: 'application/pdf', sizeBytes: file.length };
  expect(verdict(await call(sandbox, 'POST /documents', sized))).toBe('400 invalidRequest');
  expect((await put(uploadUrl)).status).toBe(200);
  const puts = sandbox.requests().filter(({ port: name }) => name === 'store');
  expect(puts.map(({ applied }) => applied)).toEqual([false, true]);
});

test('the same bytes may be sent again while the URL lives, others not', async () => {
  const sandbox = await newSandbox();
  const { uploadUrl } = await grant(sandbox);
  expect((await put(uploadUrl)).status).toBe(200);
  expect((await put(uploadUrl)).status).toBe(200);
  const other = Buffer.from(file);
  other[0] = 0;
  expect(codeIn(await put(uploadUrl, other))).toBe('403 AccessDenied');
});

test('an upload URL works for 15 minutes, a download URL for 5', async () => {
  const sandbox = await newSandbox();
  const { uploadUrl } = await grant(sandbox);
  const link = (await call(sandbox, 'GET /documents/doc_0001/download')).json['url'] as string;
  sandbox.clock.now = new Date(after(5).getTime() - 1);
  expect((await http('GET', link)).status).toBe(200);
  sandbox.clock.now = after(5);
  expect(codeIn(await http('GET', link))).toBe('403 AccessDenied');
  expect((await http('GET', link)).text).toContain('expired');
  sandbox.clock.now = new Date(after(15).getTime() - 1);
  expect((await put(uploadUrl)).status).toBe(200);
  sandbox.clock.now = after(15);
  expect(codeIn(await put(uploadUrl))).toBe('403 AccessDenied');
});

test('a signed URL that was changed in any part is refused', async () => {
  const sandbox = await newSandbox();
  const link = new URL(
    (await call(sandbox, 'GET /documents/doc_0001/download')).json['url'] as string,
  );
  const changed = (edit: (url: URL) => void) => {
    const url = new URL(link);
    edit(url);
    return http('GET', url.href);
  };
  const { searchParams } = link;
  for (const name of searchParams.keys()) {
    const answer = await changed((url) => url.searchParams.set(name, `${searchParams.get(name)}0`));
    expect(`${name} ${codeIn(answer)}`).toBe(`${name} 403 SignatureDoesNotMatch`);
  }
  expect(codeIn(await changed((url) => url.searchParams.append('more', '1')))).toBe(
    '403 SignatureDoesNotMatch',
  );
  expect(
    codeIn(await changed((url) => (url.pathname = url.pathname.replace('0001', '0002')))),
  ).toBe('403 SignatureDoesNotMatch');
  expect(codeIn(await changed((url) => url.searchParams.delete('signature')))).toBe(
    '403 AccessDenied',
  );
  expect(codeIn(await changed((url) => (url.search = '')))).toBe('403 AccessDenied');
  expect(codeIn(await put(link.href))).toBe('403 SignatureDoesNotMatch');
  expect(codeIn(await http('DELETE', link.href))).toBe('405 MethodNotAllowed');
  expect((await http('GET', link.href)).status).toBe(200);
});

test('a key opens nothing in the file store', async () => {
  const sandbox = await newSandbox();
  const { json } = await call(sandbox, 'GET /documents/doc_0001/download');
  const bare = String(json['url']).split('?')[0] ?? '';
  const headers = { 'x-api-key': sandbox.apiKey };
  expect(codeIn(await http('GET', bare, { headers }))).toBe('403 AccessDenied');
  expect((await http('GET', String(json['url']))).status).toBe(200);
});

test('HEAD and a range are answered like the whole file', async () => {
  const sandbox = await newSandbox();
  const url = (await call(sandbox, 'GET /documents/doc_0011/download')).json['url'] as string;
  const whole = await http('GET', url);
  const size = whole.bytes.length;
  const head = await http('HEAD', url);
  expect([head.status, head.bytes.length, head.headers['content-length']]).toEqual([
    200,
    0,
    String(size),
  ]);
  const ranged = (range: string) => http('GET', url, { headers: { range } });
  const part = await ranged('bytes=10-19');
  expect(part.status).toBe(206);
  expect(part.bytes.equals(whole.bytes.subarray(10, 20))).toBe(true);
  expect(part.headers['content-range']).toBe(`bytes 10-19/${size}`);
  expect((await ranged('bytes=-5')).bytes.equals(whole.bytes.subarray(-5))).toBe(true);
  expect((await ranged(`bytes=${size - 1}-`)).bytes.equals(whole.bytes.subarray(-1))).toBe(true);
  expect(codeIn(await ranged(`bytes=${size}-`))).toBe('416 InvalidRange');
  expect((await ranged('bytes=5-2')).status).toBe(200);
  const { etag = '' } = whole.headers;
  const ifRange = async (tag: unknown) =>
    http('GET', url, { headers: { range: 'bytes=10-19', 'if-range': String(tag) } });
  expect(etag).toMatch(/^"[0-9a-f]{64}"$/);
  expect([(await ifRange(etag)).status, (await ifRange('"other"')).status]).toEqual([206, 200]);
});

test('the fileUrl of a created document is a private reference of its own, not what was sent', async () => {
  const sandbox = await newSandbox();
  const { key, fileRef, uploadUrl } = await grant(sandbox);
  await put(uploadUrl);
  const sent = {
    organizationId,
    fileKey: key,
    fileUrl: fileRef,
    contentType: 'application/pdf',
    sizeBytes: file.length,
    tags: [],
  };
  const { json } = await call(sandbox, 'POST /documents', sent);
  expect(json['fileUrl']).toMatch(/^private:/);
  expect(json['fileUrl']).not.toBe(fileRef);
  const update = (fileUrl: unknown) =>
    call(sandbox, `PATCH /documents/${String(json['id'])}`, { fileUrl, tags: ['x'] });
  expect((await update(json['fileUrl'])).status).toBe(200);
  expect((await update(fileRef)).status).toBe(400);
});

test('a document needs an upload that arrived, as it was announced, and only once', async () => {
  const sandbox = await newSandbox();
  const { key, fileRef, uploadUrl } = await grant(sandbox);
  const good = {
    organizationId,
    fileKey: key,
    fileUrl: fileRef,
    contentType: 'application/pdf',
    sizeBytes: file.length,
    tags: [],
  };
  const create = (more: JsonObject = {}) => call(sandbox, 'POST /documents', { ...good, ...more });
  expect(verdict(await create())).toBe('400 invalidRequest');
  await put(uploadUrl);
  for (const wrong of [
    { fileKey: 'documents/org_demo/none.pdf' },
    { fileUrl: 'private://elsewhere' },
    { contentType: 'image/png' },
    { contentType: 'text/html' },
    { sizeBytes: file.length + 1 },
    { tags: 'legal' },
    { tags: [1] },
    { fileKey: undefined },
  ])
    expect(`${JSON.stringify(wrong)} ${verdict(await create(wrong))}`).toBe(
      `${JSON.stringify(wrong)} 400 invalidRequest`,
    );
  expect((await create()).json['name']).toBe(key.split('/').at(-1));
  expect(verdict(await create())).toBe('409 conflict');
  expect((await call(sandbox, 'GET /documents/org_demo')).json['total']).toBe(15);
});

test('the file of a demo document has the type and length that its record names', async () => {
  const sandbox = await newSandbox();
  const { json } = await call(sandbox, 'GET /documents/org_demo');
  const magics: Record<string, string> = {
    pdf: '25504446',
    docx: '504b0304',
    xlsx: '504b0304',
    xls: 'd0cf11e0',
    doc: 'd0cf11e0',
    jpg: 'ffd8ffe0',
    png: '89504e47',
    webp: '52494646',
    gif: '47494638',
  };
  for (const document of json['documents'] as JsonObject[]) {
    const link = await call(sandbox, `GET /documents/${String(document['id'])}/download`);
    const down = await http('GET', String(link.json['url']));
    expect(down.bytes.length).toBe(document['sizeBytes']);
    expect(down.headers['content-type']).toBe(document['contentType']);
    const extension = String(document['name']).split('.').at(-1) ?? '';
    const magic = magics[extension];
    if (magic) expect(down.bytes.subarray(0, 4).toString('hex')).toBe(magic);
    else expect(extension).toBe('txt');
  }
});

test('a signed URL ends with the server that made it', async () => {
  const first = await newSandbox();
  const { stateDir } = first;
  const { json } = await call(first, 'GET /documents/doc_0001/download');
  const url = new URL(String(json['url']));
  expect((await http('GET', url.href)).status).toBe(200);
  await first.close();
  await expect(http('GET', url.href)).rejects.toThrow('ECONNREFUSED');
  const second = await newSandbox({ stateDir });
  url.port = new URL(second.fileUrl).port;
  expect(codeIn(await http('GET', url.href))).toBe('403 SignatureDoesNotMatch');
});
