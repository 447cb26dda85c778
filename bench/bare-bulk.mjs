/**
 * The minimum cost of a bulk run over undici: the list, then for each record a GET, an intent on
 * disk, a PATCH and a result on disk, without checks, retries or a preview. Any further cost is
 * rosterctl's own. `node bare-bulk.mjs ORIGIN IDS JOURNAL AT_ONCE`.
 */
import { createHash } from 'node:crypto';
import { fdatasync, openSync, readFileSync, writeSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';

// As in rosterctl, because Node 20 would compile undici's parser twice.
if (process.version.startsWith('v20.')) setFlagsFromString('--liftoff-only');
const { Agent } = await import('undici');

const [origin, idFile, journal, atOnce] = process.argv.slice(2);
const ids = readFileSync(idFile, 'utf8').trim().split('\n');
const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
const descriptor = openSync(journal, 'w');
const bare = ['accept', 'application/json', 'x-api-key', 'bench-key-0123456789'];
const withBody = [...bare, 'content-type', 'application/json'];
const body = Buffer.from('{"organizationId":"org_7","status":"rejected"}');

class Answer {
  chunks = [];

  constructor(resolve, reject) {
    this.resolve = resolve;
    this.onError = reject;
  }

  onConnect() {}

  onHeaders() {
    return true;
  }

  onData(chunk) {
    this.chunks.push(chunk);
    return true;
  }

  onComplete() {
    this.resolve(JSON.parse(Buffer.concat(this.chunks).toString()));
  }
}

function request(method, path, headers, content) {
  return new Promise((resolve, reject) => {
    agent.dispatch({ origin, method, path, headers, body: content }, new Answer(resolve, reject));
  });
}

let lines = '';
let waiting = [];
let isWriting = false;

/** One write and one sync for all records that arrived during the last sync. */
function append(entry) {
  const text = JSON.stringify(entry);
  const sum = createHash('sha256').update(text).digest('hex').slice(0, 16);
  lines += `${text.slice(0, -1)},"sum":"${sum}"}\n`;
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (!isWriting) setImmediate(flush);
    isWriting = true;
  });
}

function flush() {
  const resolved = waiting;
  writeSync(descriptor, lines);
  lines = '';
  waiting = [];
  fdatasync(descriptor, (error) => {
    if (error) throw error;
    for (const resolve of resolved) resolve();
    isWriting = waiting.length > 0;
    if (isWriting) flush();
  });
}

await request('GET', '/v1/tryout-applications?organizationId=org_7', bare);
let next = 0;
const results = [];
const worker = async () => {
  while (next < ids.length) {
    const row = next++;
    const path = `/v1/tryout-applications/${ids[row]}?organizationId=org_7`;
    const before = await request('GET', path, bare);
    await append({ kind: 'intent', row, id: before.id, before: before.status });
    const after = await request('PATCH', path, withBody, body);
    const result = { row, id: after.id, result: 'changed', after: after.status };
    results.push(
      append({ kind: 'result', ...result }).then(() => {
        process.stdout.write(`${JSON.stringify(result)}\n`);
      }),
    );
  }
};
await Promise.all(Array.from({ length: Number(atOnce) }, worker));
await Promise.all(results);
await agent.close();
