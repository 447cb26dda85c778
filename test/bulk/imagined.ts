import type { RowWork, SelectedRow } from '../../src/bulk/work.js';
import { ApiError, type Failure, UnknownOutcomeError } from '../../src/errors.js';

const call = { method: 'PATCH', path: '/tryout-applications/{applicationId}' };

/** What the service does with one write. */
export type Reaction = 'ok' | 'lost' | 'dropped' | 'applied' | number | { readonly code: string };

/** A service in memory that counts its writes, so that the engine can be tested without a process. */
export interface Imagined {
  readonly work: RowWork<undefined>;
  readonly status: Map<string, string>;
  /** Ids in the order in which their writes took effect. */
  readonly applied: string[];
  readonly sent: string[];
  looks: number;
}

/** `react` decides what becomes of the n-th write to a row; by default all goes well. */
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
    looks: 0,
    work: {
      guards: {},
      resends: 3,
      async look({ id }: SelectedRow) {
        imagined.looks += 1;
        const now = status.get(id);
        if (now === undefined) throw new ApiError(404, 'notFound', call);
        const changes = now === to ? [] : [{ field: 'status', from: now, to }];
        return { record: { id, status: now }, changes, plan: undefined };
      },
      async send(_, { id }) {
        imagined.sent.push(id);
        await Promise.resolve();
        const reaction = react(id, imagined.sent.filter((other) => other === id).length);
        if (reaction === 'ok' || reaction === 'lost' || reaction === 'applied') {
          status.set(id, to);
          imagined.applied.push(id);
        }
        if (reaction === 'ok') return undefined;
        throw failureOf(reaction);
      },
      tell: (error: Failure) => ({ code: error.code, message: error.message }),
    },
  };
  return imagined;
}

function failureOf(reaction: Exclude<Reaction, 'ok'>): Failure {
  if (typeof reaction === 'number') return new ApiError(reaction, undefined, call);
  if (typeof reaction === 'object') return new ApiError(403, reaction.code, call);
  const delivery = reaction === 'applied' ? 'applied' : 'ambiguous';
  return new UnknownOutcomeError('no answer', call, { delivery });
}
