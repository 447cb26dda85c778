import { describe, expect, test } from 'vitest';
import { type ListValues, listFlags, parseSorting } from '../../src/cli/filters.js';
import { filterList } from '../../src/cli/lists/filter-list.js';
import { isDocumented } from '../../src/cli/record-fields.js';
import type { JsonObject } from '../../src/data/json.js';
import { parseCondition } from '../../src/data/where.js';
import { UsageError } from '../../src/errors.js';

/** A list that counts how many of its records were read. */
function listing(records: readonly JsonObject[]) {
  const progress = { read: 0, closed: false };
  async function* iterate() {
    try {
      for (const record of records) {
        progress.read += 1;
        yield record;
      }
    } finally {
      progress.closed = true;
    }
  }
  return { progress, records: iterate() };
}

interface Flags {
  readonly where?: readonly string[];
  readonly search?: string;
  readonly sort?: string;
  readonly limit?: number;
}

function valuesOf({ where, search, sort, limit }: Flags): ListValues {
  return {
    where: where?.map(parseCondition),
    search,
    sort: sort === undefined ? undefined : parseSorting(sort),
    limit,
  };
}

async function ids(records: AsyncIterable<JsonObject>): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const record of records) found.push(record['id']);
  return found;
}

const narrowed = (records: readonly JsonObject[], flags: Flags) =>
  ids(filterList(listing(records).records, valuesOf(flags), { resource: 'tryouts' }));

const people = [
  { id: 'b', name: 'Bea', organizationId: 'org_ann', submittedAt: '2026-03-02T00:00:00Z', rank: 2 },
  { id: 'a', name: 'Ann', organizationId: 'org_ann', submittedAt: '2026-03-01T00:00:00Z' },
  { id: 'c', name: 'Cyd', organizationId: 'org_ann', submittedAt: '2026-03-03T00:00:00Z', rank: 1 },
];

describe('filters', () => {
  test('keep the order of the service', async () => {
    expect(await narrowed(people, {})).toEqual(['b', 'a', 'c']);
    expect(await narrowed(people, { where: ['name!=Ann'] })).toEqual(['b', 'c']);
  });

  test('keep a record only if all match', async () => {
    expect(await narrowed(people, { where: ['name~a', 'submittedAt<2026-03-01T12:00Z'] })).toEqual([
      'a',
    ]);
  });

  test('search every field except the organization and times', async () => {
    expect(await narrowed(people, { search: 'ANN' })).toEqual(['a']);
    expect(await narrowed(people, { search: '2026-03' })).toEqual([]);
  });

  test('search a text that only begins with a time', async () => {
    const noted = [...people, { id: 'd', internalNotes: '2026-03-04T18:00: asked Ann' }];
    expect(await narrowed(noted, { search: 'ann' })).toEqual(['a', 'd']);
  });

  test('sort before they limit', async () => {
    expect(await narrowed(people, { sort: 'name:desc', limit: 2 })).toEqual(['c', 'b']);
    expect(await narrowed(people, { sort: 'rank' })).toEqual(['c', 'b', 'a']);
  });

  test('sort objects by what a table shows of them', async () => {
    const chess = { id: 't_2', game: 'Chess', gamerTag: 'Kite' };
    const go = { id: 't_1', game: 'Go', gamerTag: 'Kite' };
    const players = [
      { id: 'a', convertedPlayer: { id: 'p_1', name: 'Zoe' }, gamerTags: [chess] },
      { id: 'b', convertedPlayer: { id: 'p_2', name: 'Mira' }, gamerTags: [] },
      { id: 'c', convertedPlayer: null, gamerTags: [go, chess] },
    ];
    expect(await narrowed(players, { sort: 'player' })).toEqual(['b', 'a', 'c']);
    expect(await narrowed(players, { sort: 'games' })).toEqual(['a', 'c', 'b']);
    expect(await narrowed(players, { sort: 'games:desc' })).toEqual(['c', 'a', 'b']);
  });

  test('limit by the usual order of the resource, and count what they cut', async () => {
    const { records, progress } = listing(people);
    const cut = filterList(records, valuesOf({ limit: 1, where: ['name~n'] }), {
      resource: 'tryouts',
    });
    expect(await ids(cut)).toEqual(['a']);
    expect(progress).toEqual({ read: 3, closed: true });
    expect(cut.counts).toEqual({ read: 3, matched: 1, shown: 1 });
    expect(await narrowed(people, { limit: 2 })).toEqual(['c', 'b']);
  });

  test('take the label of a field for its name', async () => {
    expect(await narrowed(people, { sort: 'submitted' })).toEqual(['a', 'b', 'c']);
    expect(await narrowed(people, { where: ['SUBMITTED>2026-03-02'] })).toEqual(['c']);
    const odd = [...people, { id: 'd', submitted: 'no' }];
    expect(await narrowed(odd, { where: ['submitted=no'] })).toEqual(['d']);
  });

  test('pass records as they arrive', async () => {
    const { records, progress } = listing(people);
    const passing = filterList(records, valuesOf({ where: ['status!=accepted'] }), {
      resource: 'tryouts',
    })[Symbol.asyncIterator]();
    await passing.next();
    expect(progress.read).toBe(1);
    await passing.return?.();
    expect(progress.closed).toBe(true);
  });
});

describe('a field that no record has', () => {
  test.each(['nmae=Ann', 'nmae!=Ann', 'nmae~Ann', 'nmae>1'])('%s is an error', async (where) => {
    await expect(narrowed(people, { where: [where] })).rejects.toThrow(
      'No record has a field "nmae". Did you mean name?',
    );
    await expect(narrowed(people, { where: [where] })).rejects.toBeInstanceOf(UsageError);
  });

  test('lets no record pass before it is known to be wrong', async () => {
    const { records } = listing(people);
    const passed: unknown[] = [];
    const narrowing = async () => {
      const values = valuesOf({ where: ['rnak!=7'], limit: 1 });
      for await (const record of filterList(records, values, { resource: 'tryouts' }))
        passed.push(record);
    };
    await expect(narrowing()).rejects.toThrow('Did you mean rank?');
    expect(passed).toEqual([]);
  });

  test('is an error in --sort too', async () => {
    await expect(narrowed(people, { sort: 'nmae' })).rejects.toThrow('Did you mean name?');
  });

  test('is no error if the contract names it, or one record has it', async () => {
    expect(await narrowed(people, { where: ['gamerTags.game!=Chess'] })).toEqual(['b', 'a', 'c']);
    expect(await narrowed(people, { where: ['rank!=2'] })).toEqual(['a', 'c']);
  });

  test('is no error in an empty list', async () => {
    expect(await narrowed([], { where: ['nmae=Ann'] })).toEqual([]);
  });
});

test.each([
  ['status', true],
  ['gamerTags.game', true],
  ['gamerTags.0.gamerTag', true],
  ['convertedPlayer.name', true],
  ['formResponses', true],
  ['formResponses.rank', false],
  ['gamerTags.rank', false],
  ['toString', false],
])('the contract names %s: %s', (field, expected) => {
  expect(isDocumented('tryouts', field)).toBe(expected);
});

test.each(['name:dsc', 'name:', ''])('--sort "%s" is rejected', (text) => {
  expect(listFlags.sort.schema.safeParse(text).success).toBe(false);
});

test.each(['0', '-1', '1.5', 'x', ''])('--limit "%s" is rejected', (text) => {
  expect(listFlags.limit.schema.safeParse(text).success).toBe(false);
});
