/**
 * The records of a sandbox: demo data and every change since, shared by all processes through one
 * log. Readers take no lock; a change holds it for its own few milliseconds.
 */
import { join } from 'node:path';
import type { JsonObject } from '../data/json.js';
import { writeAtomically } from '../files/atomic-write.js';
import type { ThisProcess } from '../files/holder.js';
import { withLock } from '../files/lock.js';
import { makeFolder } from '../files/private.js';
import { seedTables } from './demo/tables.js';
import { type LogFile, openLog, printLine } from './log-file.js';
import {
  applyStep,
  type LogStep,
  type SandboxEvent,
  type SeedChoice,
  type Tables,
} from './records.js';

/** The tables after the lines so far: the demo data of `firstSeed`, until a line names another. */
class Replay {
  isChanged = false;
  private named: SeedChoice | undefined;
  /** Made when first asked for. */
  private made: Tables | undefined;

  constructor(private readonly firstSeed: SeedChoice) {}

  get isSeeded(): boolean {
    return this.named !== undefined;
  }

  get seed(): SeedChoice {
    return this.named ?? this.firstSeed;
  }

  get tables(): Tables {
    return (this.made ??= seedTables(this.seed));
  }

  apply(line: JsonObject): void {
    // Lines are our own; a damaged one is refused when it is read.
    if (line['seed'] !== undefined) this.restart(line['seed'] as SeedChoice);
    for (const step of stepsOf(line)) {
      applyStep(this.tables, step);
      this.isChanged = true;
    }
  }

  /** Forgets everything, as before the first line. */
  restart(seed?: SeedChoice): void {
    this.named = seed;
    this.made = undefined;
    this.isChanged = false;
  }
}

/** The steps of a log line; a line that names demo data has none. */
function stepsOf(line: JsonObject): readonly LogStep[] {
  return (line['steps'] ?? []) as readonly LogStep[];
}

/** How long a change waits for the lock, which others hold for milliseconds. */
const lockWaitMs = 30_000;
const logVersion = 1;

export interface State {
  /** The newest tables, with what other processes appended. Do not keep them: a reset replaces them. */
  read(): Tables;
  /**
   * Runs `action` on the newest tables under the lock. The steps that it adds are on disk and
   * applied when the promise resolves, or none of them. It must be synchronous.
   */
  change<T>(action: (tables: Tables, steps: LogStep[]) => T): Promise<T>;
  close(): void;
}

/** A state in a folder, which may hold the demo data of an earlier command. */
interface KeptState extends State {
  /** Replaces the demo data, unless anything was changed: then false. */
  reseed(seed: SeedChoice): Promise<boolean>;
  seed(): SeedChoice;
}

/** A state in memory, which ends with this process. */
export function openMemoryState(seed: SeedChoice): State {
  const replay = new Replay(seed);
  return {
    read: () => replay.tables,
    async change(action) {
      const steps: LogStep[] = [];
      const result = action(replay.tables, steps);
      replay.apply({ steps });
      return result;
    },
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
): Promise<KeptState> {
  const path = logPath(dir);
  const replay = new Replay(firstSeed);
  let log: LogFile | undefined = openLog(path, 'write');

  const catchUp = () => {
    if (log?.isGone()) {
      log.close();
      replay.restart();
      log = undefined;
    }
    log ??= openLog(path, 'write');
    for (const line of log?.readNew() ?? []) replay.apply(line);
  };

  const append = (line: JsonObject) => {
    catchUp();
    log ??= openLog(path, 'create');
    log?.append(line);
    replay.apply(line);
  };

  const seedOnce = () => {
    catchUp();
    if (!replay.isSeeded) append(seedLine(firstSeed));
  };

  const locked = oneByOne((action) =>
    withLock(dir, 'state', { self, waitMs: lockWaitMs, purpose: 'sandbox' }, action),
  );

  catchUp();
  if (!replay.isSeeded) await locked(seedOnce);

  return {
    read() {
      catchUp();
      return replay.tables;
    },
    change: (action) =>
      locked(() => {
        seedOnce();
        const steps: LogStep[] = [];
        const result = action(replay.tables, steps);
        if (steps.length > 0) append({ steps });
        return result;
      }),
    reseed: (seed) =>
      locked(() => {
        seedOnce();
        if (replay.isChanged) return false;
        append(seedLine(seed));
        return true;
      }),
    seed() {
      catchUp();
      return replay.seed;
    },
    close: () => log?.close(),
  };
}

/**
 * Resets a folder's state, also over a damaged log, and removes what else it had with `removeFiles`.
 * Other processes see it at their next read.
 */
export async function resetState(
  dir: string,
  self: ThisProcess,
  seed: SeedChoice,
  removeFiles: () => void,
): Promise<void> {
  makeFolder(dir, 0o700);
  const options = { self, waitMs: lockWaitMs, purpose: 'sandbox reset' };
  await withLock(dir, 'state', options, async () => {
    const log = openLog(logPath(dir), 'create');
    log?.append(seedLine(seed));
    log?.close();
    // Windows replaces no file that another process has open; the old lines then stay until the next reset.
    await writeAtomically(logPath(dir), printLine(seedLine(seed)), { isOwn: true }).catch(() => {});
    removeFiles();
  });
}

/** The events in a folder's log, oldest first; none when there is no log. Writes nothing. */
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

/** The demo data that a folder's log starts with; undefined without a log, or with an unreadable one. */
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

/** Returns what runs actions one after another, each under the lock that `hold` takes. */
function oneByOne(hold: <T>(action: () => T) => Promise<T>) {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(action: () => T): Promise<T> => {
    const done = last.then(() => hold(action));
    last = done.catch(() => {});
    return done;
  };
}
