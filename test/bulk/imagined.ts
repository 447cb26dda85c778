import type { RecordState, Session } from '../../src/engine/operation.js';
import type { RowRunOptions } from '../../src/engine/run.js';
import { ApiError, type Failure, UnknownOutcomeError } from '../../src/errors.js';

const call = { method: 'PATCH', path: '/tryout-applications/{applicationId}' };

/** How the service reacts to one write. */
export type Reaction = 'ok' | 'lost' | 'dropped' | 'applied' | number | { readonly code: string };

/** An in-memory service that counts its writes, to test the engine without a process. */
export interface Imagined {
  readonly session: { -readonly [K in keyof Session]: Session[K] };
  readonly status: Map<string, string>;
  /** Ids in the order in which their writes took effect. */
  readonly applied: string[];
  readonly sent: string[];
  reads: number;
}

const start = { wall: 0, mono: 0 };

/** Plans one change of status. */
export function statusPlan(to: string): Session['plan'] {
  return ({ id }, { record = {} }) => {
    const from = record['status'];
    if (from === to) return { steps: [] };
    const changes = [{ field: 'status', from, to }];
    return {
      steps: [{ call: { endpoint: 'updateTryout', body: { id, status: to } }, changes }],
    };
  };
}

/** `react` decides the outcome of the n-th write to a row; by default all succeed. */
export function imagine(
  ids: readonly string[],
  to: string,
  react: (id: string, attempt: number) => Reaction = () => 'ok',
): Imagined {
  const status = new Map(ids.map((id) => [id, 'pending']));
  const imagined: Imagined = {
    status,
    applied: [],
    sent: [],
    reads: 0,
    session: {
      resends: 3,
      async read({ id }): Promise<RecordState> {
        imagined.reads += 1;
        const now = status.get(id);
        if (now === undefined) throw new ApiError(404, 'notFound', call);
        return { record: { id, status: now }, at: start };
      },
      plan: statusPlan(to),
      async send(_, { id }) {
        imagined.sent.push(id);
        await Promise.resolve();
        const reaction = react(id, imagined.sent.filter((other) => other === id).length);
        if (reaction === 'ok' || reaction === 'lost' || reaction === 'applied') {
          status.set(id, to);
          imagined.applied.push(id);
        }
        if (reaction !== 'ok') throw failureOf(reaction);
        const record = { id, status: status.get(id) };
        return { answer: { status: 200, headers: {}, body: record }, record };
      },
    },
  };
  return imagined;
}

/** A run against the in-memory service, with a stopped clock and waits that end immediately. */
export function runOptions(
  { session }: Imagined,
  journal: RowRunOptions['journal'],
): Omit<RowRunOptions, 'onResult'> {
  return {
    session,
    resource: 'tryouts',
    guards: {},
    journal,
    concurrency: 4,
    retries: 3,
    backoff: () => 0,
    settleMs: 15_000,
    maxErrors: Infinity,
    isSilent: () => false,
    now: () => new Date(0),
    instant: () => start,
    self: { pid: process.pid, isAlive: () => true },
    sleep: async () => {},
    signal: new AbortController().signal,
    describeError: ({ code, kind, message }) => ({ code, kind, message }),
    note: () => {},
    message: () => {},
  };
}

function failureOf(reaction: Exclude<Reaction, 'ok'>): Failure {
  if (typeof reaction === 'number') return new ApiError(reaction, undefined, call);
  if (typeof reaction === 'object') return new ApiError(403, reaction.code, call);
  const delivery = reaction === 'applied' ? 'applied' : 'ambiguous';
  return new UnknownOutcomeError('no answer', call, { delivery });
}
