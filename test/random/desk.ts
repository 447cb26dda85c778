/** A user's desk at a service of its own, for one random line or for a few. */
import { subscribe } from 'node:diagnostics_channel';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { resourceNames } from '../../src/data/resources.js';
import { startSandbox } from '../../src/sandbox/embedded.js';
import type { StoredRecord } from '../../src/sandbox/records.js';
import { self } from '../sandbox/client.js';
import { aDesk } from '../support/examples.js';
import { inProcess } from '../support/in-process.js';
import type { Ran } from '../support/run.js';

/** The records of a service by their ids, which no two resources share. */
export type Books = ReadonlyMap<string, StoredRecord>;

/** How a line ended, and the methods of the requests that it sent. */
export interface Told extends Ran {
  readonly sent: readonly string[];
}

let sent: string[] = [];
subscribe('http.server.request.start', (message) => {
  const { request } = message as { request: IncomingMessage };
  sent.push(request.method ?? '');
});

export type Desk = Awaited<ReturnType<typeof newDesk>>;

export async function newDesk(faults: readonly string[] = []) {
  const { home, cwd } = await aDesk('');
  const server = await startSandbox({
    stateDir: undefined,
    self,
    now: () => new Date(),
    faults,
  });
  const env = {
    ROSTERCTL_BASE_URL: server.baseUrl,
    ROSTERCTL_ORG: server.organizationId,
    ROSTERCTL_API_KEY: server.apiKey,
    ROSTERCTL_SETTLE: '0.1s',
    ROSTERCTL_RETRIES: '1',
    // No program to open a document with.
    PATH: '/nowhere',
  };
  const files = {
    'note.txt': 'a note\n',
    'ids.txt': 'app_0003\napp_0004\n',
    'apps.csv': 'id,status,internalNotes\napp_0005,rejected,\napp_0006,,A note\n',
    'players.csv': 'id,role,teamIds\nplayer_0001,Coach,team_0001;team_0002\nplayer_0002,,\n',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text);
  return {
    cwd,
    key: server.apiKey,
    async run(words: string | readonly string[]): Promise<Told> {
      sent = [];
      const ran = await inProcess(words, { env, home, cwd, stdin: files['ids.txt'] });
      return { ...ran, sent };
    },
    books: (): Books =>
      new Map(resourceNames.flatMap((name) => [...server.tables().records[name]])),
    events: () =>
      server.tables().events.map(({ kind, applicationId }) => `${kind} ${applicationId}`),
    /** The text of every file below the home folder. */
    files: (): ReadonlyMap<string, string> =>
      new Map(
        readdirSync(home, { recursive: true, encoding: 'utf8' })
          .filter((name) => statSync(join(home, name)).isFile())
          .map((name) => [name, readFileSync(join(home, name), 'latin1')]),
      ),
    async close() {
      await server.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** The ids of the records that differ between two states of the books. */
export function changedIds(before: Books, after: Books): readonly string[] {
  return [...new Set([...before.keys(), ...after.keys()])].filter((id) => {
    const [was, is] = [before.get(id), after.get(id)];
    return was !== is && !isDeepStrictEqual(was, is);
  });
}
