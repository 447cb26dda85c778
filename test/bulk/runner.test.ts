import { describe, expect, test } from 'vitest';
import type { Task } from '../../src/engine/operation.js';
import { type RowRunOptions } from '../../src/engine/run.js';
import { runRows } from '../../src/engine/run-rows.js';
import {
  ApiError,
  NetworkError,
  OutputError,
  StaleReadError,
  UnknownOutcomeError,
} from '../../src/errors.js';
import type { Entry } from '../../src/runs/journal.js';
import type { ReportRow } from '../../src/runs/report.js';
import { application, keep } from '../commands/tryouts/service.js';
import { organization, recordingService } from '../support/service.js';
import { type Imagined, imagine, runOptions } from './imagined.js';
import { ids, several, until, userInside } from './user.js';

const tooMany = { method: 'PATCH', path: '/tryout-applications/{applicationId}' };

const tasksOf = (names: readonly string[]): Task[] =>
  names.map((id, index) => ({
    row: index + 1,
    id,
    previewed: [{ field: 'status', from: 'pending', to: 'accepted' }],
  }));

async function run(
  imagined: Imagined,
  tasks: readonly Task[],
  changes: Partial<RowRunOptions> = {},
) {
  const rows: ReportRow[] = [];
  const entries: Entry[] = [];
  const waits: number[] = [];
  const stop = await runRows(tasks, {
    ...runOptions(imagined, { append: async (entry) => void entries.push(entry) }),
    sleep: async (ms) => void waits.push(ms),
    onResult: (row) => rows.push(row),
    ...changes,
  });
  const results = Object.fromEntries(rows.map(({ id, result }) => [id, result]));
  expect(rows.map(({ row }) => row).toSorted((a, b) => a - b)).toEqual(tasks.map(({ row }) => row));
  return { rows, entries, stop, waits, results };
}

/** The highest number of concurrent calls of this work. */
function watch({ session }: Imagined): { readonly most: number } {
  const seen = { most: 0, now: 0 };
  const there = async <T>(step: () => Promise<T>): Promise<T> => {
    seen.most = Math.max(seen.most, ++seen.now);
    await new Promise((resolve) => setImmediate(resolve));
    return step().finally(() => seen.now--);
  };
  const read = session.read.bind(session);
  const send = session.send.bind(session);
  session.read = (row, purpose) => there(() => read(row, purpose));
  session.send = (step, row, isFresh) => there(() => send(step, row, isFresh));
  return seen;
}

function openSince(msAgo: number): Task[] {
  const open = { row: 1, id: 'app_1', attempt: 1, before: { status: 'pending' }, applied: false };
  return tasksOf(ids(1)).map((task) => ({ ...task, open: { ...open, t: -msAgo } }));
}

const count = (rows: readonly ReportRow[], result: string) =>
  rows.filter((row) => row.result === result).length;

test('an intent is journalled before each write and a result before it is reported', async () => {
  const imagined = imagine(ids(10), 'accepted');
  const onDisk: string[] = [];
  const send = imagined.session.send.bind(imagined.session);
  imagined.session.send = (step, row, isFresh) => {
    expect(onDisk).toContain(`intent ${row.id}`);
    return send(step, row, isFresh);
  };
  const told: string[] = [];
  const journal = {
    append: async (entry: Entry) => {
      await new Promise((resolve) => setImmediate(resolve));
      onDisk.push(`${entry.kind} ${String(entry['id'])}`);
    },
  };
  await runRows(tasksOf(ids(10)), {
    ...runOptions(imagined, journal),
    onResult: ({ id, result }) => {
      expect(onDisk).toContain(`result ${id}`);
      told.push(result);
    },
  });
  expect(told).toEqual(ids(10).map(() => 'changed'));
});

describe('a lost answer', () => {
  test('of an applied write is verified by reading, and the write is never sent again', async () => {
    const imagined = imagine(ids(6), 'accepted', () => 'lost');
    const { results, waits, stop } = await run(imagined, tasksOf(ids(3)));
    expect(results).toEqual({ app_1: 'changed', app_2: 'changed', app_3: 'changed' });
    expect(imagined.sent).toHaveLength(3);
    expect(stop).toBeUndefined();
    // All wait together, so there is one pause for any number of rows.
    expect(waits).toEqual([2000]);
  });

  test('of a write that was not applied is followed by a resend after the full settle time', async () => {
    const imagined = imagine(ids(2), 'accepted', (_, attempt) =>
      attempt === 1 ? 'dropped' : 'ok',
    );
    const { results, waits } = await run(imagined, tasksOf(ids(2)));
    expect(results).toEqual({ app_1: 'changed', app_2: 'changed' });
    expect(imagined.sent.toSorted()).toEqual(['app_1', 'app_1', 'app_2', 'app_2']);
    expect(waits).toEqual([2000, 15_000]);
  });

  test('together with a change by someone else is a conflict, and the record is left alone', async () => {
    const imagined = imagine(ids(1), 'accepted', (id) => {
      imagined.status.set(id, 'withdrawn');
      return 'dropped';
    });
    const { results } = await run(imagined, tasksOf(ids(1)));
    expect(results).toEqual({ app_1: 'conflict' });
    expect(imagined.sent).toHaveLength(1);
  });

  test.each([0, 1])('is followed by no more resends than --retries %i allows', async (retries) => {
    const imagined = imagine(ids(1), 'accepted', () => 'dropped');
    const { results } = await run(imagined, tasksOf(ids(1)), { retries });
    expect(results).toEqual({ app_1: 'unknown' });
    expect(imagined.sent).toHaveLength(1 + retries);
  });

  test('of several writes is read for one of them, early and at the end, where the service is silent', async () => {
    const imagined = imagine(ids(4), 'accepted', () => 'lost');
    const read = imagined.session.read.bind(imagined.session);
    let verified = 0;
    imagined.session.read = async (row, purpose) => {
      if (purpose !== 'verify') return read(row, purpose);
      verified += 1;
      throw new NetworkError('refused', { reason: 'refused', origin: 'http://127.0.0.1' });
    };
    const { rows } = await run(imagined, tasksOf(ids(4)), { concurrency: 1 });
    expect([count(rows, 'unknown'), verified]).toEqual([4, 2]);
  });

  test('of several writes is read for each of them where only the read of one is refused', async () => {
    const imagined = imagine(ids(3), 'accepted', () => 'lost');
    const read = imagined.session.read.bind(imagined.session);
    imagined.session.read = async (row, purpose) => {
      if (purpose === 'verify' && row.id === 'app_1') throw new ApiError(403, undefined, tooMany);
      return read(row, purpose);
    };
    const { results } = await run(imagined, tasksOf(ids(3)), { concurrency: 1 });
    expect(results).toEqual({ app_1: 'unknown', app_2: 'changed', app_3: 'changed' });
  });

  test('of an update whose record is gone at the resend is a failure, not a change', async () => {
    const imagined = imagine(ids(1), 'accepted', (_, attempt) => (attempt === 1 ? 'dropped' : 404));
    const { results } = await run(imagined, tasksOf(ids(1)));
    expect(results).toEqual({ app_1: 'failed' });
    expect(imagined.sent).toHaveLength(2);
  });

  test('after a success status is never followed by a resend', async () => {
    const imagined = imagine(ids(1), 'accepted', () => 'applied');
    imagined.session.send = async () => {
      imagined.sent.push('app_1');
      throw new UnknownOutcomeError('no answer', undefined, { delivery: 'applied' });
    };
    const { results } = await run(imagined, tasksOf(ids(1)));
    expect(results).toEqual({ app_1: 'unknown' });
    expect(imagined.sent).toHaveLength(1);
  });
});

test('a first step that took effect while its resend waited is not verified again after the second step', async () => {
  const imagined = imagine(ids(1), 'accepted');
  const player = { status: 'accepted', convertedPlayerId: 'player_1' };
  imagined.session.plan = ({ id }, { record = {} }) => {
    const call = { endpoint: 'updateTryout', body: { id } } as const;
    const from = record['status'];
    const accept = { name: 'accepted', call, changes: [{ field: 'status', from, to: 'accepted' }] };
    const convert = {
      call,
      changes: [{ field: 'convertedPlayerId', from: undefined, to: 'player_1' }],
    };
    return { steps: from === 'pending' ? [accept, convert] : [convert] };
  };
  imagined.session.send = async ({ name = 'converted' }, { id }) => {
    imagined.sent.push(name);
    const isFirst = imagined.sent.filter((other) => other === name).length === 1;
    if (name === 'accepted' && isFirst) throw new UnknownOutcomeError('no answer', undefined, {});
    if (name === 'accepted') imagined.status.set(id, 'accepted');
    if (name === 'accepted' || isFirst) throw new ApiError(429, undefined, tooMany);
    return { answer: { status: 200, headers: {}, body: {} }, record: { id, ...player } };
  };
  const [task] = tasksOf(ids(1));
  const tasks = task ? [{ ...task, previewed: undefined }] : [];
  const { results, entries } = await run(imagined, tasks);
  expect(results).toEqual({ app_1: 'changed' });
  expect(imagined.sent).toEqual(['accepted', 'accepted', 'converted', 'converted']);
  expect(entries.filter(({ kind }) => kind === 'done')).toHaveLength(1);
});

describe('a run stops', () => {
  test.each([401, { code: 'featureNotAvailable' }])('immediately for %j', async (reaction) => {
    const imagined = imagine(ids(20), 'accepted', () => reaction);
    const { rows, stop } = await run(imagined, tasksOf(ids(20)));
    expect(imagined.sent).toHaveLength(1);
    expect(count(rows, 'not_attempted')).toBe(20);
    expect(stop?.exitName).toBe(reaction === 401 ? 'unauthenticated' : 'forbidden');
  });

  test('for a 403 at the first write', async () => {
    const imagined = imagine(ids(20), 'accepted', () => 403);
    const { rows, stop } = await run(imagined, tasksOf(ids(20)));
    expect(imagined.sent).toHaveLength(1);
    expect([count(rows, 'failed'), count(rows, 'not_attempted')]).toEqual([1, 19]);
    expect(stop?.exitName).toBe('forbidden');
  });

  test('for a 403 at the first write, also after rows that needed none', async () => {
    const imagined = imagine(ids(20), 'accepted', () => 403);
    for (const id of ids(2)) imagined.status.set(id, 'accepted');
    const { results, stop } = await run(imagined, tasksOf(ids(20)), { concurrency: 1 });
    expect([stop?.exitName, imagined.sent]).toEqual(['forbidden', ['app_3']]);
    expect(results).toMatchObject({ app_1: 'unchanged', app_3: 'failed', app_4: 'not_attempted' });
  });

  test('for the third consecutive 403, and not for separate ones', async () => {
    const single = imagine(ids(9), 'accepted', (id) => (/[258]/.test(id) ? 403 : 'ok'));
    const between = await run(single, tasksOf(ids(9)), { concurrency: 1 });
    expect(between.stop).toBeUndefined();
    expect(count(between.rows, 'failed')).toBe(3);
    const imagined = imagine(ids(20), 'accepted', (id) => (id === 'app_1' ? 'ok' : 403));
    const { rows, stop } = await run(imagined, tasksOf(ids(20)), { concurrency: 1 });
    expect(stop?.exitName).toBe('forbidden');
    expect(imagined.sent).toHaveLength(4);
    expect([count(rows, 'changed'), count(rows, 'failed')]).toEqual([1, 3]);
  });

  test('after five consecutive rows without an answer, and no row counts as failed', async () => {
    const imagined = imagine(ids(1000), 'accepted', () => 429);
    const { rows, stop } = await run(imagined, tasksOf(ids(1000)), { retries: 0 });
    expect(stop?.exitName).toBe('temporary');
    expect(imagined.sent.length).toBeLessThanOrEqual(8);
    expect(count(rows, 'not_attempted')).toBe(1000);
  });

  test('at the first row without an answer of a service that has been silent for long', async () => {
    const imagined = imagine(ids(5), 'accepted', () => 'lost');
    const { stop } = await run(imagined, tasksOf(ids(5)), { isSilent: () => true, concurrency: 1 });
    expect([stop?.exitName, imagined.sent]).toEqual(['temporary', ['app_1']]);
  });

  test('for no number of rows without an answer that others follow', async () => {
    const imagined = imagine(ids(20), 'accepted', (id) => (/[02468]$/.test(id) ? 429 : 'ok'));
    const { rows, stop } = await run(imagined, tasksOf(ids(20)), { retries: 0, concurrency: 1 });
    expect(stop).toBeUndefined();
    expect([count(rows, 'changed'), count(rows, 'not_attempted')]).toEqual([10, 10]);
  });

  test('for no number of answers whose record is not shown yet, nor for a 403 after them', async () => {
    const imagined = imagine(ids(8), 'accepted', (id) => (id === 'app_7' ? 403 : 'ok'));
    imagined.session.checkSuccess = async () => {
      throw new UnknownOutcomeError('not shown', undefined, { delivery: 'applied' });
    };
    const { rows, stop } = await run(imagined, tasksOf(ids(8)), { concurrency: 1 });
    expect(stop).toBeUndefined();
    expect([count(rows, 'changed'), count(rows, 'failed')]).toEqual([7, 1]);
  });

  test('when --max-errors rows were forbidden', async () => {
    const imagined = imagine(ids(9), 'accepted', (id) => (id === 'app_1' ? 'ok' : 403));
    const { stop } = await run(imagined, tasksOf(ids(9)), { maxErrors: 2, concurrency: 1 });
    expect(stop?.exitName).toBe('rowsFailed');
    expect(imagined.sent).toHaveLength(3);
  });

  test('when --max-errors rows have failed', async () => {
    const imagined = imagine(ids(20), 'accepted', () => 400);
    const { rows, stop } = await run(imagined, tasksOf(ids(20)), { maxErrors: 2, concurrency: 1 });
    expect(stop?.exitName).toBe('rowsFailed');
    expect([count(rows, 'failed'), count(rows, 'not_attempted')]).toEqual([2, 18]);
  });

  test('before it sends if the journal cannot be written', async () => {
    const imagined = imagine(ids(5), 'accepted');
    const { rows, stop } = await run(imagined, tasksOf(ids(5)), {
      journal: { append: () => Promise.reject(new OutputError('the disk is full')) },
    });
    expect(imagined.sent).toEqual([]);
    expect(stop?.exitName).toBe('failed');
    expect(count(rows, 'not_attempted')).toBe(5);
  });

  test('at a refusal that the journal cannot take, which the row still reports', async () => {
    const imagined = imagine(ids(5), 'accepted', () => 400);
    const { results, stop } = await run(imagined, tasksOf(ids(5)), {
      journal: {
        append: async ({ kind }) => {
          if (kind === 'result') throw new OutputError('the disk is full');
        },
      },
      concurrency: 1,
    });
    expect(imagined.sent).toEqual(['app_1']);
    expect(stop?.exitName).toBe('failed');
    expect(results).toMatchObject({ app_1: 'failed', app_2: 'not_attempted' });
  });

  test('at the intent of a second step that the journal cannot take, and the first step stays done', async () => {
    const imagined = imagine(ids(2), 'accepted');
    const call = { endpoint: 'updateTryout', body: {} } as const;
    imagined.session.plan = (_, { record = {} }) => {
      const accepted = [{ field: 'status', from: 'pending', to: 'accepted' }];
      const accept = { name: 'accepted', call, changes: accepted };
      const converted = [{ field: 'convertedPlayerId', from: null, to: 'player_1' }];
      const convert = { name: 'converted', call, changes: converted };
      return { steps: record['status'] === 'pending' ? [accept, convert] : [convert] };
    };
    const tasks = tasksOf(ids(2)).map((task) => ({ ...task, previewed: undefined }));
    const { rows, stop } = await run(imagined, tasks, {
      journal: {
        append: async ({ kind, step }) => {
          if (kind === 'intent' && step === 'converted') throw new OutputError('the disk is full');
        },
      },
      concurrency: 1,
    });
    expect([imagined.sent, stop?.exitName]).toEqual([['app_1'], 'failed']);
    expect(rows).toMatchObject([
      { id: 'app_1', result: 'failed', step: 'accepted', retryable: true },
      { id: 'app_2', result: 'not_attempted' },
    ]);
  });

  test('after a signal, and a result that reaches the disk after the report is not reported again', async () => {
    const signal = new AbortController();
    const disk = { isAsked: false, answers: false, isDone: false };
    const imagined = imagine(ids(1), 'accepted', () => {
      signal.abort();
      return 'ok';
    });
    const { rows } = await run(imagined, tasksOf(ids(1)), {
      signal: signal.signal,
      sleep: () => until(() => disk.isAsked),
      journal: {
        append: async ({ kind }) => {
          if (kind !== 'result') return;
          disk.isAsked = true;
          await until(() => disk.answers);
          disk.isDone = true;
        },
      },
    });
    disk.answers = true;
    await until(() => disk.isDone);
    await new Promise((resolve) => setImmediate(resolve));
    expect(rows.map(({ result }) => result)).toEqual(['unknown']);
  });

  test('after a signal, once the rows in flight are done', async () => {
    const signal = new AbortController();
    const imagined = imagine(ids(20), 'accepted', (id) => {
      if (id === 'app_5') signal.abort();
      return 'ok';
    });
    const { rows } = await run(imagined, tasksOf(ids(20)), {
      signal: signal.signal,
      sleep: () => new Promise(() => {}),
    });
    expect(count(rows, 'unknown')).toBe(0);
    expect(count(rows, 'changed')).toBe(imagined.sent.length);
    expect(count(rows, 'not_attempted')).toBeGreaterThan(10);
  });
});

test('reads that age before their write can leave are counted anew after each send', async () => {
  const imagined = imagine(ids(1), 'accepted');
  const send = imagined.session.send.bind(imagined.session);
  const aged = new StaleReadError(tooMany);
  const failures = [aged, aged, aged, new ApiError(429, undefined, tooMany), aged];
  imagined.session.send = async (step, row, isFresh) => {
    const failure = failures.shift();
    if (failure) throw failure;
    return send(step, row, isFresh);
  };
  const { results } = await run(imagined, tasksOf(ids(1)));
  expect([results, failures]).toEqual([{ app_1: 'changed' }, []]);
});

test('a row that changed since the preview is a conflict, and nothing is sent', async () => {
  const imagined = imagine(ids(2), 'accepted');
  imagined.status.set('app_1', 'withdrawn');
  const { results } = await run(imagined, tasksOf(ids(2)));
  expect(results).toEqual({ app_1: 'conflict', app_2: 'changed' });
  expect(imagined.sent).toEqual(['app_2']);
});

test.each([1, 4])(
  '%i at once: documents are deleted by lists that many of them share',
  async (limit) => {
    const kept = new Set(Array.from({ length: 60 }, (_, index) => `doc_${index}`));
    let now = 0;
    let most = 0;
    const service = await recordingService(({ method, url }) => (_, response) => {
      most = Math.max(most, ++now);
      response.on('close', () => (now -= 1));
      response.setHeader('content-type', 'application/json');
      if (method === 'DELETE') kept.delete(url.split('/').at(-1) ?? '');
      const documents = [...kept].map((id) => ({ id, name: id, organizationId: organization }));
      setTimeout(() => response.end(JSON.stringify(method === 'GET' ? { documents } : {})), 20);
    });
    const { run: runLine } = userInside(service);
    const line = `docs delete ${[...kept].join(' ')} --yes --expect 60 --concurrency ${limit}`;
    const ran = await runLine(line);
    expect([ran.code, kept.size, most]).toEqual([0, 0, limit]);
    expect(service.requests.filter(({ method }) => method === 'GET').length).toBeLessThan(20);
  },
);

describe('at high concurrency', () => {
  const slowDisk = { append: () => new Promise<void>((done) => setTimeout(done, 5)) };

  test('the limit of concurrent requests holds, however many rows are being written to disk', async () => {
    const imagined = imagine(ids(300), 'accepted');
    const seen = watch(imagined);
    const { rows } = await run(imagined, tasksOf(ids(300)), {
      concurrency: 16,
      journal: slowDisk,
    });
    expect(count(rows, 'changed')).toBe(300);
    expect(seen.most).toBe(16);
  });

  test('the limit holds for the reads that follow answers without a record, too', async () => {
    let now = 0;
    let most = 0;
    const service = await keep(several(80), ({ method }, step) => {
      if (step === 'LIST') return undefined;
      most = Math.max(most, ++now);
      return (_, response) => {
        response.on('close', () => (now -= 1));
        const [, id = ''] = step.split(' ');
        if (method === 'PATCH') service.kept.set(id, application(id, { status: 'rejected' }));
        if (method === 'PATCH') response.writeHead(204).end();
        else setTimeout(() => response.end(JSON.stringify(service.kept.get(id))), 40);
      };
    });
    const { run: runLine } = userInside(service);
    const ran = await runLine('tryouts set-status --all --to rejected --yes --concurrency 8');
    expect([ran.code, most]).toEqual([0, 8]);
  });

  test('a service that does not answer gets no more requests than the limit', async () => {
    const imagined = imagine(ids(300), 'accepted');
    imagined.session.read = async () => {
      imagined.reads += 1;
      await new Promise((resolve) => setTimeout(resolve, 5));
      throw new NetworkError('refused', { reason: 'refused', origin: 'http://127.0.0.1' });
    };
    const { rows, stop } = await run(imagined, tasksOf(ids(300)), { concurrency: 16 });
    expect(stop?.exitName).toBe('temporary');
    // Those in flight when the fifth failed, and one more for each that had ended before.
    expect(imagined.reads).toBeLessThanOrEqual(16 + 4);
    expect(count(rows, 'not_attempted')).toBe(300);
  });

  test('after a stop no write is sent, even if its intent is already on disk', async () => {
    const imagined = imagine(ids(300), 'accepted', (id) => (id === 'app_1' ? 'ok' : 400));
    const { rows, entries } = await run(imagined, tasksOf(ids(300)), {
      concurrency: 16,
      maxErrors: 1,
    });
    expect(imagined.sent.length).toBeLessThanOrEqual(1 + 16);
    expect(count(rows, 'failed')).toBe(imagined.sent.length - 1);
    const left = entries.filter(({ kind }) => kind === 'intent').map(({ id }) => id);
    for (const entry of entries)
      if (entry.kind === 'result') left.splice(left.indexOf(entry['id']), 1);
    expect(left).toEqual([]);
  });
});

describe('a write of an earlier process', () => {
  test.each([0, 40_000, 3_000_000])(
    'that may have waited for its turn since its intent %d ms ago settles from now on',
    async (msAgo) => {
      const imagined = imagine(ids(1), 'accepted');
      const { waits, results } = await run(imagined, openSince(msAgo));
      expect(waits).toEqual([2000, 15_000]);
      expect(results).toEqual({ app_1: 'changed' });
    },
  );

  test('that had been sent when its outcome was recorded as unknown settles from then on', async () => {
    const [task] = openSince(40_000);
    const imagined = imagine(ids(1), 'accepted');
    const gone = { ...task, open: { ...task?.open, goneBy: -20_000 } } as Task;
    const { waits } = await run(imagined, [gone]);
    expect(waits).toEqual([]);
    expect(imagined.sent).toEqual(['app_1']);
  });

  test('that can no longer take effect is read and sent again immediately', async () => {
    const imagined = imagine(ids(1), 'accepted');
    const { waits } = await run(imagined, openSince(3_700_000));
    expect(waits).toEqual([]);
    expect(imagined.sent).toEqual(['app_1']);
  });
});
