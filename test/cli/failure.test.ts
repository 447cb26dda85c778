import { expect, test } from 'vitest';
import { describeFailure } from '../../src/cli/failure.js';
import { ApiError, NetworkError, ProtocolError, UnknownOutcomeError } from '../../src/errors.js';

const table = { version: '0.0.0', groups: [], commands: [], topics: [] };
const command = {
  words: ['teams', 'list'],
  ids: [],
  keySource: undefined,
  flags: {},
  redacted: (text: string) => text,
  isVerbose: false,
  table,
};
const call = { method: 'GET', path: '/teams' };
const lost = { reason: 'lost', origin: 'https://roster.example.com' } as const;

test.each([
  ['a call without an answer', new NetworkError('There is no route.', { ...lost, call })],
  ['a call that was answered with 503', new ApiError(503, undefined, call)],
])('after %s the hint is to run the same command again', (_, error) => {
  expect(describeFailure(error, command).envelope.error).toMatchObject({
    hint: 'Run the same command again later.',
    retryable: true,
  });
});

test('an interrupted file transfer gets no hint, because its command gives one', () => {
  const { error } = describeFailure(new NetworkError('It was lost.', lost), command).envelope;
  expect([error.retryable, error.hint]).toEqual([true, undefined]);
});

test('the envelope names the endpoint, and not the path with the id', () => {
  const site = { ...call, path: '/teams/{teamId}', sentPath: '/teams/team_1' };
  for (const error of [
    new ApiError(404, 'notFound', site),
    new NetworkError('It was lost.', { ...lost, call: site }),
    new ProtocolError('It is not JSON.', { call: site }),
    new UnknownOutcomeError('The answer was lost.', site),
  ])
    expect(Object.keys(describeFailure(error, command).envelope.error)).not.toContain('sentPath');
});
