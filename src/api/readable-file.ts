import type { FileHandle } from 'node:fs/promises';

/** A file of which any part can be read; a short read means its end. */
export interface ReadableFile {
  readonly size: number;
  read(offset: number, length: number): Promise<Buffer>;
}

/** An open file, read by position. */
export function readableFile(handle: FileHandle, size: number): ReadableFile {
  return {
    size,
    async read(offset, length) {
      const bytes = Buffer.alloc(Math.max(0, Math.min(length, size - offset)));
      let done = 0;
      while (done < bytes.length) {
        const { bytesRead } = await handle.read(bytes, done, bytes.length - done, offset + done);
        if (bytesRead === 0) break;
        done += bytesRead;
      }
      return bytes.subarray(0, done);
    },
  };
}
