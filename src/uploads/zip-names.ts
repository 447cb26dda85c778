import type { ReadableFile } from '../api/file-store.js';

const endRecord = 22;
const longestComment = 65_535;
const longestDirectory = 8 * 1024 * 1024;

/** The names in a ZIP's central directory, which stands at its end; empty when there is none. */
export async function zipNames(file: ReadableFile): Promise<readonly string[]> {
  const tailSize = Math.min(file.size, endRecord + longestComment);
  const tail = await file.read(file.size - tailSize, tailSize);
  const at = tail.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]));
  if (at < 0 || at + endRecord > tail.length) return [];
  const size = tail.readUInt32LE(at + 12);
  const offset = tail.readUInt32LE(at + 16);
  return namesIn(await file.read(offset, Math.min(size, longestDirectory)));
}

function namesIn(directory: Buffer): string[] {
  const names: string[] = [];
  let at = 0;
  while (at + 46 <= directory.length && directory.readUInt32LE(at) === 0x02014b50) {
    const nameLength = directory.readUInt16LE(at + 28);
    names.push(directory.toString('utf8', at + 46, at + 46 + nameLength));
    at += 46 + nameLength + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
  }
  return names;
}
