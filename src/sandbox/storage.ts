import { randomBytes } from 'node:crypto';
import { accessSync, constants, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '../data/json.js';
import { Failure, GuardError } from '../errors.js';
import { writeAtomically } from '../files/atomic-write.js';
import { type ThisProcess, withLock } from '../files/lock.js';
import { ensurePrivateFolder } from '../files/private.js';
import { bytesInFolder, bytesInMemory, type FileBytes, removeUploads } from './file-bytes.js';
import type { SeedChoice, SeedSize } from './records.js';
import { openMemoryState, openState, readSeed, resetState, type State } from './state.js';

/** Whose sandbox it is and where its data lies. */
export interface SandboxPlace {
  /** The tool's state folder; the sandbox keeps itself in its sub-folder `sandbox`. */
  readonly stateDir: string | undefined;
  readonly self: ThisProcess;
  /** The user's own id, where the platform knows one: foreign folders are not trusted. */
  readonly owner?: number | undefined;
  readonly now: () => Date;
  /** The demo data of a first use; later another size is taken only by an untouched sandbox. */
  readonly seedSize?: SeedSize | undefined;
  /** A first use begins with one status that the contract does not name. */
  readonly drift?: boolean | undefined;
}

/** The data that a running sandbox stands on. */
export interface Home {
  readonly state: State;
  /** Makes the API keys; never leaves its 0600 file. */
  readonly secret: string;
  readonly bytes: FileBytes;
  /** Undefined for a sandbox in memory. */
  readonly dir: string | undefined;
  /** Why it is in memory. */
  readonly memoryReason: string | undefined;
}

/** The folder of the sandbox below the tool's state folder. */
export const sandboxFolder = (stateDir: string): string => join(stateDir, 'sandbox');

/**
 * Opens the data, or data in memory when the folder cannot be written. Throws GuardError when the
 * log is damaged, or holds changes on a seed of another size than the one asked for.
 */
export async function openHome(place: SandboxPlace): Promise<Home> {
  const { stateDir } = place;
  if (stateDir === undefined) return openInMemory(place, 'there is no folder for it.');
  try {
    return await openInFolder({ ...place, stateDir });
  } catch (error) {
    if (error instanceof GuardError || !isAboutFiles(error)) throw error;
    return openInMemory(place, error.message);
  }
}

/** Restores the demo data and removes the uploads; the keys stay the same. */
export async function resetHome({
  stateDir,
  self,
  now,
  seedSize,
}: SandboxPlace & { readonly stateDir: string }): Promise<void> {
  const dir = sandboxFolder(stateDir);
  const size = seedSize ?? readSeed(dir)?.size ?? 'small';
  await resetState(dir, self, { size, at: now().toISOString() });
  removeUploads(filesOf(dir));
}

async function openInFolder(place: SandboxPlace & { readonly stateDir: string }): Promise<Home> {
  const { self, owner, seedSize } = place;
  const dir = sandboxFolder(place.stateDir);
  ensurePrivateFolder(dir, { owner });
  accessSync(dir, constants.R_OK | constants.W_OK | constants.X_OK);
  const secret = await loadSecret(dir, self);
  const seed = firstSeed(place);
  const state = await openState(dir, self, seed);
  const held = state.seed().size;
  if (seedSize !== undefined && held !== seedSize && !(await state.reseed(seed))) {
    state.close();
    throw otherSize(held, seedSize);
  }
  return { state, secret, bytes: bytesInFolder(filesOf(dir)), dir, memoryReason: undefined };
}

function openInMemory(place: SandboxPlace, memoryReason: string): Home {
  return {
    state: openMemoryState(firstSeed(place)),
    secret: newSecret(),
    bytes: bytesInMemory(),
    dir: undefined,
    memoryReason,
  };
}

function firstSeed({ now, seedSize, drift }: SandboxPlace): SeedChoice {
  return { size: seedSize ?? 'small', at: now().toISOString(), ...(drift && { drift }) };
}

const filesOf = (dir: string) => join(dir, 'files');

/** A failure of the file system, told by itself or by the owner of private folders. */
function isAboutFiles(error: unknown): error is Error {
  if (error instanceof Failure) return true;
  return error instanceof Error && 'syscall' in error;
}

function otherSize(held: SeedSize, asked: SeedSize): GuardError {
  return new GuardError(`This sandbox holds changes on its ${held} demo data.`, {
    hint: `Begin anew with rosterctl sandbox reset, or give the ${asked} set a folder with --data DIR`,
  });
}

/** Reads the secret of a folder, or chooses and writes one; its file is 0600. */
export async function loadSecret(dir: string, self: ThisProcess): Promise<string> {
  return (
    readSecret(dir) ??
    withLock(dir, 'settings', { self, waitMs: 10_000, purpose: 'sandbox' }, async () => {
      const kept = readSecret(dir);
      if (kept !== undefined) return kept;
      const secret = newSecret();
      await writeAtomically(pathOf(dir), `${JSON.stringify({ secret })}\n`);
      return secret;
    })
  );
}

export const newSecret = (): string => randomBytes(32).toString('hex');

/** Undefined when there is none, or none that is usable: then a new one is chosen. */
function readSecret(dir: string): string | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(pathOf(dir), 'utf8'));
    const secret = isObject(value) ? value['secret'] : undefined;
    return typeof secret === 'string' && secret.length >= 32 ? secret : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

const pathOf = (dir: string) => join(dir, 'settings.json');
