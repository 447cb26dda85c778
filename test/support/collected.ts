import type { Sink } from '../../src/cli/sink.js';

/** Returns the bytes that a writer puts out, as to a file. */
export async function collected(write: (sink: Sink) => Promise<unknown>): Promise<Buffer> {
  const parts: Buffer[] = [];
  await write({
    isTerminal: false,
    columns: 80,
    rows: 24,
    color: false,
    async write(part) {
      parts.push(Buffer.from(part as Uint8Array));
    },
  });
  return Buffer.concat(parts);
}
