import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { compileCheck } from '../../src/api/drift.js';
import { AnyRecord, TryoutApplication } from '../../src/api/schemas.js';

const at = '2026-01-01T00:00:00Z';
const application = {
  id: 'app_1',
  organizationId: 'org_1',
  status: 'pending',
  name: 'Ann',
  email: 'ann@example.org',
  formResponses: { why: 'x', deep: { a: [1] } },
  gamerTags: [{ id: 't', game: 'g', gamerTag: 'ann', createdAt: at, updatedAt: at }],
  submittedAt: at,
  createdAt: at,
  updatedAt: at,
};

test('a documented record fits, with unknown fields and without the optional ones', () => {
  const fits = compileCheck(TryoutApplication);
  expect(fits(application)).toBe(true);
  expect(fits({ ...application, discordUserId: null, convertedPlayer: null, extra: [1] })).toBe(
    true,
  );
  expect(compileCheck(AnyRecord)({ id: 'a', more: 1 })).toBe(true);
});

test('the check never accepts what the schema refuses, whatever is changed', () => {
  const anyValue = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom(undefined, null, 'pending', 'PENDING', {}, [], [{}], { id: 'x', name: 'y' }),
    fc.constant(JSON.parse('{"__proto__":{"id":"x"},"constructor":1}')),
  );
  const anyKey = fc.constantFrom(...Object.keys(application));
  const changes = fc.dictionary(
    fc.constantFrom(...Object.keys(application), 'discordUserId', 'convertedPlayer', 'other'),
    anyValue,
    { maxKeys: 3 },
  );
  const counts = { fitting: 0, refused: 0 };
  fc.assert(
    fc.property(changes, fc.array(anyKey, { maxLength: 1 }), (more, gone) => {
      const value: Record<string, unknown> = { ...application, ...more };
      for (const name of gone) delete value[name];
      const { success } = z.safeParse(TryoutApplication, value);
      counts.refused += Number(!success);
      if (success) counts.fitting += Number(compileCheck(TryoutApplication)(value));
      else expect(compileCheck(TryoutApplication)(value)).toBe(false);
      expect(compileCheck(AnyRecord)(value)).toBe(z.safeParse(AnyRecord, value).success);
    }),
    { numRuns: 1000 },
  );
  expect(Math.min(counts.fitting, counts.refused)).toBeGreaterThan(20);
});

test('the check never accepts a value for an unsupported schema', () => {
  for (const schema of [
    z.number(),
    z.string().check(z.minLength(1)),
    z.strictObject({ id: z.string() }),
    z.record(z.string(), z.number()),
    z.union([z.string(), z.number()]),
  ])
    for (const value of ['a', '', 1, { id: 'a' }, { a: 1 }, { a: 'x' }])
      expect(compileCheck(schema)(value)).toBe(false);
});
