import { expect, test } from 'vitest';
import { linksIn } from '../src/review/state.js';
import { userOf } from './bulk/user.js';
import { application, keep } from './commands/tryouts/service.js';
import { errorOf, rosterctl } from './support/run.js';

// Texts that applicants and services can make as long as they like: whatever looks for addresses in
// them must not take time that grows with the square of their length. The test's own limit tells.

test('an answer to a form full of @ does not stop a report', async () => {
  const service = await keep([
    application('app_1', { formResponses: { role: '@'.repeat(1_000_000) } }),
    application('app_2', { formResponses: { role: 'ann@example.org' } }),
  ]);
  const user = userOf(service);
  const ran = await user.run(['report', '--md', 'season.md', '--by', 'formResponses.role']);
  expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining('never names a person')]);
});

test('a refusal full of :// does not stop its error, which hides the query of a URL', async () => {
  const service = await keep([], () => ({
    status: 400,
    json: { error: `${'://'.repeat(500_000)} https://b.example/p?sig=abc` },
  }));
  const ran = await userOf(service).run('tryouts list --json');
  expect([ran.code, ran.stderr]).toEqual([3, expect.not.stringContaining('sig=abc')]);
  const short = await keep([], () => ({
    status: 400,
    json: { error: 'See <https://b.example/p?sig=abc>.' },
  }));
  const told = await userOf(short).run('tryouts list --json');
  expect(errorOf(told)['service']).toEqual({ error: 'See <https://b.example/p?[redacted]>.' });
});

test('answers full of punctuation do not stop a review, which finds the other links', () => {
  const hostile = `https://a.example/${':'.repeat(65_000)}x`;
  const brackets = `https://a.example/${')'.repeat(65_000)}x`;
  const formResponses = Object.fromEntries(
    Array.from({ length: 20 }, (_, at) => [`q${at}`, at % 2 === 0 ? hostile : brackets]),
  );
  const links = linksIn({ formResponses, vod: 'Clips (https://b.example/x), and more.' });
  expect(links.map(({ url }) => url)).toContain('https://b.example/x');
});

test.each([
  ['of one word', 'x'.repeat(1_000_000)],
  ['of many words', 'x '.repeat(500_000).trim()],
])('an id %s, longer than any line, does not stop a page that wraps commands', async (_, id) => {
  const service = await keep([
    application(id, { status: 'accepted', submittedAt: new Date().toISOString() }),
  ]);
  const env = { ...service.env, ROSTERCTL_FORCE_TTY: '80' };
  const ran = await rosterctl('check', { env });
  expect([ran.code, ran.stdout]).toEqual([
    0,
    expect.stringMatching(/Fix:\n +rosterctl tryouts convert/),
  ]);
});
