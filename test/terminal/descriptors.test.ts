import { PassThrough, Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { OutputError, PipeClosedError } from '../../src/errors.js';
import { createStreams } from '../../src/terminal/streams.js';

/** Streams over a descriptor that accepts what `take` allows, with the text written through the stream. */
function over(take: (bytes: Uint8Array) => number) {
  const direct: string[] = [];
  const streamed: string[] = [];
  let opened = false;
  const streams = createStreams(
    {
      env: {},
      stdin: new PassThrough(),
      get stdout() {
        opened = true;
        return new Writable({
          write(chunk: Buffer, _encoding, done) {
            streamed.push(chunk.toString());
            done();
          },
        });
      },
      stderr: new PassThrough(),
    },
    {
      isTerminal: (descriptor) => descriptor === 1,
      write(_descriptor, bytes) {
        const accepted = take(bytes);
        direct.push(Buffer.from(bytes.subarray(0, accepted)).toString());
        return accepted;
      },
    },
  );
  return { streams, direct, streamed, opened: () => opened };
}

function refused(code: string): Error {
  return Object.assign(new Error(code), { code });
}

test('a short text needs no stream, nor does the terminal check', async () => {
  const { streams, direct, opened } = over((bytes) => bytes.length);
  await streams.stdout.write('äpfel\n');
  expect([direct, streams.stdout.isTerminal, streams.stdin.isTerminal]).toEqual([
    ['äpfel\n'],
    true,
    false,
  ]);
  expect(opened()).toBe(false);
});

test('a text accepted in pieces is written completely', async () => {
  const { streams, direct } = over((bytes) => Math.min(4, bytes.length));
  await streams.stdout.write('0123456789');
  expect(direct).toEqual(['0123', '4567', '89']);
});

test('text that a full pipe does not accept goes through the stream, as does all later text', async () => {
  let calls = 0;
  const { streams, direct, streamed } = over(() => {
    calls++;
    if (calls > 1) throw refused('EAGAIN');
    return 3;
  });
  await streams.stdout.write('abcdef');
  await streams.stdout.write('ghi');
  expect([direct, streamed, calls]).toEqual([['abc'], ['def', 'ghi'], 2]);
});

test('a long text goes through the stream, which waits for its reader', async () => {
  const { streams, direct, streamed } = over((bytes) => bytes.length);
  const long = 'x'.repeat(100_000);
  await streams.stdout.write('first ');
  await streams.stdout.write(long);
  await streams.stdout.write('last');
  expect(direct).toEqual(['first ']);
  expect(streamed.join('')).toBe(`${long}last`);
});

test.each([
  ['EPIPE', PipeClosedError],
  ['ENOSPC', OutputError],
] as const)(
  '%s is thrown by the write that caused it and by every later one',
  async (code, kind) => {
    const { streams, opened } = over(() => {
      throw refused(code);
    });
    await expect(streams.stdout.write('a')).rejects.toThrow(kind);
    await expect(streams.stdout.write('b')).rejects.toThrow(kind);
    expect(opened()).toBe(false);
  },
);

test('what no pipe holds goes through the stream, also in short texts', async () => {
  const { streams, direct, streamed } = over((bytes) => bytes.length);
  const text = 'ä'.repeat(16 * 1024);
  for (let index = 0; index < 3; index++) await streams.stdout.write(text);
  expect([direct.length, streamed.length]).toEqual([2, 1]);
});
