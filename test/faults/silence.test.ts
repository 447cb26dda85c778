import { type ChildProcess, spawn } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { afterAll, describe, expect, test } from 'vitest';
import { ids, report, several } from '../bulk/user.js';
import { keep, written } from '../commands/tryouts/service.js';
import { rosterctl, temporaryFolder } from '../support/run.js';

// A service that stops responding: no refusal, no reset, only silence. A run of 1,000 rows detects
// it within two minutes, reports no row as failed, and resumes when the service is back.

const goalMs = 120_000;
const rows = 1000;
const children = new Set<ChildProcess>();
const sockets = new Set<Socket>();
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  for (const child of children) child.kill('SIGKILL');
});

const lineOf = (more = '') =>
  `tryouts set-status --ids - --to rejected --yes --json --max-changes ${rows} ${more}`;
const stdin = `${ids(rows).join('\n')}\n`;

describe.concurrent('1,000 rows on a service that', () => {
  test('accepts connections and never answers: reported in time, nothing sent, no run started', async () => {
    const service = await keep([], () => () => {});
    const started = Date.now();
    const ran = await patient(lineOf(), { env: service.env });
    expect(ran.code).toBe(9);
    expect(report(ran)).toMatchObject({ run: null, summary: { total: rows, notAttempted: rows } });
    expect(Date.now() - started).toBeLessThan(goalMs);
    expect(service.requests.length).toBeLessThanOrEqual(40);
    expect(written(service)).toEqual([]);
  });

  for (const concurrency of [1, 4])
    test(`falls silent in the middle, ${concurrency} at once: every row can be resumed`, async () => {
      let silentSince = 0;
      let away = true;
      const service = await keep(several(rows), (_, step) => {
        if (step === 'PATCH app_40') silentSince ||= Date.now();
        return away && silentSince > 0 ? () => {} : undefined;
      });
      const home = temporaryFolder();
      const ran = await patient(lineOf(`--concurrency ${concurrency}`), { home, env: service.env });
      expect(Date.now() - silentSince).toBeLessThan(goalMs);
      // In-flight requests may have been applied, and no read can show it.
      expect(ran.code).toBe(10);
      const { summary } = report(ran);
      expect(summary).toMatchObject({ total: rows, failed: 0, conflict: 0 });
      expect(summary['unknown']).toBeLessThanOrEqual(concurrency);
      expect(summary['notAttempted']).toBeGreaterThan(900);
      away = false;
      const before = written(service).length;
      const resumed = await patient('runs resume last --yes --json', { home, env: service.env });
      expect(resumed.code).toBe(0);
      expect(report(resumed).summary).toMatchObject({ total: rows, changed: rows });
      expect(written(service)).toHaveLength(before + rows - Number(summary['changed']));
    });

  test('answers 503 from the middle on: at most 40 more requests, and no row fails', async () => {
    let away = false;
    let after = 0;
    const service = await keep(several(rows), (_, step) => {
      if (step === 'PATCH app_40') away = true;
      if (away) after += 1;
      return away ? { status: 503 } : undefined;
    });
    const started = Date.now();
    const ran = await patient(lineOf(), { env: service.env });
    expect([9, 10]).toContain(ran.code);
    expect(report(ran).summary).toMatchObject({ total: rows, failed: 0, conflict: 0 });
    expect(after).toBeLessThanOrEqual(40);
    expect(Date.now() - started).toBeLessThan(goalMs);
  });

  test('drops connection attempts (its queue is full): reported in time, nothing sent', async () => {
    const port = await stoppedService();
    const started = Date.now();
    const ran = await patient(lineOf(), {
      env: {
        ROSTERCTL_BASE_URL: `http://127.0.0.1:${port}/v1`,
        ROSTERCTL_ORG: 'org_7',
        ROSTERCTL_API_KEY: 'key-0123456789',
      },
    });
    expect(ran.code).toBe(9);
    expect(report(ran)).toMatchObject({ run: null, summary: { total: rows, notAttempted: rows } });
    expect(Date.now() - started).toBeLessThan(goalMs);
  });
});

/** A command that may take minutes, without the usual limit that detects a hang. */
function patient(line: string, options: { home?: string; env: Record<string, string> }) {
  return rosterctl(line, { ...options, stdin, hangMs: 5 * 60_000 });
}

/** Returns the port of a stopped process whose short connection queue is full. */
async function stoppedService(): Promise<number> {
  const script =
    "const s = require('node:net').createServer(); s.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => process.stdout.write(String(s.address().port)));";
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.add(child);
  const port = await new Promise<number>((resolve) =>
    child.stdout.once('data', (chunk: Buffer) => resolve(Number(chunk.toString()))),
  );
  child.kill('SIGSTOP');
  for (let count = 0; count < 8; count++) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    sockets.add(socket);
  }
  await new Promise((resolve) => setTimeout(resolve, 500));
  return port;
}
