/** Resumable downloads: fetches one file completely, across lost connections, expired URLs and changed files. */

import { createHash, type Hash } from 'node:crypto';
import { backoffMs, type RetryPolicy } from '../api/retry.js';
import { checkContentEncoding, mayBeExpired, tooLong, wrongSize } from '../api/store/answers.js';
import type { Download, FilePart } from '../api/store/download.js';
import {
  contentRange,
  type FileVersion,
  isPartOf,
  isSameFile,
  lengthOf,
  mayBeSame,
  md5Of,
  rangeValidator,
  versionOf,
} from '../api/store/file-version.js';
import type { Link } from '../api/types.js';
import { groupedNumber } from '../data/text.js';
import { CancelledError, NetworkError, ProtocolError, StoreError } from '../errors.js';

/** The destination of one file's bytes. */
export interface FileSink {
  /** True if it can discard its bytes and start over; a pipe cannot. */
  readonly rewinds: boolean;
  /** Called for each answer: the next bytes belong at offset `at`; bytes beyond it are dropped. */
  begin(at: number, headers: Download['headers']): Promise<void>;
  write(chunk: Uint8Array): Promise<void>;
}

/** The source of one file's bytes. */
export interface FileSource {
  /** A fresh signed URL, or the bytes themselves. */
  link(): Promise<Link>;
  get(url: string, part?: FilePart): Promise<Download>;
  /** The file's size according to its record, in bytes. */
  readonly size: number | undefined;
  /** Looks up that size, and prints a note if there is none. Called if no response shows where the file ends. */
  findSize(): Promise<number | undefined>;
}

/**
 * Downloads a complete file into its sink and returns its size in bytes. After a lost connection it
 * requests the rest, as long as there is progress and `retries` times without; it renews an expired URL
 * and restarts a file that changed. Throws what the calls throw, ProtocolError for a size other than
 * promised, CancelledError.
 */
export function download(source: FileSource, sink: FileSink, policy: RetryPolicy): Promise<number> {
  return new Fetching(source, sink, policy).run();
}

class Fetching {
  private at = 0;
  private version: FileVersion = {};
  /** The furthest offset ever reached; only bytes beyond it count as progress. */
  private furthest = 0;
  private losses = 0;
  private restarts = 0;
  private url: string | undefined;
  private renewed = false;
  private md5: { readonly expected: string; readonly hash: Hash } | undefined;
  /** The file's size according to its record. */
  private recorded: number | undefined;

  constructor(
    private readonly source: FileSource,
    private readonly sink: FileSink,
    private readonly policy: RetryPolicy,
  ) {
    this.recorded = source.size;
  }

  async run(): Promise<number> {
    for (;;) {
      try {
        if (await this.attempt()) return this.at;
      } catch (error) {
        await this.afterLoss(error);
      }
    }
  }

  /** Sends one request; returns true once the file is complete. Throws ConnectionLost for a truncated body. */
  private async attempt(): Promise<boolean> {
    if (this.policy.signal.aborted) throw new CancelledError('Interrupted.');
    if (this.url === undefined) {
      const link = await this.source.link();
      if (link.kind === 'bytes') return this.receiveBytes(link.bytes, link.headers);
      this.url = link.url;
    }
    const part = this.nextPart();
    const answer = await this.open(this.url, part);
    if (!answer) return false;
    try {
      const skip = await this.position(answer, part);
      if (skip === undefined) return false;
      await this.copy(answer, skip);
    } finally {
      answer.drop();
    }
    if (await this.endedWithConnection(answer.headers)) this.requireSize(this.recorded);
    return this.checkComplete();
  }

  /** True for a file that ended with its connection, which may have cut it: looks up its size. */
  private async endedWithConnection(headers: Download['headers']): Promise<boolean> {
    const { size } = this.version;
    if (size !== undefined || /\bchunked\b/i.test(headers['transfer-encoding'] ?? '')) return false;
    this.recorded ??= await this.source.findSize();
    return true;
  }

  /** The range to request. Without a validator nothing shows that the file is still the same. */
  private nextPart(): FilePart | undefined {
    const ifRange = rangeValidator(this.version);
    return this.at > 0 && ifRange !== undefined ? { from: this.at, ifRange } : undefined;
  }

  /** Opens the URL; undefined means ask again, with a new URL or from the start. */
  private async open(url: string, part: FilePart | undefined): Promise<Download | undefined> {
    try {
      return await this.source.get(url, part);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      if (part && error.status === 416) return this.startOver();
      if (this.renewed || !mayBeExpired(error)) throw error;
      this.renewed = true;
      this.url = undefined;
      return undefined;
    }
  }

  /** Positions the sink for an answer; returns how many of its bytes to skip, or undefined = ask again. */
  private async position(
    answer: Download,
    part: FilePart | undefined,
  ): Promise<number | undefined> {
    const { status, headers } = answer;
    if (status !== 206) {
      const version = versionOf(headers, lengthOf(headers['content-length']));
      checkContentEncoding(headers, version.size, this.recorded);
      this.checkSize(version.size);
      return this.beginWhole(version, headers);
    }
    const range = contentRange(headers['content-range']);
    const size = range?.total ?? this.version.size ?? this.recorded;
    const version = versionOf(headers, size);
    checkContentEncoding(headers, size, this.recorded);
    if (!part) throw new ProtocolError('The file store sent an unrequested part (206).');
    // If the size is unknown, the end of a part may not be the end of the file.
    if (size === undefined) return this.startOver();
    if (range?.first !== part.from || !isPartOf(version, this.version)) return this.startOver();
    const { etag = version.etag, lastModified = version.lastModified } = this.version;
    this.version = { etag, lastModified, size: version.size };
    await this.sink.begin(this.at, headers);
    return 0;
  }

  private async beginWhole(version: FileVersion, headers: Download['headers']): Promise<number> {
    const skip = this.at;
    if (skip > 0 && !this.sink.rewinds && isSameFile(version, this.version)) return skip;
    if (skip > 0 && !this.sink.rewinds) throw this.cannotResume();
    // The same file from its start is not progress; another file resets the progress.
    if (skip > 0 && !mayBeSame(version, this.version)) this.countRestart();
    this.version = version;
    this.at = 0;
    await this.sink.begin(0, headers);
    this.md5 = hashFor(headers);
    return 0;
  }

  private async copy({ bytes }: Download, skip: number): Promise<void> {
    let before = skip;
    try {
      for await (const chunk of bytes) {
        if (this.policy.signal.aborted) throw new CancelledError('Interrupted.');
        const fresh = chunk.subarray(Math.min(before, chunk.length));
        before -= chunk.length - fresh.length;
        if (fresh.length === 0) continue;
        this.checkRoom(fresh.length);
        await this.sink.write(fresh);
        this.md5?.hash.update(fresh);
        this.at += fresh.length;
      }
    } catch (error) {
      throw error instanceof NetworkError ? new ConnectionLost(error) : error;
    }
  }

  private async receiveBytes(bytes: Buffer, headers: Download['headers']): Promise<boolean> {
    await this.beginWhole({ size: lengthOf(headers['content-length']) }, headers);
    await this.endedWithConnection(headers);
    this.checkSize(bytes.length);
    // The ETag of the service is no MD5 of a file.
    this.md5 = undefined;
    await this.sink.write(bytes);
    this.at = bytes.length;
    return this.checkComplete();
  }

  /** Checks size and MD5. Throws ConnectionLost if bytes are missing, so that the rest is requested. */
  private checkComplete(): true {
    const { size } = this.version;
    this.requireSize(size);
    this.checkSize(this.at);
    if (size !== undefined && this.at > size) throw wrongSize(this.at, 'the store', size);
    if (this.md5 && this.md5.hash.digest('hex') !== this.md5.expected)
      throw new ProtocolError(
        'The downloaded bytes do not match the checksum of the store (MD5).',
        {
          code: 'wrongHash',
          hint: 'Nothing was saved. Try again; if it happens again, upload the document again.',
        },
      );
    return true;
  }

  /** Throws ConnectionLost if fewer bytes have arrived. */
  private requireSize(size: number | undefined): void {
    if (size !== undefined && this.at < size) throw new ConnectionLost(this.endedEarly(size));
  }

  private checkSize(size: number | undefined): void {
    const { recorded: promised } = this;
    if (size !== undefined && promised !== undefined && size !== promised)
      throw wrongSize(size, 'the record', promised);
  }

  /** Throws for more bytes than promised, which could fill the disk. */
  private checkRoom(more: number): void {
    const promised = this.recorded ?? this.version.size;
    if (promised !== undefined && this.at + more > promised)
      throw tooLong(this.recorded === undefined ? 'the store' : 'the record', promised);
  }

  /** Starts over: the bytes belong to another file, or cannot be continued. Throws if the sink cannot rewind. */
  private startOver(): undefined {
    if (!this.sink.rewinds) throw this.cannotResume();
    this.countRestart();
    this.at = 0;
    return undefined;
  }

  private countRestart(): void {
    this.restarts += 1;
    this.furthest = 0;
    if (this.restarts > this.policy.retries + 1)
      throw new ProtocolError('The file store returns a different file each time it is asked.', {
        hint: 'Wait until the document is no longer being replaced, then run the same command again.',
      });
  }

  private async afterLoss(error: unknown): Promise<void> {
    if (!(error instanceof ConnectionLost)) throw error;
    if (!this.countLoss())
      throw this.sink.rewinds ? error.networkError : this.cannotResume(error.networkError);
    const { random, sleep, signal } = this.policy;
    await sleep(backoffMs(this.losses - 1, false, random), signal);
  }

  /** Counts a lost connection; returns false after too many without progress. */
  private countLoss(): boolean {
    if (this.at > this.furthest) {
      this.furthest = this.at;
      this.losses = 0;
      this.renewed = false;
    }
    this.losses += 1;
    return this.losses <= this.policy.retries;
  }

  private endedEarly(size: number): NetworkError {
    const { origin } = new URL(this.url ?? '');
    return new NetworkError(
      `${origin} ended the file after ${groupedNumber(this.at)} of ${groupedNumber(size)} bytes.`,
      { reason: 'lost', origin },
    );
  }

  private cannotResume(cause?: NetworkError): NetworkError {
    const { size = this.recorded } = this.version;
    const origin = this.url === undefined ? '' : new URL(this.url).origin;
    return new NetworkError(
      `The download was interrupted after ${groupedNumber(this.at)}${size === undefined ? '' : ` of ${groupedNumber(size)}`} bytes and cannot be continued. They were already passed on, so the file is incomplete.`,
      {
        reason: cause?.details.reason ?? 'lost',
        origin,
        hint: 'Download it to a file, which can be continued: -O FILE',
        cause,
      },
    );
  }
}

/** Thrown if the body of an answer breaks off. */
class ConnectionLost {
  constructor(readonly networkError: NetworkError) {}
}

function hashFor(headers: Download['headers']) {
  const expected = md5Of(headers);
  return expected === undefined ? undefined : { expected, hash: createHash('md5') };
}
