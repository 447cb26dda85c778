import { randomBytes, randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { isObject } from '../data/json.js';
import { writeAtomically } from '../files/atomic-write.js';
import { type ThisProcess, withLock } from '../files/lock.js';
import { loopback } from './listening.js';

/** What a sandbox chooses at its first use and keeps. */
export interface SandboxSettings {
  readonly apiPort: number;
  readonly filePort: number;
  /** Signs URLs and makes the keys; never leaves its 0600 file. */
  readonly secret: string;
}

/** The settings of a folder, chosen and written when there are none yet. */
export async function loadSettings(dir: string, self: ThisProcess): Promise<SandboxSettings> {
  return readSettings(dir) ?? changeSettings(dir, self, async (kept) => kept ?? choose());
}

/** Settings for a sandbox in memory: any free ports, its own secret. */
export function passingSettings(): SandboxSettings {
  return { apiPort: 0, filePort: 0, secret: newSecret() };
}

/** Keeps another port, unless someone else has replaced the one that was `taken` meanwhile. */
export function replacePort(
  dir: string,
  self: ThisProcess,
  which: 'apiPort' | 'filePort',
  taken: number,
): Promise<SandboxSettings> {
  return changeSettings(dir, self, async (kept) => {
    const settings = kept ?? (await choose());
    if (settings[which] !== taken) return settings;
    return { ...settings, [which]: await freePort() };
  });
}

async function changeSettings(
  dir: string,
  self: ThisProcess,
  change: (kept: SandboxSettings | undefined) => Promise<SandboxSettings>,
): Promise<SandboxSettings> {
  return withLock(dir, 'settings', { self, waitMs: 10_000, purpose: 'sandbox' }, async () => {
    const kept = readSettings(dir);
    const settings = await change(kept);
    if (settings !== kept) await writeAtomically(pathOf(dir), `${JSON.stringify(settings)}\n`);
    return settings;
  });
}

/** Undefined when there are none, or none that can be used: then new ones are chosen. */
function readSettings(dir: string): SandboxSettings | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(pathOf(dir), 'utf8'));
    return isSettings(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function isSettings(value: unknown): value is SandboxSettings {
  if (!isObject(value)) return false;
  const { apiPort, filePort, secret } = value;
  return isPort(apiPort) && isPort(filePort) && typeof secret === 'string' && secret.length >= 32;
}

const isPort = (value: unknown) =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 && value < 65536;

async function choose(): Promise<SandboxSettings> {
  const apiPort = await freePort();
  let filePort = await freePort();
  while (filePort === apiPort) filePort = await freePort();
  return { apiPort, filePort, secret: newSecret() };
}

const newSecret = () => randomBytes(32).toString('hex');

/** A port that is free now, below the range from which systems give ports to passing connections. */
async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const port = randomInt(20_000, 32_000);
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port was found on ${loopback}`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, loopback, () => probe.close(() => resolve(true)));
  });
}

const pathOf = (dir: string) => join(dir, 'settings.json');
