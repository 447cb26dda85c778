/** Downloads one document: asks for its link, fetches the file, and saves it. */

import { stat } from 'node:fs/promises';
import { resource } from '../api/resources.js';
import type { Call, Link } from '../api/types.js';
import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { recordedSize } from '../data/path.js';
import { systemReason } from '../data/system-errors.js';
import { groupedNumber, plural } from '../data/text.js';
import { pause } from '../data/time.js';
import { ApiError, CancelledError, NetworkError, OutputError, StoreError } from '../errors.js';
import { sweepStaleTemps } from '../files/atomic-write.js';
import { partialNames, sweepPartial } from '../files/partial-file.js';
import type { DownloadWorker } from './download-run.js';
import { createMeter, type Meter } from './meter.js';
import type { Mirror } from './mirror.js';
import { download, type FileSink, type FileSource } from './resumable-download.js';
import {
  type FileOf,
  inspectTarget,
  openTarget,
  pipeSink,
  type SaveOptions,
} from './target-file.js';
import type { Naming, Target } from './target-names.js';

/** The endpoints whose answer leads to a file (contract 4.4). */
export type DownloadCall = 'downloadDocument' | 'previewDocument';

/** Marks a row whose file already existed, and says how it compares. For people only: no machine format has a field for it. */
export const wasSkipped = Symbol('skipped');

/** How a file that was left as it is compares with its document. */
type SkipReason = 'unchanged' | 'same name and size' | 'exists';

/** A file that exists now. */
interface SavedRow {
  readonly id: string;
  readonly path: string;
  readonly bytes: number;
  readonly [wasSkipped]?: SkipReason;
}

/** The call for the file of a document. */
export function downloadCall(endpoint: DownloadCall, id: string): Call {
  return { endpoint, params: { [resource('documents').idName]: id } };
}

/** Requests the signed URL of a document; the `fileUrl` of its record is never one (contract 2.5). */
export function linkOf(context: Context, endpoint: DownloadCall, id: string): Promise<Link> {
  return context.api.link(downloadCall(endpoint, id));
}

/** Downloads the file of a document into a sink and returns its size. Throws as `download` does. */
export async function fetchDocument(
  context: Context,
  endpoint: DownloadCall,
  id: string,
  size: number | undefined,
  sink: FileSink,
): Promise<number> {
  const files = await context.files();
  const source: FileSource = {
    link: () => linkOf(context, endpoint, id),
    get: (url, part) => files.get(url, part),
    size,
  };
  const { retries, maxWaitMs } = context.settings;
  const { signal } = context;
  return download(source, sink, {
    retries,
    maxWaitMs,
    signal,
    sleep: pause,
    random: Math.random,
  });
}

/** The destination of one document's file. */
interface SaveTo {
  readonly path: string;
  readonly options: SaveOptions;
  /** Wraps the sink so that its bytes are counted. */
  readonly watch: (sink: FileSink) => FileSink;
  readonly note: (line: string) => void;
}

/**
 * Downloads the file of a document to a path and returns its size. What an interrupted download leaves
 * stays beside it for the next run. Throws as `download` and the file system do.
 */
export async function saveDocument(
  context: Context,
  endpoint: DownloadCall,
  document: Pick<Target, 'id' | 'record'>,
  { path, options, watch, note }: SaveTo,
): Promise<number> {
  const { id, record } = document;
  const file = await openTarget(context, path, options, ownerOf(context, endpoint, document));
  try {
    const bytes = await fetchDocument(
      context,
      endpoint,
      id,
      recordedSize(record),
      watch(file.sink),
    );
    await file.commit();
    return bytes;
  } catch (error) {
    const partialBytes = isResumable(error) ? await file.keepPartial() : 0;
    if (partialBytes > 0)
      note(
        `${plural(partialBytes, 'byte')} stay in ${partialNames(path).bytes}; run the same command again to continue.`,
      );
    throw error;
  } finally {
    await file.discard();
  }
}

/** Identifies what a partial file belongs to; only the same download may resume it. */
function ownerOf(
  { api }: Context,
  endpoint: DownloadCall,
  { id, record }: Pick<Target, 'id' | 'record'>,
): FileOf {
  const { baseUrl, organizationId } = api;
  const { fileKey, sizeBytes, updatedAt } = record ?? {};
  const asOf = typeof updatedAt === 'string' ? updatedAt : undefined;
  return { baseUrl, organizationId, call: endpoint, id, fileKey, sizeBytes, asOf };
}

/**
 * Creates a worker that saves documents, any number concurrently, under one progress line; a file sent
 * to stdout has no row. `isOne`: print a note for a skipped file. The work throws as `download` and the
 * file system do.
 */
export async function createDownloader(
  context: Context,
  endpoint: DownloadCall,
  naming: Naming,
  save: SaveOptions,
  { isOne, mirror }: { readonly isOne: boolean; readonly mirror: Mirror | undefined },
): Promise<DownloadWorker<SavedRow>> {
  if (save.file !== '-') await sweepStaleTemps(save.folder ?? '.', context.now());
  const meter = createMeter(context, naming.targets);
  const saver = new Saver(context, endpoint, naming, save, meter, isOne, mirror);
  return {
    work: (target) => saver.save(target),
    printBeside: (say) => meter.printBeside(say),
    async close() {
      await mirror?.write();
      meter.stop();
    },
  };
}

class Saver {
  constructor(
    private readonly context: Context,
    private readonly endpoint: DownloadCall,
    private readonly naming: Naming,
    private readonly options: SaveOptions,
    private readonly meter: Meter,
    private readonly isOne: boolean,
    private readonly mirror: Mirror | undefined,
  ) {}

  async save(target: Target): Promise<SavedRow | undefined> {
    const { id, record, path } = target;
    const counted = this.meter.begin(target);
    try {
      if (path === '-') {
        await this.fetch(id, record, counted.watch(pipeSink(this.context)));
        return undefined;
      }
      const row =
        path === undefined
          ? await this.saveByHeaders(target, counted)
          : await this.saveAs(path, target, counted);
      if (!this.mirror || wasSkipped in row) return row;
      return { ...row, ...(await this.mirror.saved(target, row)) };
    } finally {
      counted.end();
    }
  }

  private async saveAs(
    path: string,
    target: Target,
    counted: ReturnType<Meter['begin']>,
  ): Promise<SavedRow> {
    const { id, record, replaces } = target;
    const options = replaces ? { ...this.options, onExisting: 'overwrite' as const } : this.options;
    if ((await inspectTarget(path, options)) === 'skipped') return this.skip(target, path);
    const watch = (sink: FileSink) => counted.watch(sink);
    const to = { path, options, watch, note: (line: string) => this.note(line) };
    const bytes = await saveDocument(this.context, this.endpoint, { id, record }, to);
    return { id, path, bytes };
  }

  /** Saves a file under the name from the first answer; without a path there is no partial file to resume. */
  private async saveByHeaders(
    target: Target,
    counted: ReturnType<Meter['begin']>,
  ): Promise<SavedRow> {
    const { id, record } = target;
    let path: string | undefined;
    let file: Awaited<ReturnType<typeof openTarget>> | undefined;
    const sink: FileSink = {
      at: 0,
      version: {},
      rewinds: true,
      begin: async (version, at, headers) => {
        path ??= this.naming.pathFromHeaders(headers, id);
        if (!file && (await inspectTarget(path, this.options)) === 'skipped') throw new Skipped();
        file ??= await openTarget(
          this.context,
          path,
          this.options,
          ownerOf(this.context, this.endpoint, target),
        );
        await file.sink.begin(version, at, headers);
      },
      write: async (chunk) => file?.sink.write(chunk),
    };
    try {
      const bytes = await this.fetch(id, record, counted.watch(sink));
      await file?.commit();
      return { id, path: path ?? '', bytes };
    } catch (error) {
      if (error instanceof Skipped) return await this.skip(target, path ?? '');
      throw error;
    } finally {
      await file?.discard();
    }
  }

  private fetch(id: string, record: JsonObject | undefined, sink: FileSink): Promise<number> {
    return fetchDocument(this.context, this.endpoint, id, recordedSize(record), sink);
  }

  private async skip({ id, record, isUnchanged }: Target, path: string): Promise<SavedRow> {
    const { size } = await stat(path).catch((error: unknown) => {
      throw new OutputError(`${path} cannot be read: ${systemReason(error)}.`, {
        cause: error,
      });
    });
    await sweepPartial(path, this.context.self);
    const expectedSize = recordedSize(record);
    const why = isUnchanged ? 'unchanged' : expectedSize === size ? 'same name and size' : 'exists';
    if (expectedSize !== undefined && expectedSize !== size)
      this.meter.printBeside(() =>
        this.context.message(
          `${path} was left as it is, but it has ${plural(size, 'byte')} and the document ${id} has ${groupedNumber(expectedSize)}.`,
        ),
      );
    else if (this.isOne) this.note(skipNotes[why](path));
    return { id, path, bytes: size, [wasSkipped]: why };
  }

  private note(line: string): void {
    this.meter.printBeside(() => this.context.note(line));
  }
}

const skipNotes: { readonly [why in SkipReason]: (path: string) => string } = {
  unchanged: (path) => `${path} is unchanged since it was downloaded.`,
  'same name and size': (path) =>
    `${path} was left as it is: it has the name and the size of the document, and only these were compared.`,
  exists: (path) => `${path} already exists; it was left as it is.`,
};

/** Thrown if the file named by the store already exists. */
class Skipped extends Error {
  override readonly name = 'Skipped';
}

/** True if a later run may download the rest. */
function isResumable(error: unknown): boolean {
  return [CancelledError, NetworkError, StoreError, ApiError].some((kind) => error instanceof kind);
}
