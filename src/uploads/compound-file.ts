import type { ReadableFile } from '../api/file-store.js';

// The old Office container (MS-CFB): a header, a table of sector chains, and a directory of named
// streams whose entries form a tree. Word and Excel differ by the streams at its root.

const noMore = 0xfffffff0;
const inHeader = 109;
const mostSectors = 4096;
const entrySize = 128;

/** The names of the streams and storages at the root of a compound file; empty when it is damaged. */
export async function compoundNames(file: ReadableFile): Promise<readonly string[]> {
  const header = await file.read(0, 512);
  if (header.length < 512) return [];
  const shift = header.readUInt16LE(30);
  if (shift !== 9 && shift !== 12) return [];
  const sectors = new Sectors(file, header, 2 ** shift);
  return rootNames(await sectors.chain(header.readUInt32LE(48)));
}

class Sectors {
  readonly #file: ReadableFile;
  readonly #header: Buffer;
  readonly #size: number;
  constructor(file: ReadableFile, header: Buffer, size: number) {
    this.#file = file;
    this.#header = header;
    this.#size = size;
  }

  /** The bytes of a chain of sectors, up to a bound that no directory of a real file reaches. */
  async chain(first: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (let sector = first; sector < noMore && parts.length < mostSectors; ) {
      const bytes = await this.#read(sector);
      if (bytes.length === 0) break;
      parts.push(bytes);
      sector = await this.#next(sector);
    }
    return Buffer.concat(parts);
  }

  #read(sector: number): Promise<Buffer> {
    return this.#file.read((sector + 1) * this.#size, this.#size);
  }

  async #next(sector: number): Promise<number> {
    const perSector = this.#size / 4;
    const table = await this.#tableSector(Math.floor(sector / perSector));
    const bytes = table < noMore ? await this.#read(table) : Buffer.alloc(0);
    const at = (sector % perSector) * 4;
    return at + 4 <= bytes.length ? bytes.readUInt32LE(at) : noMore;
  }

  /** Where the n-th sector of the table stands: in the header, and for large files in a chain of lists. */
  async #tableSector(index: number): Promise<number> {
    if (index < inHeader) return this.#header.readUInt32LE(76 + index * 4);
    const perList = this.#size / 4 - 1;
    let list = this.#header.readUInt32LE(68);
    for (
      let skip = Math.floor((index - inHeader) / perList);
      skip > 0 && list < noMore;
      skip -= 1
    ) {
      const bytes = await this.#read(list);
      list = bytes.length === this.#size ? bytes.readUInt32LE(perList * 4) : noMore;
    }
    const bytes = list < noMore ? await this.#read(list) : Buffer.alloc(0);
    const at = ((index - inHeader) % perList) * 4;
    return at + 4 <= bytes.length ? bytes.readUInt32LE(at) : noMore;
  }
}

function rootNames(directory: Buffer): string[] {
  const names: string[] = [];
  const seen = new Set<number>();
  const waiting = [linkAt(directory, 0, 76)];
  for (let index = waiting.pop(); index !== undefined; index = waiting.pop()) {
    const at = index * entrySize;
    if (index >= noMore || seen.has(index) || at + entrySize > directory.length) continue;
    seen.add(index);
    const length = Math.min(64, Math.max(0, directory.readUInt16LE(at + 64) - 2));
    names.push(directory.toString('utf16le', at, at + length));
    waiting.push(linkAt(directory, index, 68), linkAt(directory, index, 72));
  }
  return names;
}

function linkAt(directory: Buffer, index: number, field: number): number {
  const at = index * entrySize + field;
  return at + 4 <= directory.length ? directory.readUInt32LE(at) : noMore;
}
