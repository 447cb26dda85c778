import { join } from 'node:path';
import type { JsonObject } from '../data/json.js';
import { type ThisProcess, withLock } from '../files/lock.js';
import { makeFolder } from '../files/make-folder.js';
import { type LogFile, openLog } from './log-file.js';
import type { SandboxEvent, SeedChoice, Step, Tables } from './records.js';
import { newReplay, stepsOf } from './replay.js';

/** How long a change waits for the other processes' few milliseconds before it gives up. */
const lockWaitMs = 30_000;
const logVersion = 1;

/**
 * The sandbox's data: a deterministic seed and everything that was done since, shared by all
 * processes through one log. Readers take no lock; a change holds it for its own milliseconds.
 */
export interface State {
  /** What is known now, with what other processes appended. Not to be kept: a reset replaces it. */
  read(): Tables;
  /**
   * Runs `action` on the newest tables while nobody else changes them. The steps that it adds are
   * on disk and applied when the promise resolves, or none of them. It must not wait for anything.
   */
  change<T>(action: (tables: Tables, steps: Step[]) => T): Promise<T>;
  /** Begins with another seed, unless anything was changed since the first: then false. */
  reseed(seed: SeedChoice): Promise<boolean>;
  seed(): SeedChoice;
  close(): void;
}

/** The state that lives and dies with this process. */
export function openMemoryState(seed: SeedChoice): State {
  const replay = newReplay(seed);
  return {
    read: () => replay.tables(),
    async change(action) {
      const steps: Step[] = [];
      const result = action(replay.tables(), steps);
      replay.take({ steps });
      return result;
    },
    async reseed(next) {
      if (!replay.isTouched()) replay.take(seedLine(next));
      return !replay.isTouched();
    },
    seed: () => replay.seed(),
    close() {},
  };
}

/**
 * The state in a folder; `firstSeed` counts only when there is none yet. Throws the file system's
 * error when the folder cannot be written, GuardError when the log is damaged.
 */
export async function openState(
  dir: string,
  self: ThisProcess,
  firstSeed: SeedChoice,
): Promise<State> {
  const path = logPath(dir);
  const replay = newReplay(firstSeed);
  let log: LogFile | undefined = openLog(path, 'write');

  const catchUp = () => {
    if (log?.isGone()) {
      log.close();
      replay.restart();
      log = undefined;
    }
    log ??= openLog(path, 'write');
    for (const line of log?.readNew() ?? []) replay.take(line);
  };

  const append = (line: JsonObject) => {
    catchUp();
    log ??= openLog(path, 'create');
    log?.append(line);
    replay.take(line);
  };

  const seedOnce = () => {
    catchUp();
    if (!replay.isSeeded()) append(seedLine(firstSeed));
  };

  // One hold of the lock serves every change that waited for it.
  const takeTurn = newTurns((run) =>
    withLock(dir, 'state', { self, waitMs: lockWaitMs, purpose: 'sandbox' }, run),
  );

  catchUp();
  if (!replay.isSeeded()) await takeTurn(seedOnce);

  return {
    read() {
      catchUp();
      return replay.tables();
    },
    change: (action) =>
      takeTurn(() => {
        seedOnce();
        const steps: Step[] = [];
        const result = action(replay.tables(), steps);
        if (steps.length > 0) append({ steps });
        return result;
      }),
    reseed: (seed) =>
      takeTurn(() => {
        seedOnce();
        if (replay.isTouched()) return false;
        append(seedLine(seed));
        return true;
      }),
    seed() {
      catchUp();
      return replay.seed();
    },
    close: () => log?.close(),
  };
}

/** Begins a folder's state anew, also over a damaged log. Other processes see it at their next look. */
export async function resetState(dir: string, self: ThisProcess, seed: SeedChoice): Promise<void> {
  makeFolder(dir, 0o700);
  await withLock(dir, 'state', { self, waitMs: lockWaitMs, purpose: 'sandbox reset' }, () => {
    const log = openLog(logPath(dir), 'create');
    log?.append(seedLine(seed));
    log?.close();
  });
}

/** The events in a folder's log, oldest first; none when there is no log. Needs no right to write. */
export function readEvents(dir: string): readonly SandboxEvent[] {
  const log = openLog(logPath(dir), 'read');
  if (!log) return [];
  try {
    return log
      .readNew()
      .flatMap(stepsOf)
      .flatMap((step) => (step[0] === 'event' ? [step[1]] : []));
  } finally {
    log.close();
  }
}

/** The seed that a folder's log stands on; undefined when there is none, or none that can be read. */
export function readSeed(dir: string): SeedChoice | undefined {
  try {
    const log = openLog(logPath(dir), 'read');
    const lines = log?.readNew() ?? [];
    log?.close();
    return lines[0]?.['seed'] as SeedChoice | undefined;
  } catch {
    return undefined;
  }
}

const logPath = (dir: string) => join(dir, 'log.jsonl');

const seedLine = (seed: SeedChoice): JsonObject => ({ seed, version: logVersion });

interface Waiting {
  readonly run: () => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Lets callers in one after another: `hold` runs a batch of them inside whatever makes it exclusive.
 * When `hold` itself fails, everyone who waited for it gets its error.
 */
function newTurns(hold: (batch: () => void) => Promise<void>): <T>(action: () => T) => Promise<T> {
  let waiting: Waiting[] = [];
  let isRunning = false;

  const serveAll = async () => {
    isRunning = true;
    while (waiting.length > 0) {
      try {
        await hold(() => {
          const batch = waiting;
          waiting = [];
          for (const { run } of batch) run();
        });
      } catch (error) {
        const failed = waiting;
        waiting = [];
        for (const { fail } of failed) fail(error);
      }
    }
    isRunning = false;
  };

  return <T>(action: () => T) =>
    new Promise<T>((resolve, reject) => {
      const run = () => {
        try {
          resolve(action());
        } catch (error) {
          reject(error);
        }
      };
      waiting.push({ run, fail: reject });
      if (!isRunning) void serveAll();
    });
}
