import { execFileSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { atEnd } from '../../support/cleaning.js';
import { temporaryFolder } from '../../support/run.js';

/** The commands that were tried, and whether they can be run: many cases need the same ones. */
const tried = new Map<string, boolean>();

/** Returns why a command that a case needs is not usable here; undefined if it is. */
export function missing(...words: readonly string[]): string | undefined {
  const line = words.join(' ');
  if (!tried.has(line)) tried.set(line, canRun(words));
  return tried.get(line) ? undefined : `this machine does not let us run: ${line}`;
}

function canRun([command = '', ...args]: readonly string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const nobody = 65_534;

/** Another user of this machine with its own home, or why there cannot be one. */
export function otherUser(): {
  readonly home: string;
  readonly under: readonly string[];
  readonly missing: string | undefined;
} {
  const under = ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups'];
  const why = missing(...under, process.execPath, '--version');
  const home = temporaryFolder('nobody');
  if (why === undefined) chownSync(home, nobody, nobody);
  return { home, under, missing: why };
}

/** Returns why this process cannot change how a child resolves names. */
export const cannotChangeNames = () =>
  missing('unshare', '-m', 'mount', '--bind', '/dev/null', '/etc/resolv.conf');

export type NameAnswer =
  | { readonly kind: 'addresses'; readonly v4?: readonly string[] }
  | { readonly kind: 'nothing' | 'busy' | 'silence' };

/** A name server of the test; prefix a command with `words` to make it the only one. */
export async function nameServer(
  answerTo: (name: string) => NameAnswer,
): Promise<{ readonly under: readonly string[]; readonly asked: string[] }> {
  const asked: string[] = [];
  const socket = createSocket('udp4');
  const host = `127.0.${1 + Math.floor(Math.random() * 250)}.${1 + Math.floor(Math.random() * 250)}`;
  socket.on('message', (query, from) => {
    const { name, type, end } = questionOf(query);
    asked.push(name);
    const answer = answerTo(name);
    if (answer.kind === 'silence') return;
    socket.send(replyTo(query.subarray(0, end), type, answer), from.port, from.address);
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.bind(53, host, resolve);
  });
  atEnd(() => socket.close());
  const dir = temporaryFolder('names');
  const resolv = join(dir, 'resolv.conf');
  writeFileSync(resolv, `nameserver ${host}\noptions timeout:5 attempts:1\n`);
  const setUp = `mount --bind ${resolv} /etc/resolv.conf && exec "$@"`;
  return { under: ['unshare', '-m', 'sh', '-c', setUp, 'sh'], asked };
}

function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join('.'), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function replyTo(question: Buffer, type: number, answer: NameAnswer): Buffer {
  const v4 = answer.kind === 'addresses' && type === 1 ? (answer.v4 ?? []) : [];
  const head = Buffer.from(question);
  const code = answer.kind === 'nothing' ? 3 : answer.kind === 'busy' ? 2 : 0;
  head.writeUInt16BE(0x8180 | code, 2);
  head.writeUInt16BE(v4.length, 6);
  head.writeUInt16BE(0, 8);
  head.writeUInt16BE(0, 10);
  const records = v4.map((address) =>
    Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, ...address.split('.').map(Number)]),
  );
  return Buffer.concat([head, ...records]);
}
