/** Processes of the model: the real runner over an in-memory journal. */

import { unfinishedTasks } from '../../../src/bulk/resume.js';
import { ageMs } from '../../../src/data/time.js';
import { matchesCondition } from '../../../src/data/where.js';
import type { RecordState, Session } from '../../../src/engine/operation.js';
import type { RowRunOptions } from '../../../src/engine/run.js';
import { runRows } from '../../../src/engine/run-rows.js';
import { StaleReadError } from '../../../src/errors.js';
import type { HeldLock } from '../../../src/files/lock.js';
import { sealLine } from '../../../src/files/synced-lines.js';
import { type Entry, foldJournal, parseJournal } from '../../../src/runs/journal.js';
import { type RunHead, runFormat } from '../../../src/runs/plan.js';
import type { ReportRow } from '../../../src/runs/report.js';
import { statusPlan } from '../../bulk/imagined.js';
import { call, type World } from './world.js';

const settleMs = 15_000;
/** How old a read may be when its write is sent. */
const freshMs = 2_000;

export interface ProcessOptions {
  readonly name: string;
  readonly ids: readonly string[];
  readonly to: string;
  readonly guards?: RowRunOptions['guards'];
  /** Each row is locked from its read to its result, or the only one from the start. */
  readonly locks?: 'rows' | 'all';
}

/** One run of the program: the real runner over a journal that survives it. */
export class Process {
  isDead = false;
  hasEnded = false;
  readonly rows: ReportRow[] = [];
  readonly name: string;
  readonly to: string;
  private readonly lastRead = new Map<string, RecordState>();
  private parsed = parseJournal(Buffer.alloc(0), 'journal').records;
  private parsedLines = 0;

  constructor(
    private readonly world: World,
    private readonly options: ProcessOptions,
    readonly disk: Buffer[] = [],
    private readonly images: string[] = [],
  ) {
    this.name = options.name;
    this.to = options.to;
    void this.work().catch((error: unknown) => {
      world.broken ??= error;
    });
  }

  /** The next process, after a crash or when the command is run again: it keeps the journal. */
  again(): Process {
    return new Process(this.world, this.options, this.disk, this.images);
  }

  get records() {
    if (this.parsedLines !== this.disk.length)
      this.parsed = parseJournal(Buffer.concat(this.disk), 'journal').records;
    this.parsedLines = this.disk.length;
    return this.parsed;
  }

  get state() {
    return foldJournal(this.records);
  }

  private async work(): Promise<void> {
    const { ids } = this.options;
    const rows = ids.map((id, index) => ({
      row: index + 1,
      id,
      previewed: [{ field: 'status', from: 'pending', to: this.options.to }],
    }));
    const head: RunHead = {
      ...{
        format: runFormat,
        version: '0.1.0',
        run: this.name,
        action: 'tryouts.set-status',
        verb: 'update',
      },
      profile: 'default',
      organization: 'org_7',
      service: '',
      resource: 'tryouts',
      input: '',
      rows: rows.length,
      startedAt: '2026-03-01T10:00:00Z',
    };
    const plan = { head, job: {}, rows };
    const stored = { head, plan, state: this.state, finished: false, reported: false };
    // The preview of the first process, at which the user may look for a long time.
    const seen = { at: this.world.now, record: { ...this.world.records.get(ids[0] ?? '') } };
    const isFirst =
      this.options.locks === undefined &&
      this.disk.length === 0 &&
      ids.length === 1 &&
      seen.record['status'] === 'pending';
    const tasks = unfinishedTasks(stored).map((task) =>
      isFirst ? { ...task, previewState: seen } : task,
    );
    if (isFirst) for (const { id } of tasks) this.lastRead.set(id, seen);
    await this.turn('start', () => {});
    const held = this.options.locks === 'all' ? await this.lock(ids[0] ?? '') : undefined;
    await runRows(tasks, this.runOptions());
    held?.release();
    this.hasEnded = true;
  }

  private turn<T>(what: string, act: () => T, isReady?: () => boolean): Promise<T> {
    return this.isDead ? new Promise(() => {}) : this.world.turn(this, what, act, isReady);
  }

  private runOptions(): RowRunOptions {
    const { world, options } = this;
    return {
      session: this.session(),
      resource: 'tryouts',
      guards: options.guards ?? {},
      journal: { append: (entry) => this.append(entry) },
      images: {
        append: ({ id }) => this.turn(`image ${id}`, () => void this.images.push(id)),
      },
      ...(options.locks === 'rows' && {
        lockRow: async ({ id }) => ({ lock: await this.lock(id), others: false }),
      }),
      concurrency: 1,
      retries: 2,
      backoff: () => 500,
      settleMs,
      maxErrors: Infinity,
      isSilent: () => false,
      now: () => new Date(world.now.wall),
      instant: () => world.now,
      self: { pid: process.pid, isAlive: () => true },
      sleep: (ms) => this.turn(`sleep ${ms}`, () => world.pass({ wall: ms, mono: ms })),
      signal: new AbortController().signal,
      describeError: ({ code, kind, message }) => ({ code, kind, message }),
      note: () => {},
      message: () => {},
      onResult: (row) => this.rows.push(row),
    };
  }

  private lock(id: string): Promise<HeldLock> {
    const { locked } = this.world;
    const take = () => {
      locked.add(id);
      return { isOurs: () => true, release: () => void locked.delete(id) };
    };
    return this.turn(`lock ${id}`, take, () => !locked.has(id));
  }

  private append(entry: Entry): Promise<void> {
    const { kind, id = '', result = '' } = entry as { kind: string; id?: string; result?: string };
    return this.turn(`journal ${kind} ${id} ${result}`.trimEnd(), () => {
      const line = sealLine({ seq: this.disk.length + 1, t: this.world.now.wall, ...entry });
      this.disk.push(Buffer.from(line));
    });
  }

  private session(): Session {
    const { world, options } = this;
    const { to, name } = options;
    return {
      resends: 2,
      read: ({ id }) =>
        this.turn(`read ${id}`, (): RecordState => {
          const state = { record: { ...world.records.get(id) }, at: world.now };
          this.lastRead.set(id, state);
          return state;
        }),
      plan: statusPlan(to),
      send: (_, { id }, isFresh) =>
        this.turn(`send ${id}`, () => {
          if (!isFresh()) throw new StaleReadError(call);
          this.checkSend(id);
          return world.receive(id, to, name);
        }),
    };
  }

  /** Checks what must hold whenever a write is sent. */
  private checkSend(id: string): void {
    const { world } = this;
    const { at, record = {} } = this.lastRead.get(id) ?? {};
    if (!at || ageMs(at, world.now) > freshMs) throw new Error(`${id} was sent on an old read`);
    if (this.options.guards?.conditions?.some((condition) => !matchesCondition(condition, record)))
      throw new Error(`${id} was sent although a guard did not hold`);
    if (!this.state.open.has(this.options.ids.indexOf(id) + 1))
      throw new Error(`${id} was sent without an intent`);
    if (!this.images.includes(id)) throw new Error(`${id} was sent without a before-image`);
  }
}
