/** One cell of the matrix: a command line against a service of one shape, and what came of it. */
import { subscribe } from 'node:diagnostics_channel';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type ResourceName, resourceNames } from '../../src/data/resources.js';
import { startSandbox } from '../../src/sandbox/embedded.js';
import type { StoredRecord } from '../../src/sandbox/records.js';
import { self } from '../sandbox/client.js';
import { inProcess } from '../support/in-process.js';
import { type Ran, temporaryFolder } from '../support/run.js';

/** A service as one shape of it answers. */
export interface Shape {
  readonly table: string;
  readonly name: string;
  /** `sandbox start --shape` texts; FOREIGN stands for an origin that is not the service's. */
  readonly shapes: readonly string[];
  /** What an admin has set for it. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Every cell must be right: the tool says that it understands this. */
  readonly promise?: 'right';
  /** The organization has no records. */
  readonly isEmpty?: true;
  /** Records look otherwise than in the books: only their ids are compared. */
  readonly looksOtherwise?: true;
  /** How the id of a record is printed. */
  readonly idOf?: (record: StoredRecord) => string;
  /** Records of a page, for each list that has pages. */
  readonly pages?: { readonly [R in ResourceName]?: number };
  /** Requests that finding out takes. */
  readonly extraReads?: number;
  /** Only these commands, by name; all of the table otherwise. */
  readonly only?: readonly string[];
}

export type Books = Readonly<Record<ResourceName, ReadonlyMap<string, StoredRecord>>>;

/** A request as it reached one of the servers. */
export interface Request {
  readonly server: 'api' | 'store' | 'foreign';
  readonly method: string;
  readonly url: string;
  readonly hasKey: boolean;
}

/** How a run of the tool ended, and what the books say. */
export interface Outcome {
  readonly shape: Shape;
  readonly line: string;
  readonly ran: Ran;
  /** Results by row, where the command kept a run. */
  readonly claims: readonly { readonly id: string; readonly result: string }[];
  readonly before: Books;
  readonly after: Books;
  readonly requests: readonly Request[];
  readonly home: string;
}

export type Run = (
  line: string,
  options: { env: Record<string, string>; home: string },
) => Promise<Ran>;

/** The players and applications that the commands select: some on each page. */
export const blue = {
  players: ['player_0002', 'player_0010', 'player_0014', 'player_0031'],
} as const;

const seen = new Map<number, Request[]>();
const ports = new Map<number, Request['server']>();
subscribe('http.server.request.start', (message) => {
  const { request } = message as { request: IncomingMessage };
  const port = request.socket.localPort ?? 0;
  seen.get(port)?.push({
    server: ports.get(port) ?? 'foreign',
    method: request.method ?? '',
    url: request.url ?? '',
    hasKey: request.headers['x-api-key'] !== undefined,
  });
});

function watch(port: number, server: Request['server'], requests: Request[]): void {
  ports.set(port, server);
  seen.set(port, requests);
}

/** Runs a line against a service of that shape; HOME in the line is its folder. */
export async function runCell(
  shape: Shape,
  words: string | ((books: Books) => string),
  run: Run = inProcess,
): Promise<Outcome> {
  const home = temporaryFolder('cell');
  const foreign = shape.shapes.some((text) => text.includes('FOREIGN'))
    ? await foreignServer()
    : undefined;
  const origin = foreign ? `http://127.0.0.1:${portOf(foreign)}` : '';
  const server = await startSandbox({
    stateDir: undefined,
    self,
    now: () => new Date(),
    shapes: shape.shapes.map((text) => text.replaceAll('FOREIGN', origin)),
  });
  const requests: Request[] = [];
  const watched = [new URL(server.baseUrl), new URL(server.fileUrl)].map(({ port }) =>
    Number(port),
  );
  watch(watched[0] ?? 0, 'api', requests);
  watch(watched[1] ?? 0, 'store', requests);
  if (foreign) watch(portOf(foreign), 'foreign', requests);
  try {
    const { records } = server.tables();
    for (const id of blue.players) {
      const player = records.players.get(id);
      if (player) records.players.set(id, { ...player, squad: 'blue' });
    }
    if (shape.isEmpty) for (const name of resourceNames) records[name].clear();
    const before = copied(records);
    const line = (typeof words === 'string' ? words : words(before)).replaceAll('HOME', home);
    const env = {
      ROSTERCTL_BASE_URL: server.baseUrl,
      ROSTERCTL_ORG: server.organizationId,
      ROSTERCTL_API_KEY: server.apiKey,
      ROSTERCTL_SETTLE: '0.1s',
    };
    // Name, type and size of a document of the demo data.
    writeFileSync(join(home, 'Packing list.txt'), 'socks and a spare pair of socks\n');
    writeFileSync(join(home, 'New rules.txt'), 'be kind\n');
    writeFileSync(join(home, 'Plan B.txt'), 'run\n');
    mkdirSync(join(home, 'files'));
    const options = { env, home };
    for (const [key, value] of Object.entries(shape.settings ?? {})) {
      const set = await inProcess(`config set ${key} '${value}'`, options);
      if (set.code !== 0) return { ...nothing(shape, line, home), ran: set, before, after: before };
    }
    const ran = await run(line, options);
    const claims = ran.code === 0 ? [] : await claimsOf(line, options);
    const sent = [...requests];
    // What takes effect late does so when the next read has been answered.
    if (shape.shapes.some((text) => text.endsWith('=late')))
      await fetch(`${server.baseUrl}/teams/${server.organizationId}`, {
        headers: { 'x-api-key': server.apiKey },
      });
    return {
      shape,
      line,
      ran,
      claims,
      home,
      before,
      after: copied(server.tables().records),
      requests: sent,
    };
  } finally {
    for (const port of watched) seen.delete(port);
    await server.close();
    foreign?.close();
    foreign?.closeAllConnections();
  }
}

/** Removes what a cell left on disk. */
export function forget({ home }: Outcome): void {
  rmSync(home, { recursive: true, force: true });
}

function nothing(shape: Shape, line: string, home: string) {
  return { shape, line, home, claims: [], requests: [] };
}

function copied(records: Books): Books {
  return Object.fromEntries(resourceNames.map((name) => [name, new Map(records[name])])) as never;
}

async function claimsOf(
  line: string,
  options: { env: Record<string, string>; home: string },
): Promise<Outcome['claims']> {
  if (!/ (update|create|delete|convert|set-status|upload) /.test(line)) return [];
  const shown = await inProcess('runs show last --json', options);
  return shown.code === 0 ? JSON.parse(shown.stdout).results : [];
}

/** A server of somebody else, which has records and files to offer. */
async function foreignServer(): Promise<Server> {
  const rows = JSON.stringify([{ id: 'stolen_1', name: 'Stolen', status: 'withdrawn' }]);
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(rows);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return server;
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
