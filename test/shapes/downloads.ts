/** Download answers: where a service puts the signed URL of a file, or the file itself. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Outcome, Shape } from './cell.js';
import { type Check, pagesOf } from './judge.js';
import type { Command } from './reads.js';

const answer = (name: string, template: string, ...also: string[]): Shape => ({
  table: 'downloads',
  name,
  shapes: [`download=${template}`, `preview=${template}`, ...also],
});

const understood = (name: string, template: string, ...also: string[]): Shape => ({
  ...answer(name, template, ...also),
  promise: 'right',
});

const at = (path: string, name: string, template: string): Shape => ({
  ...understood(name, template),
  settings: { 'download.urlPath': path },
});

/** Every answer to a download and to a preview. */
export const downloads: readonly Shape[] = [
  ...[
    'url',
    'downloadUrl',
    'download_url',
    'signedUrl',
    'signed_url',
    'presignedUrl',
    'href',
    'link',
  ].map((key) => understood(key, `{"${key}":"$url","expiresAt":"$expiresAt"}`)),
  understood('data.signedUrl', '{"data":{"signedUrl":"$url"}}'),
  understood('data.url', '{"data":{"url":"$url","expiresIn":300}}'),
  understood('document with downloadUrl', '{"document":"$record","downloadUrl":"$url"}'),
  understood('record with downloadUrl', '{"...":"$record","downloadUrl":"$url"}'),
  answer('relative url', '{"url":"$path"}'),
  understood('its own record first', '{"url":"/v1/documents/$id","signedUrl":"$url"}'),
  understood('302', '302 $url'),
  understood('307', '307 $url'),
  understood('303', '303 $url'),
  {
    ...understood('the bytes', '200 $file'),
    only: ['docs download', 'docs preview', 'docs download -O -', 'docs download of two'],
  },
  answer('the bytes, its URL', '200 $file'),
  understood('text', '200 $url'),
  answer('a JSON text', '"$url"'),
  {
    ...understood('previewUrl and downloadUrl', '{}'),
    shapes: [
      'download={"previewUrl":"FOREIGN/no","downloadUrl":"$url"}',
      'preview={"downloadUrl":"FOREIGN/no","previewUrl":"$url"}',
    ],
  },
  understood('thumbnail beside it', '{"thumbnailUrl":"FOREIGN/small","url":"$url"}'),
  at('0.url', 'an array, set', '[{"url":"$url"}]'),
  at('files.0.path', 'a relative path, set', '{"files":[{"path":"$path"}]}'),
  at('links.self.href', 'deep, set', '{"links":{"self":{"href":"$url"}}}'),
  {
    ...answer('a path that leads nowhere', '{"url":"$url"}'),
    settings: { 'download.urlPath': 'data.signedUrl' },
  },
  answer('an array', '[{"url":"$url"}]'),
  answer('data as an array', '{"data":[{"url":"$url"}]}'),
  answer('links.download', '{"links":{"download":"$url"}}'),
  answer('url as an object', '{"url":{"href":"$url"}}'),
  answer('two urls', '{"a":"$url","b":"FOREIGN/other"}'),
  answer('file reference alone', '{"fileUrl":"private://files/1","id":"$id"}'),
  answer('url: null', '{"url":null}'),
  answer('no object', '{}'),
  answer('error with 200', '{"error":"notReady","message":"The file is being scanned."}'),
  answer('success: false', '{"success":false,"message":"No."}'),
  answer('a web page', '200 <html><title>Sign in</title></html>'),
  answer('204', '204'),
  // A file that is not ready yet is asked for again.
  { ...answer('202', '202 {"status":"preparing"}'), extraReads: 3 },
  answer('null', '200 null'),
  answer('another scheme', '{"url":"s3://bucket/key"}'),
  answer('a script', '{"url":"javascript:alert(1)"}'),
  answer('a dead url', '{"url":"/v1/nowhere"}'),
];

function sizeOf({ before }: Outcome, id: string): unknown {
  return before.documents.get(id)?.['sizeBytes'];
}

/** The file holds the document: its size, and not a page or an answer of the API. */
function sameFile(id: string, file: string): Check {
  return (outcome) => {
    const path = join(outcome.home, 'files', file);
    if (!existsSync(path)) return 'no file';
    const bytes = readFileSync(path);
    if (bytes.length !== sizeOf(outcome, id)) return `${file} has ${bytes.length} bytes`;
    return bytes.subarray(0, 1).toString() === '<' ? 'a web page was saved' : undefined;
  };
}

const nothingSaved: Check = ({ home }) => {
  const files = readdirSync(join(home, 'files'));
  return files.length > 0 ? `${files.join(', ')} was left` : undefined;
};

/** At most this many reads of the service, and those that a shape takes more. */
function readsOf(reads: number): Command['due'] {
  return ({ shape }) => ({ reads: reads + (shape.extraReads ?? 0), writes: 0 });
}

function one(name: string, line: string): Command {
  return {
    name,
    line,
    missing: sameFile('doc_0001', 'a.pdf'),
    harm: nothingSaved,
    due: readsOf(3),
  };
}

/** Downloads of one document and of two, and the URL alone. */
export const downloading: readonly Command[] = [
  one('docs download', 'docs download doc_0001 -O HOME/files/a.pdf -o json'),
  one('docs preview', 'docs preview doc_0001 -O HOME/files/a.pdf -o json'),
  {
    name: 'docs download -O -',
    line: 'docs download doc_0009 -O -',
    missing: (outcome) =>
      Buffer.byteLength(outcome.ran.stdout) === sizeOf(outcome, 'doc_0009')
        ? undefined
        : `printed ${JSON.stringify(outcome.ran.stdout.slice(0, 60))}`,
    due: readsOf(3),
  },
  {
    name: 'docs download of two',
    line: 'docs download doc_0003 doc_0008 -D HOME/files -o json',
    missing: async (outcome) =>
      (await sameFile('doc_0003', 'Code of conduct.pdf')(outcome)) ??
      (await sameFile('doc_0008', 'Scrim notes week 12.txt')(outcome)),
    harm: nothingSaved,
    due: (outcome) => ({ reads: 4 + pagesOf(outcome, 'documents'), writes: 0 }),
  },
  {
    name: 'docs download --url',
    line: 'docs download doc_0001 --url -o json',
    missing({ ran, requests }) {
      const { url } = JSON.parse(ran.stdout) as { url?: unknown };
      const isStore = /\/documents\/org_demo\/demo_0001\.pdf\?/.test(String(url));
      if (requests.some(({ server }) => server !== 'api')) return 'it was fetched';
      return isStore ? undefined : `printed ${String(url)}`;
    },
    due: readsOf(2),
  },
];
