import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { ResourceName } from '../../../src/data/resources.js';
import { startSandbox } from '../../../src/sandbox/embedded.js';
import type { StoredRecord } from '../../../src/sandbox/records.js';
import { self } from '../../sandbox/client.js';
import { inProcess } from '../../support/in-process.js';
import { type Ran, temporaryFolder } from '../../support/run.js';

/** A row of a bulk report. */
export interface Row {
  readonly row: number;
  readonly id: string;
  readonly ref?: string;
  readonly result: string;
  readonly before?: Readonly<Record<string, unknown>>;
  readonly after?: Readonly<Record<string, unknown>>;
  readonly step?: string;
  readonly error?: { readonly code: string; readonly message: string };
}

/** A home folder beside a sandbox of its own. */
export interface Desk {
  readonly env: Record<string, string>;
  readonly home: string;
  /** What the sandbox has stored, by id. */
  books(resource: ResourceName): Map<string, StoredRecord>;
  /** The requests that changed something since the last call: `POST /players`. */
  writes(): readonly string[];
  /** How many requests arrived. */
  requests(): number;
  /** Writes a file into the home folder. */
  file(name: string, content: string | Uint8Array): void;
  /** Runs a line, in which ~ is the home folder. */
  run(line: string): Promise<Ran>;
  /** Runs a line to its report. */
  report(line: string): Promise<{ code: number | null; stderr: string; rows: readonly Row[] }>;
}

/** Starts a sandbox and a home of its own for one test. */
export async function newDesk(
  options: {
    readonly faults?: readonly string[];
    readonly shapes?: readonly string[];
    readonly settle?: string;
  } = {},
): Promise<Desk> {
  const home = temporaryFolder('import');
  const server = await startSandbox({
    stateDir: undefined,
    self,
    now: () => new Date(),
    ...options,
  });
  onTestFinished(() => server.close());
  const env = {
    ROSTERCTL_BASE_URL: server.baseUrl,
    ROSTERCTL_ORG: server.organizationId,
    ROSTERCTL_API_KEY: server.apiKey,
    ROSTERCTL_SETTLE: options.settle ?? '50ms',
  };
  let told = 0;
  const run = (line: string) => inProcess(line.replaceAll('~', home), { env, home });
  return {
    env,
    home,
    books: (resource) => server.tables().records[resource],
    requests: () => server.requests().length,
    writes() {
      const sent = server.requests().filter(({ method }) => method !== 'GET');
      const fresh = sent.slice(told).map(({ method, path }) => `${method} ${path}`);
      told = sent.length;
      return fresh;
    },
    file: (name, content) => writeFileSync(join(home, name), content),
    run,
    async report(line) {
      const { code, stdout, stderr } = await run(`${line} -o json`);
      const { results = [] } = (stdout === '' ? {} : JSON.parse(stdout)) as { results?: Row[] };
      return { code, stderr, rows: results };
    },
  };
}
