/** A sink that hashes what passes through it. */

import { createHash } from 'node:crypto';
import type { FileSink } from './resumable-download.js';

/** A sink that knows the SHA-256, in hex, of what it was sent. */
interface HashedSink extends FileSink {
  sha256(): string;
}

/** Wraps a sink so that its bytes are hashed; without one, they are only hashed. */
export function hashedSink(sink?: FileSink): HashedSink {
  let hash = createHash('sha256');
  return {
    rewinds: sink?.rewinds ?? true,
    async begin(at, headers) {
      // The download restarted, so earlier bytes no longer count.
      if (at === 0) hash = createHash('sha256');
      await sink?.begin(at, headers);
    },
    async write(chunk) {
      await sink?.write(chunk);
      hash.update(chunk);
    },
    sha256: () => hash.digest('hex'),
  };
}
