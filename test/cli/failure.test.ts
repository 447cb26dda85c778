import { expect, test } from 'vitest';
import { describeFailure } from '../../src/cli/failure.js';
import { ApiError, NetworkError } from '../../src/errors.js';

const table = { version: '0.0.0', groups: [], commands: [], topics: [] };
const command = { words: ['teams', 'list'], ids: [], keySource: undefined, flags: {}, table };
const call = { method: 'GET', path: '/teams' };
const lost = { reason: 'lost', origin: 'https://roster.example.com' } as const;

test.each([
  ['a call without an answer', new NetworkError('There is no route.', { ...lost, call })],
  ['a call that was answered with 503', new ApiError(503, undefined, call)],
])('after %s the line is to be run again', (_, error) => {
  expect(describeFailure(error, command).envelope.error).toMatchObject({
    hint: 'Run the same command again later.',
    retryable: true,
  });
});

test('a file that broke off is told of by its command, which says how it goes on', () => {
  const { error } = describeFailure(new NetworkError('It was lost.', lost), command).envelope;
  expect([error.retryable, error.hint]).toEqual([true, undefined]);
});
