import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { GuardError } from '../../src/errors.js';
import {
  openSandbox,
  resetSandbox,
  type SandboxServer,
  sandboxEvents,
  startSandbox,
} from '../../src/sandbox/embedded.js';
import { inProcess } from '../support/in-process.js';
import { rosterctl, temporaryFolder } from '../support/run.js';
import { call, http, newSandbox, scratch, self, start } from './client.js';

const organizationId = 'org_demo';
const now = () => start;
const teamCount = async (sandbox: Parameters<typeof call>[0]) =>
  (await call(sandbox, 'GET /teams/org_demo')).json['total'];
const addTeam = (sandbox: Parameters<typeof call>[0], name: string) =>
  call(sandbox, 'POST /teams', { organizationId, name });
const portOf = (url: string) => Number(new URL(url).port);
const logOf = (stateDir: string) => join(stateDir, 'sandbox', 'log.jsonl');

async function codeOf(attempt: Promise<unknown>): Promise<string> {
  const error = await attempt.catch((reason: unknown) => reason);
  if (!(error instanceof GuardError)) throw new Error(`it was not refused: ${String(error)}`);
  return error.code;
}

test('changes and keys are there again after a restart', async () => {
  const first = await newSandbox();
  await addTeam(first, 'Kept');
  await first.close();
  const second = await newSandbox({ stateDir: first.stateDir });
  expect(await teamCount(second)).toBe(7);
  expect(second.apiKey).toBe(first.apiKey);
  const folder = join(first.stateDir, 'sandbox');
  for (const name of ['settings.json', 'log.jsonl', 'server.json'])
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

test('two sandboxes on one machine have keys of their own', async () => {
  const [one, two] = [await newSandbox(), await newSandbox()];
  expect(one.apiKey).not.toBe(two.apiKey);
  const headers = { 'x-api-key': one.apiKey };
  expect((await http('GET', `${two.baseUrl}/teams/org_demo`, { headers })).status).toBe(401);
});

test('a command uses the server that runs, and its own when that ends', async () => {
  const server = await newSandbox();
  const { stateDir } = server;
  const visitor = await openSandbox({ stateDir, self: { ...self, pid: self.pid }, now });
  expect([visitor.baseUrl, visitor.apiKey]).toEqual([server.baseUrl, server.apiKey]);
  await addTeam(visitor as typeof server, 'Through the server');
  await visitor.close();
  expect(await teamCount(server)).toBe(7);
  await server.close();
  expect(existsSync(join(stateDir, 'sandbox', 'server.json'))).toBe(false);
  const alone = await openSandbox({ stateDir, self, now });
  expect(await teamCount(alone as typeof server)).toBe(7);
  await alone.close();
});

test('two embedded sandboxes of one state listen on ports of their own and share the data', async () => {
  const stateDir = scratch();
  const one = await openSandbox({ stateDir, self, now });
  const two = await openSandbox({ stateDir, self, now });
  expect(new Set([one.baseUrl, one.fileUrl, two.baseUrl, two.fileUrl].map(portOf)).size).toBe(4);
  expect((await addTeam(one as SandboxServer, 'Shared')).status).toBe(201);
  expect(await teamCount(two as SandboxServer)).toBe(7);
  await one.close();
  expect(await teamCount(two as SandboxServer)).toBe(7);
  await two.close();
});

test('the wanted port is used, and one that is taken is refused', async () => {
  const first = await newSandbox();
  const port = portOf(first.baseUrl);
  const place = { stateDir: scratch(), self, now, port };
  await expect(startSandbox(place)).rejects.toMatchObject({
    message: expect.stringContaining(`Port ${port} is taken`),
    hint: 'Choose another with --port, or leave it out for any free one.',
  });
  await first.close();
  const second = await startSandbox(place);
  expect(portOf(second.baseUrl)).toBe(port);
  await second.close();
});

test('the file of a server that has ended is removed, and another program on its port is not asked', async () => {
  const stranger = await newSandbox();
  const { stateDir } = await newSandbox().then(async (sandbox) => {
    await sandbox.close();
    return sandbox;
  });
  const file = join(stateDir, 'sandbox', 'server.json');
  const note = { pid: self.pid, fileUrl: stranger.fileUrl, token: 'x' };
  writeFileSync(file, JSON.stringify({ ...note, origin: new URL(stranger.baseUrl).origin }));
  const alone = await openSandbox({ stateDir, self, now });
  expect(alone.baseUrl).not.toBe(stranger.baseUrl);
  expect(existsSync(file)).toBe(false);
  await alone.close();
});

test('the identity route proves the token without sending it, and every other route needs the token', async () => {
  const sandbox = await newSandbox();
  const { origin } = new URL(sandbox.baseUrl);
  const proofs = [];
  for (const nonce of ['a', 'b', 'a'])
    proofs.push((await http('GET', `${origin}/_sandbox/identity?nonce=${nonce}`)).json['proof']);
  expect(proofs[0]).toBe(proofs[2]);
  expect(proofs[0]).not.toBe(proofs[1]);
  expect(JSON.stringify(proofs)).not.toContain(sandbox.token);
  const headers = { 'x-sandbox-token': sandbox.token };
  expect((await http('GET', `${origin}/_sandbox/events`, { headers })).text).toBe('[]');
  expect((await http('GET', `${origin}/_sandbox/events`)).status).toBe(401);
  expect((await http('POST', `${origin}/_sandbox/events`, { headers })).status).toBe(405);
});

test('a second server of a state and a reset are refused while one runs', async () => {
  const server = await newSandbox();
  const place = { stateDir: server.stateDir, self, now };
  expect(await codeOf(startSandbox(place))).toBe('locked');
  expect(await codeOf(resetSandbox(place))).toBe('locked');
  await addTeam(server, 'X');
  await server.close();
  await resetSandbox(place);
  const again = await newSandbox({ stateDir: server.stateDir });
  expect(await teamCount(again)).toBe(6);
  expect(again.apiKey).toBe(server.apiKey);
});

test('a reset takes events and uploads along, also for a process that is in the middle', async () => {
  const stateDir = scratch();
  const open = await openSandbox({ stateDir, self, now });
  const sandbox = open as Parameters<typeof call>[0];
  await call(sandbox, 'PATCH /tryout-applications/app_0042', {
    organizationId,
    status: 'accepted',
  });
  const grant = await call(sandbox, 'POST /uploads/document-file', {
    organizationId,
    contentType: 'text/plain',
    sizeBytes: 2,
  });
  const headers = { 'content-type': 'text/plain', 'content-length': 2 };
  await http('PUT', String(grant.json['uploadUrl']), { headers, body: 'hi' });
  expect(readdirSync(join(stateDir, 'sandbox', 'files'))).toEqual(['upload_0001.txt']);
  expect(sandboxEvents(stateDir)).toHaveLength(2);
  await resetSandbox({ stateDir, self, now });
  expect(sandboxEvents(stateDir)).toEqual([]);
  expect(existsSync(join(stateDir, 'sandbox', 'files'))).toBe(false);
  const { json } = await call(sandbox, 'GET /tryout-applications/app_0042?organizationId=org_demo');
  expect(json['status']).toBe('pending');
  await open.close();
});

test('events of a sandbox that never ran are none, and asking makes no folder', () => {
  const stateDir = scratch();
  expect(sandboxEvents(stateDir)).toEqual([]);
  expect(readdirSync(stateDir)).toEqual([]);
});

test('a line that a killed writer left half-written is cut, wherever it broke off', async () => {
  const stateDir = scratch();
  const writer = await newSandbox({ stateDir });
  await addTeam(writer, 'First');
  const { size: before } = statSync(logOf(stateDir));
  await addTeam(writer, 'Sécond');
  await writer.close();
  const whole = readFileSync(logOf(stateDir));
  for (let cut = before; cut < whole.length; cut += 7) {
    writeFileSync(logOf(stateDir), whole.subarray(0, cut));
    const reader = await newSandbox({ stateDir });
    expect(await teamCount(reader)).toBe(7);
    expect((await addTeam(reader, 'Third')).json['id']).toBe('team_0008');
    expect(await teamCount(reader)).toBe(8);
    await reader.close();
    expect(readFileSync(logOf(stateDir)).subarray(0, before)).toEqual(whole.subarray(0, before));
    for (const line of readFileSync(logOf(stateDir), 'utf8').trimEnd().split('\n'))
      JSON.parse(line);
  }
});

test('a log that is damaged in the middle is refused, and a reset mends it', async () => {
  const stateDir = scratch();
  const writer = await newSandbox({ stateDir });
  await addTeam(writer, 'First');
  await writer.close();
  appendFileSync(logOf(stateDir), 'garbage\n');
  const place = { stateDir, self, now };
  expect(await codeOf(openSandbox(place))).toBe('damaged');
  expect(() => sandboxEvents(stateDir)).toThrow(GuardError);
  await resetSandbox(place);
  expect(await teamCount(await newSandbox({ stateDir }))).toBe(6);
});

test('a log that was removed or emptied under a server starts anew', async () => {
  const sandbox = await newSandbox();
  await addTeam(sandbox, 'First');
  truncateSync(logOf(sandbox.stateDir), 0);
  expect(await teamCount(sandbox)).toBe(6);
  expect((await addTeam(sandbox, 'Second')).json['id']).toBe('team_0007');
  expect(await teamCount(sandbox)).toBe(7);
});

test('a state folder that cannot be used leaves a sandbox in memory that says why', async () => {
  const file = join(scratch(), 'a-file');
  writeFileSync(file, '');
  for (const stateDir of [file, undefined]) {
    const sandbox = await startSandbox({ stateDir, self, now });
    expect(sandbox.memoryReason).toBeTruthy();
    expect((await addTeam(sandbox, 'Passing')).status).toBe(201);
    expect(await teamCount(sandbox)).toBe(7);
    await sandbox.close();
  }
});

test('a home folder that does not exist is not created: the sandbox is in memory', async () => {
  const home = scratch();
  const env = { HOME: join(home, 'none') };
  for (const line of ['-p sandbox teams list -o ids', 'sandbox reset'])
    expect([line, (await inProcess(line, { home, env })).code]).toEqual([line, 0]);
  expect(existsSync(env.HOME)).toBe(false);
});

test('the large demo data replaces an untouched small one and no other', async () => {
  const stateDir = scratch();
  const small = await newSandbox({ stateDir });
  await small.close();
  const large = await newSandbox({ stateDir, seedSize: 'large' });
  const list = await call(large, 'GET /tryout-applications?organizationId=org_demo');
  expect(list.json['total']).toBe(1200);
  await addTeam(large, 'X');
  await large.close();
  const place = { stateDir, self, now };
  expect(await codeOf(startSandbox({ ...place, seedSize: 'small' }))).toBe('guard');
  await resetSandbox(place);
  const kept = await newSandbox({ stateDir });
  const again = await call(kept, 'GET /tryout-applications?organizationId=org_demo');
  expect(again.json['total']).toBe(1200);
});

test('closing waits for a request that is running and cuts a connection that says nothing', async () => {
  const { connect } = await import('node:net');
  const sandbox = await newSandbox();
  const silent = connect(Number(new URL(sandbox.baseUrl).port), '127.0.0.1');
  await new Promise((resolve) => silent.on('connect', resolve));
  silent.on('error', () => {});
  const body = JSON.stringify({ organizationId, name: 'Last' });
  const headers = {
    'x-api-key': sandbox.apiKey,
    'content-type': 'application/json',
    'content-length': body.length,
    expect: '100-continue',
  };
  let running: ReturnType<typeof http> | undefined;
  const closed = new Promise<void>((resolve) => {
    const onContinue = () => resolve(sandbox.close());
    running = http('POST', `${sandbox.baseUrl}/teams`, { headers, body, onContinue });
  });
  expect((await running)?.status).toBe(201);
  await closed;
  await expect(http('GET', `${sandbox.baseUrl}/teams/org_demo`)).rejects.toThrow('ECONNREFUSED');
});

test('a field that no contract names is stored as it was sent, so a second run of a roster sends nothing', async () => {
  const home = temporaryFolder();
  const create = '-p sandbox players create --name LR -F legacyRef=0042 --json';
  const created = await rosterctl(create, { home });
  expect(JSON.parse(created.stdout)).toMatchObject({ name: 'LR', legacyRef: '0042' });
  const roster = 'name,email,legacyRef\nMira Kite,mira@example.com,0007\n';
  const line = '-p sandbox players import - --key email --yes --json';
  const runs = [
    await inProcess(line, { home, stdin: roster }),
    await rosterctl(line, { home, stdin: roster }),
  ];
  expect(runs.map(({ stdout }) => JSON.parse(stdout).summary)).toMatchObject([
    { changed: 1, unchanged: 0 },
    { changed: 0, unchanged: 1 },
  ]);
});

test('an update that changes nothing names the record and its id', async () => {
  const home = temporaryFolder();
  const { stdout } = await inProcess('-p sandbox players get player_0001 --json', { home });
  const { name } = JSON.parse(stdout) as { name: string };
  const line = ['-p', 'sandbox', 'players', 'update', 'player_0001', '--name', name];
  const ran = await inProcess(line, { home });
  expect(ran).toMatchObject({
    code: 0,
    stderr: `${name} (player_0001) already has these values; nothing was sent.\n`,
  });
});

test('a reset of a folder that cannot be used says why, in words', async () => {
  const home = temporaryFolder();
  writeFileSync(join(home, 'file'), '');
  const env = { ROSTERCTL_STATE_DIR: join(home, 'file') };
  expect(await rosterctl('sandbox reset', { home, env })).toMatchObject({
    code: 1,
    stderr: `The sandbox in ${join(home, 'file', 'sandbox')} cannot be used: a part of the path is not a folder (ENOTDIR).\n`,
  });
});
