/** Writes a zip archive: each part is compressed whole, so that its sizes come before its bytes. */
import { once } from 'node:events';
import { crc32, createDeflateRaw } from 'node:zlib';
import { OutputError } from '../errors.js';
import type { ArchiveEntry } from './archive.js';

/** Writes parts one after the other, then the directory. */
interface ArchiveWriter {
  /** Compresses a part and writes it. Throws OutputError from 4 GiB. */
  add(path: string, pieces: AsyncIterable<string> | Iterable<string>): Promise<void>;
  /** Writes the directory; returns how many bytes all parts take when they are unpacked. */
  end(): Promise<number>;
}

type Written = Omit<ArchiveEntry, 'method'>;

const mostPartBytes = 0xffff_fffe;
/** Deflated, as version 2.0 of the format knows it. */
const version = 20;
const deflated = 8;
/** The first day of the format: the same records make the same file. */
const firstDay = 0x0021;

/** Creates a writer whose bytes go to `write`. */
export function archiveWriter(write: (bytes: Uint8Array) => Promise<void>): ArchiveWriter {
  const parts: Written[] = [];
  let offset = 0;
  const send = async (bytes: Uint8Array) => {
    offset += bytes.length;
    await write(bytes);
  };
  return {
    async add(path, pieces) {
      const { packed, ...sums } = await compressed(pieces);
      const part = { name: path, offset, ...sums };
      if (Math.max(part.bytes, offset + part.packedBytes) > mostPartBytes) throw archiveTooLarge();
      parts.push(part);
      await send(Buffer.concat([header(0x04034b50, [version], part, []), Buffer.from(path)]));
      for (const chunk of packed) await send(chunk);
    },
    async end() {
      const start = offset;
      for (const part of parts) {
        const place = Buffer.alloc(14);
        place.writeUInt32LE(part.offset, 10);
        const head = header(0x02014b50, [version, version], part, [place]);
        await send(Buffer.concat([head, Buffer.from(part.name)]));
      }
      const end = Buffer.alloc(22);
      end.writeUInt32LE(0x06054b50, 0);
      end.writeUInt16LE(parts.length, 8);
      end.writeUInt16LE(parts.length, 10);
      end.writeUInt32LE(offset - start, 12);
      end.writeUInt32LE(start, 16);
      await send(end);
      return parts.reduce((sum, part) => sum + part.bytes, 0);
    },
  };
}

/** The fields that the header of a part and its entry in the directory share. */
function header(
  signature: number,
  versions: readonly number[],
  { name, crc, bytes, packedBytes }: Written,
  more: readonly Buffer[],
): Buffer {
  const fields = Buffer.alloc(4 + versions.length * 2 + 24);
  let at = fields.writeUInt32LE(signature, 0);
  for (const each of versions) at = fields.writeUInt16LE(each, at);
  at = fields.writeUInt16LE(0, at);
  at = fields.writeUInt16LE(deflated, at);
  at = fields.writeUInt16LE(0, at);
  at = fields.writeUInt16LE(firstDay, at);
  at = fields.writeUInt32LE(crc, at);
  at = fields.writeUInt32LE(packedBytes, at);
  at = fields.writeUInt32LE(bytes, at);
  at = fields.writeUInt16LE(Buffer.byteLength(name), at);
  fields.writeUInt16LE(0, at);
  return Buffer.concat([fields, ...more]);
}

async function compressed(pieces: AsyncIterable<string> | Iterable<string>) {
  const deflate = createDeflateRaw();
  const packed: Buffer[] = [];
  let crc = 0;
  let bytes = 0;
  let packedBytes = 0;
  deflate.on('data', (chunk: Buffer) => {
    packed.push(chunk);
    packedBytes += chunk.length;
  });
  try {
    for await (const piece of pieces) {
      const chunk = Buffer.from(piece);
      crc = crc32(chunk, crc);
      bytes += chunk.length;
      if (bytes > mostPartBytes) throw archiveTooLarge();
      if (!deflate.write(chunk)) await once(deflate, 'drain');
    }
    const ended = once(deflate, 'end');
    deflate.end();
    await ended;
  } finally {
    deflate.destroy();
  }
  return { packed, crc, bytes, packedBytes };
}

function archiveTooLarge(): OutputError {
  return new OutputError('The workbook would take more than 4 GiB.', {
    hint: 'Use -o csv, or fewer records (--limit) or fields (--fields).',
  });
}
