import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { grantsOf } from '../commands/uploads/grants.js';
import { inProcess } from './in-process.js';
import { temporaryFolder } from './run.js';
import { type Reply, recordingService } from './service.js';

/** A document that the service made. */
export interface Made {
  readonly id: string;
  readonly name: string;
  readonly fileKey: string;
  readonly [field: string]: unknown;
}

/** A service that creates documents and lists them as `list` says, and the folder that uploads to it. */
export async function desk(files: Readonly<Record<string, string>>) {
  const home = temporaryFolder();
  for (const [name, content] of Object.entries(files)) writeFileSync(join(home, name), content);
  const documents: Made[] = [];
  const bytes = new Map<string, Buffer>();
  const view = {
    list: (made: readonly Made[]): Reply => ({
      status: 200,
      json: { documents: made, total: made.length },
    }),
    download: (file: Buffer): Buffer => file,
    /** The answer of the store to a download, which is the file if there is none. */
    get: (): Reply | undefined => undefined,
    /** The answer of the store to a file. */
    put: (): Reply => ({ status: 200 }),
    /** The answers to step 1 wait for it. */
    grants: Promise.resolve(),
    /** The key in the n-th of them. */
    key: (nth: number) => `files/${nth}`,
    /** The answer to a deletion, which takes place if there is none. */
    remove: (): Reply | undefined => undefined,
  };
  const store = await recordingService(({ method, url, body }) => {
    const name = url.split('?')[0] ?? '';
    if (method !== 'PUT') {
      const file = bytes.get(name) ?? Buffer.alloc(0);
      return view.get() ?? { status: 200, text: String(view.download(file)) };
    }
    bytes.set(name, body);
    return view.put();
  });
  const grant = grantsOf(store, (nth) => view.key(nth));
  const puts = new Map<string, string>();
  let count = 0;
  const api = await recordingService(({ method, url, body }): Reply => {
    const id = /^\/v1\/documents\/([^/]+)\/download$/.exec(url)?.[1];
    if (id !== undefined)
      return { status: 200, json: { url: `${store.origin}${puts.get(id)}?sig=canary` } };
    if (method === 'DELETE') {
      const special = view.remove();
      if (special) return special;
      const found = documents.findIndex((made) => url === `/v1/documents/${made.id}`);
      if (found < 0) return { status: 404, json: { error: 'notFound' } };
      documents.splice(found, 1);
      return { status: 204 };
    }
    if (method === 'GET') return view.list(documents);
    if (url === '/v1/uploads/document-file') {
      const { json } = grant() as { json: object };
      const reply = JSON.stringify(json);
      return (_, response) =>
        void view.grants.then(() =>
          response.writeHead(200, { 'content-type': 'application/json' }).end(reply),
        );
    }
    const made = { id: `doc_${++count}`, ...JSON.parse(body.toString()) } as Made;
    puts.set(made.id, `/${made.fileKey}`);
    documents.push(made);
    return { status: 201, json: { document: made } };
  });
  const write = (name: string, content: string) => writeFileSync(join(home, name), content);
  const at = { env: { ...api.env, ROSTERCTL_SETTLE: '0s' }, home };
  /** Runs a line; each FILE.txt in it is one of the folder. */
  const run = (line: string) =>
    inProcess(`${line.replace(/(?<= )(\w+\.(?:txt|csv))\b/g, `${home}/$1`)} --json`, at);
  const upload = (line: string) => run(`docs upload ${line}`);
  const forget = () => {
    const folder = join(home, '.local/state/rosterctl/uploads');
    for (const name of readdirSync(folder)) writeFileSync(join(folder, name), '');
  };
  return { home, api, store, documents, view, write, run, upload, forget };
}
