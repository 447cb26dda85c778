/** Downloads one document: fetches its file and saves it. */

import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Context } from '../context.js';
import { recordedSize } from '../data/path.js';
import { groupedNumber, plural } from '../data/text.js';
import { syncPath } from '../files/atomic-write.js';
import { sweepStaleTemps } from '../files/temporary.js';
import type { AtomicFile } from '../files/writing.js';
import type { DownloadWorker } from './download-run.js';
import { type DownloadCall, fetchDocument, hashedSink } from './fetch.js';
import { createMeter, type Meter } from './meter.js';
import type { Mirror } from './mirror.js';
import type { FileSink } from './resumable-download.js';
import {
  fileSink,
  nameFromHeaders,
  openTarget,
  pipeSink,
  type SaveOptions,
  skipsTarget,
} from './target-file.js';
import type { Naming, Target } from './target-names.js';

/** Marks a row whose file already existed, and says how it compares. For people only: no machine format has a field for it. */
export const wasSkipped = Symbol('skipped');

/** How a file that was left as it is compares with its document. */
type SkipReason = 'unchanged' | 'same name and size' | 'exists';

/** A file that exists now. */
export interface SavedRow {
  readonly id: string;
  readonly path: string;
  readonly bytes: number;
  readonly [wasSkipped]?: SkipReason;
}

/**
 * Creates a worker that saves documents, any number concurrently, under one progress line; a file sent
 * to stdout has no row. `isOne`: print a note for a skipped file. The work throws as `download` and the
 * file system do.
 */
export async function createDownloader(
  context: Context,
  call: DownloadCall,
  naming: Naming,
  save: SaveOptions,
  { isOne, mirror }: { readonly isOne: boolean; readonly mirror: Mirror | undefined },
): Promise<DownloadWorker<SavedRow>> {
  if (save.file !== '-') await sweepStaleTemps(folderOf(save), context.now());
  return new Saver(context, call, naming, save, isOne, mirror);
}

function folderOf({ folder, file }: SaveOptions): string {
  return folder ?? dirname(file ?? '.');
}

interface OpenedFile {
  readonly path: string;
  readonly file: AtomicFile;
  readonly sink: FileSink;
}

class Saver implements DownloadWorker<SavedRow> {
  private readonly meter: Meter;
  constructor(
    private readonly context: Context,
    private readonly call: DownloadCall,
    private readonly naming: Naming,
    private readonly options: SaveOptions,
    private readonly isOne: boolean,
    private readonly mirror: Mirror | undefined,
  ) {
    this.meter = createMeter(context, naming.targets);
  }

  async work(target: Target): Promise<SavedRow | undefined> {
    const counted = this.meter.begin(target.record);
    try {
      if (target.path !== '-') return await this.saveFile(target, counted.watch);
      await this.fetch(target, counted.watch(pipeSink(this.context)));
      return undefined;
    } catch (error) {
      if (error instanceof Skipped) return this.skip(target, error.path);
      throw error;
    } finally {
      counted.end();
    }
  }

  printBeside(say: () => void): void {
    this.meter.printBeside(say);
  }

  async close(): Promise<void> {
    const { options, mirror, meter } = this;
    try {
      if (options.file !== '-') await syncPath(folderOf(options));
    } finally {
      await mirror?.write();
      mirror?.release();
      meter.stop();
    }
  }

  /** Saves a file under the path of its target; without one, the first answer names it. */
  private async saveFile(
    target: Target,
    watch: (sink: FileSink) => FileSink,
  ): Promise<SavedRow | undefined> {
    const { naming, mirror } = this;
    const { id } = target;
    let placed = target;
    let opened: OpenedFile | undefined;
    const sink: FileSink = {
      get rewinds() {
        return opened?.sink.rewinds ?? true;
      },
      begin: async (at, headers) => {
        if (!opened) {
          if (mirror) placed = await mirror.placeNamed(target, nameFromHeaders(headers, id));
          opened = await this.open(placed, placed.path ?? naming.pathFromHeaders(headers, id));
        }
        await opened.sink.begin(at, headers);
      },
      write: async (chunk) => opened?.sink.write(chunk),
    };
    const hashed = mirror && hashedSink(sink);
    try {
      if (target.path !== undefined) opened = await this.open(target, target.path);
      const bytes = await this.fetch(target, watch(hashed ?? sink));
      if (!opened) return undefined;
      const { path, file } = opened;
      if (placed.replaces) await mirror?.requireUnchanged(placed, path);
      await file.commit();
      if (!hashed) return { id, path, bytes };
      return { id, ...(await mirror.saved(placed, { path, bytes, sha256: hashed.sha256() })) };
    } finally {
      await opened?.file.discard();
    }
  }

  private async open({ replaces }: Target, path: string): Promise<OpenedFile> {
    const options = replaces ? { ...this.options, onExisting: 'overwrite' as const } : this.options;
    if (skipsTarget(path, options)) throw new Skipped(path);
    const file = await openTarget(this.context, path, options);
    return { path, file, sink: fileSink(file) };
  }

  private fetch({ id, record }: Target, sink: FileSink): Promise<number> {
    return fetchDocument(this.context, id, recordedSize(record), sink, this.call);
  }

  private async skip({ id, record, isUnchanged }: Target, path: string): Promise<SavedRow> {
    const { size } = await stat(path);
    const expectedSize = recordedSize(record);
    const why = isUnchanged ? 'unchanged' : expectedSize === size ? 'same name and size' : 'exists';
    if (expectedSize !== undefined && expectedSize !== size)
      this.printBeside(() =>
        this.context.message(
          `${path} was left as it is, but it has ${plural(size, 'byte')} and the document ${id} has ${groupedNumber(expectedSize)}.`,
        ),
      );
    else if (this.isOne) this.printBeside(() => this.context.note(skipNotes[why](path)));
    return { id, path, bytes: size, [wasSkipped]: why };
  }
}

const skipNotes: { readonly [why in SkipReason]: (path: string) => string } = {
  unchanged: (path) => `${path} has not changed since it was downloaded.`,
  'same name and size': (path) =>
    `${path} was left as it is: it has the name and the size of the document, and only these were compared.`,
  exists: (path) => `${path} already exists; it was left as it is.`,
};

/** Thrown for a file that exists and stays. */
class Skipped extends Error {
  override readonly name = 'Skipped';

  constructor(readonly path: string) {
    super(path);
  }
}
