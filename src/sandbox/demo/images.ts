import { crc32 } from './checksums.js';

/** A real PNG: an upright gradient of the given size, RGB. */
export function png(width: number, height: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // 8 bits a channel, RGB.
  header.set([8, 2], 8);
  const rows = Buffer.alloc(height * (1 + width * 3));
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      rows.set([(x * 255) / width, (y * 255) / height, 160], y * (1 + width * 3) + 1 + x * 3);
    }
  }
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    pngChunk('IHDR', header),
    pngChunk('IDAT', zlibStored(rows)),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

/** A real grey baseline JPEG; width and height are multiples of 8. */
export function jpeg(width: number, height: number): Buffer {
  const blocks = (width / 8) * (height / 8);
  const size = Buffer.alloc(4);
  size.writeUInt16BE(height, 0);
  size.writeUInt16BE(width, 2);
  // Each block is two zero bits: no change of brightness, end of block. Padding is ones.
  const bits = '00'.repeat(blocks).padEnd(Math.ceil(blocks / 4) * 8, '1');
  const scan = (bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2));
  const oneCode = [1, ...Array<number>(15).fill(0), 0];
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    segment(0xe0, [...Buffer.from('JFIF\0'), 1, 1, 0, 0, 1, 0, 1, 0, 0]),
    segment(0xdb, [0, ...Array<number>(64).fill(8)]),
    segment(0xc0, [8, ...size, 1, 1, 0x11, 0]),
    segment(0xc4, [0x00, ...oneCode]),
    segment(0xc4, [0x10, ...oneCode]),
    segment(0xda, [1, 1, 0x00, 0, 63, 0]),
    Buffer.from([...scan, 0xff, 0xd9]),
  ]);
}

/** A real GIF of two frames that blinks. */
export function gif(): Buffer {
  const palette = '2266ccffcc33';
  return Buffer.concat([
    Buffer.from('GIF89a'),
    Buffer.from(`01000100800000${palette}21ff0b`, 'hex'),
    Buffer.from('NETSCAPE2.0'),
    Buffer.from('0301000000', 'hex'),
    gifFrame('44'),
    gifFrame('4c'),
    Buffer.from('3b', 'hex'),
  ]);
}

/** A real lossless WebP of one pixel. */
export function webp(): Buffer {
  return Buffer.from('UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==', 'base64');
}

/** Shown for half a second: control block, position, one pixel. */
function gifFrame(pixel: string): Buffer {
  return Buffer.from(`21f90400320000002c0000000001000100000202${pixel}0100`, 'hex');
}

function segment(marker: number, content: readonly number[]): Buffer {
  const length = content.length + 2;
  return Buffer.from([0xff, marker, length >> 8, length & 0xff, ...content]);
}

function pngChunk(type: string, content: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type), content]);
  const framed = Buffer.alloc(typed.length + 8);
  framed.writeUInt32BE(content.length, 0);
  typed.copy(framed, 4);
  framed.writeUInt32BE(crc32(typed), typed.length + 4);
  return framed;
}

/** Deflate without compressing, which spares loading zlib; at most 65,535 bytes. */
function zlibStored(bytes: Buffer): Buffer {
  const head = Buffer.from([0x78, 0x01, 0x01, 0, 0, 0, 0]);
  head.writeUInt16LE(bytes.length, 3);
  head.writeUInt16LE(bytes.length ^ 0xffff, 5);
  const tail = Buffer.alloc(4);
  tail.writeUInt32BE(adler32(bytes));
  return Buffer.concat([head, bytes, tail]);
}

function adler32(bytes: Buffer): number {
  let [low, high] = [1, 0];
  for (const byte of bytes) {
    low = (low + byte) % 65521;
    high = (high + low) % 65521;
  }
  return ((high << 16) | low) >>> 0;
}
