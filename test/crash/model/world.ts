/** The world of the model, in memory: a strict service, its clock, and other people's changes. */

import type { Instant } from '../../../src/data/time.js';
import type { Sent } from '../../../src/engine/operation.js';
import { ApiError, NetworkError, UnknownOutcomeError } from '../../../src/errors.js';
import type { Choose } from './explore.js';

/** How often each event may happen on one path. */
export interface Budget {
  crashes?: number;
  /** Sends with a lost answer, applied or not. */
  lost?: number;
  /** Lost sends that are applied later. */
  late?: number;
  /** 429, refused connections. */
  refused?: number;
  /** Changes by another admin. */
  others?: number;
  /** A long wait after a read, a suspended machine, an adjusted clock. */
  pauses?: number;
  /** Actions of one process that are executed out of order. */
  swaps?: number;
}

export const call = { method: 'PATCH', path: '/tryout-applications/{applicationId}' };

/** Time that passes between two requests of a run, by both clocks. */
const pauses = [
  { name: 'a long wait', wall: 5_000, mono: 5_000 },
  { name: 'suspended', wall: 7_200_000, mono: 0 },
  { name: 'the clock is set back', wall: -3_600_000, mono: 5_000 },
] as const;

/** Changes of the record by another admin. */
const others = [
  { name: 'another status', status: 'rejected' },
  { name: 'the same status', status: 'accepted' },
  { name: 'another team', team: 'B' },
] as const;

/** A process as the world sees it. */
interface Actor {
  readonly name: string;
  readonly hasEnded: boolean;
  isDead: boolean;
}

interface Waiting {
  readonly process: Actor;
  readonly what: string;
  isReady(): boolean;
  go(): void;
}

interface StoredRecord {
  readonly id: string;
  readonly status: string;
  readonly team: string;
}

export class World {
  readonly left: Required<Budget>;
  readonly records = new Map<string, StoredRecord>();
  /** Every status that a record had. */
  readonly had = new Map<string, Set<string>>();
  /** Events emitted by the runs' own writes. */
  readonly events: { readonly id: string; readonly by: string }[] = [];
  readonly happened: string[] = [];
  readonly locked = new Set<string>();
  hasOther = false;
  /** An error for an invariant that was violated. */
  broken: unknown;
  private time: Instant = { wall: 1e12, mono: 0 };
  private late: { readonly id: string; readonly to: string; readonly by: string; due: number }[] =
    [];
  private waiting: Waiting[] = [];

  constructor(
    readonly choose: Choose,
    ids: readonly string[],
    budget: Budget,
  ) {
    this.left = {
      crashes: 0,
      lost: 0,
      late: 0,
      refused: 0,
      others: 0,
      pauses: 0,
      swaps: 0,
      ...budget,
    };
    for (const id of ids) this.set({ id, status: 'pending', team: 'A' });
  }

  get now(): Instant {
    return this.time;
  }

  get isQuiet(): boolean {
    return this.late.length === 0;
  }

  /** The state that determines the future, with times as ages. */
  get key(): string {
    const { records, had, events, late, left, hasOther } = this;
    return JSON.stringify([
      [...records],
      [...had].map(([, all]) => [...all]),
      events,
      late,
      left,
      hasOther,
    ]);
  }

  pass({ wall, mono }: Instant): void {
    this.time = { wall: this.time.wall + wall, mono: this.time.mono + mono };
    // Requests in flight follow neither clock of this machine.
    const passed = Math.max(wall, mono);
    for (const each of this.late) each.due -= passed;
    const due = this.late.filter((each) => each.due <= 0);
    this.late = this.late.filter((each) => each.due > 0);
    for (const { id, to, by } of due) this.apply(id, to, by);
  }

  apply(id: string, status: string, by: string): void {
    const record = this.records.get(id);
    if (!record) return;
    this.set({ ...record, status });
    this.events.push({ id, by });
    this.happened.push(`${id} becomes ${status}`);
  }

  private set(record: StoredRecord): void {
    this.records.set(record.id, record);
    const had = this.had.get(record.id) ?? new Set();
    this.had.set(record.id, had.add(record.status));
  }

  /** Executes an action of a process when its turn comes. */
  turn<T>(process: Actor, what: string, act: () => T, isReady = () => true): Promise<T> {
    return new Promise((resolve, reject) => {
      const go = () => {
        this.happened.push(`${process.name}: ${what}`);
        try {
          resolve(act());
        } catch (error) {
          reject(error);
        }
      };
      this.waiting.push({ process, what, isReady, go });
    });
  }

  /** Lets the processes, the service and the other admin take turns until all processes have ended or one has crashed. */
  async run(processes: readonly Actor[]): Promise<'ended' | 'crashed'> {
    for (;;) {
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (this.broken !== undefined) throw this.broken;
      if (processes.every(({ hasEnded }) => hasEnded)) return 'ended';
      const ready = this.ready();
      if (ready.length === 0) throw new Error('Everything waits for something else.');
      const moves = [
        ...ready.map((each) => () => {
          if (this.isBehind(each)) this.left.swaps -= 1;
          this.waiting.splice(this.waiting.indexOf(each), 1);
          each.go();
        }),
        ...this.disturbances(ready),
      ];
      const crashes = this.left.crashes > 0 ? 1 : 0;
      const move = moves[this.choose(moves.length + crashes)];
      if (!move) break;
      move();
    }
    this.left.crashes -= 1;
    this.happened.push('crash');
    this.waiting = [];
    this.locked.clear();
    for (const process of processes) process.isDead = true;
    return 'crashed';
  }

  private ready(): readonly Waiting[] {
    const { crashes, swaps } = this.left;
    const ready = this.waiting.filter((each) => each.isReady());
    // Writes to a process's own files are visible to no one else: their order matters only for a crash.
    const own = ready.find(({ what }) => /^(journal|image)/.test(what));
    if (own && crashes + swaps === 0) return [own];
    return ready.filter((each) => swaps > 0 || !this.isBehind(each));
  }

  private isBehind(one: Waiting): boolean {
    return this.waiting.find(({ process }) => process === one.process) !== one;
  }

  /** Events that may come in between; only beside a request to the service, because nothing else would notice them. */
  private disturbances(ready: readonly Waiting[]): (() => void)[] {
    const asks = ready.some(({ what }) => /^(start|read|send)/.test(what));
    if (!asks) return [];
    const moves: (() => void)[] = [];
    if (this.left.others > 0)
      for (const { name, ...change } of others)
        moves.push(() => {
          this.left.others -= 1;
          this.hasOther = true;
          this.happened.push(name);
          const [record] = this.records.values();
          if (record) this.set({ ...record, ...change });
        });
    if (this.left.pauses > 0)
      for (const { name, ...time } of pauses)
        moves.push(() => {
          this.left.pauses -= 1;
          this.happened.push(name);
          this.pass(time);
        });
    return moves;
  }

  /** The service's reaction to one write that was sent. */
  receive(id: string, to: string, by: string): Sent {
    const moves: (() => Sent)[] = [
      () => {
        this.apply(id, to, by);
        const record = { ...this.records.get(id) };
        return { answer: { status: 200, headers: {}, body: record }, record };
      },
    ];
    const { left } = this;
    const lost = (what: string, act: () => void, delivery: 'ambiguous' | 'applied') => () => {
      left.lost -= 1;
      this.happened.push(what);
      act();
      throw new UnknownOutcomeError('no answer', call, { delivery });
    };
    if (left.lost > 0)
      moves.push(
        lost('its answer is lost', () => this.apply(id, to, by), 'ambiguous'),
        lost('its answer is unreadable', () => this.apply(id, to, by), 'applied'),
        lost('it is lost', () => {}, 'ambiguous'),
      );
    if (left.lost > 0 && left.late > 0)
      for (const due of [1_000, 10_000])
        moves.push(
          lost(
            `it is ${due} ms late`,
            () => {
              left.late -= 1;
              this.late.push({ id, to, by, due });
            },
            'ambiguous',
          ),
        );
    const refused = (what: string, error: Error) => () => {
      left.refused -= 1;
      this.happened.push(what);
      throw error;
    };
    if (left.refused > 0)
      moves.push(
        refused('429', new ApiError(429, 'slow', call, { wait: 5 })),
        refused(
          'no connection',
          new NetworkError('refused', {
            reason: 'refused',
            origin: 'http://service',
            delivery: 'not-sent',
          }),
        ),
      );
    const move = moves[this.choose(moves.length)];
    if (!move) throw new Error('No such answer.');
    return move();
  }
}
