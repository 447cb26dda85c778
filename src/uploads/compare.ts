/** Compares a file with the documents that exist, so that uploading it again adds nothing. */

import type { Context } from '../context.js';
import type { JsonObject } from '../data/json.js';
import { lazy } from '../data/lazy.js';
import { recordedSize } from '../data/path.js';
import { lagMs, pause } from '../data/time.js';
import { GuardError, NotFoundError } from '../errors.js';
import { tagNamesIn } from '../resources/document-tags.js';
import { hashOfUpload, stillHasContent } from './content.js';
import { type Documents, otherContent, readDocuments, shownDifference } from './documents.js';
import {
  idsOfContent,
  memoryStats,
  mostHashedBytes,
  nameMark,
  readUploadMemory,
  rememberUpload,
  type UploadMemory,
} from './memory.js';
import type { InspectedFile, UploadJob } from './plan.js';
import type { UploadFile } from './upload-source.js';

interface ExistingDocument {
  /** Undefined for an earlier file of the same command, whose document is still to come. */
  readonly id?: string | undefined;
  /** Its record; undefined if the list does not show it. */
  readonly record?: JsonObject | undefined;
  /** How that is known: `uploaded before as doc_0018 (same content)`. */
  readonly message: string;
}

/** The code of a file that a document holds already. */
export const existsAlready = 'exists';

interface Compared {
  readonly file: InspectedFile;
  readonly name: string;
  /** As named on the command line. */
  readonly path: string;
  readonly bytes: Pick<UploadFile, 'open'>;
  /** The hash of the bytes, if it is known. */
  readonly sha256?: string | undefined;
}

/** Named whole, because `uploads finish` has no such flag. */
const uploadAgain = 'rosterctl docs upload FILE --if-exists';

/** So often a list that may lag behind an upload is read again, after a second each. */
const mostLagReads = 5;

/** Finds the documents of the files of a run, by the list and by what this machine uploaded before. */
export class DocumentFinder {
  private finder: Promise<Finder> | undefined;
  /** The bytes of this machine's memory of uploads that this run knows of. */
  private knownBytes = 0;
  /** When another run last uploaded something, as far as this one knows. */
  private othersAt = 0;
  /** The documents were read again since the files were compared: each other file is compared with them, too. */
  private isRenewed = false;
  /** The ids of the documents that this run created, with which its other files are not compared. */
  private readonly own = new Set<string>();

  constructor(
    private readonly context: Context,
    private readonly job: UploadJob,
  ) {}

  /**
   * Finds the document of a file: by its content among those that this machine uploaded, then by name,
   * type and size in the list, which is read once. Throws GuardError `exists` for `--if-exists error`.
   * Where the list cannot tell, it warns, and with `--if-exists` typed out it throws GuardError
   * `incomplete`, or the refusal of the list (403). For a file that replaces a document, see
   * `Finder.findReplacement`.
   */
  async find(compared: Compared): Promise<ExistingDocument | undefined> {
    const { replaces, ifExists } = this.job;
    if (replaces === undefined && ifExists === 'duplicate') return undefined;
    let finder = await (this.finder ??= this.open());
    for (let reads = 0; reads < mostLagReads && finder.lacksUploadOf(compared.file); reads += 1) {
      const left = this.othersAt + mostLagReads * lagMs - this.context.now().getTime();
      if (left <= 0) break;
      if (reads === 0)
        this.context.note('Waiting until the list shows what another command has just uploaded.');
      await pause(Math.min(left, lagMs), this.context.signal);
      this.renew();
      finder = await (this.finder ??= this.open());
    }
    if (replaces !== undefined) return finder.findReplacement(compared, replaces);
    const found = await finder.find(compared);
    if (found && ifExists === 'error')
      throw new GuardError(`${compared.path} would be a duplicate: ${found.message}.`, {
        code: existsAlready,
        hint: `Skip such files: ${uploadAgain} skip\nUpload them again: ${uploadAgain} duplicate`,
      });
    return found;
  }

  /** Finds the document of a file that another process uploaded since the files of this run were compared. */
  async findNew(compared: Compared): Promise<ExistingDocument | undefined> {
    if (memoryStats(this.context).size !== this.knownBytes) this.renew();
    return this.isRenewed ? this.find(compared) : undefined;
  }

  /** Compares the files of a resumed run, because others may be uploaded since; `ids`: what the run created. */
  resume(ids: readonly unknown[]): void {
    for (const id of ids) this.own.add(String(id));
    this.isRenewed = true;
  }

  /** Reads the documents again for the next comparison: one may be there that this machine does not remember. */
  renew(): void {
    if (!this.finder) return;
    this.finder = undefined;
    this.isRenewed = true;
  }

  /** Remembers a document of this run. */
  async remember(uploaded: Parameters<typeof rememberUpload>[1]): Promise<void> {
    this.own.add(uploaded.id);
    // Added only now, because other files are remembered at the same time.
    const bytes = await rememberUpload(this.context, uploaded);
    this.knownBytes += bytes;
  }

  private async open(): Promise<Finder> {
    const { context, job } = this;
    const { size, mtimeMs } = memoryStats(context);
    if (size !== this.knownBytes) this.othersAt = mtimeMs;
    this.knownBytes = size;
    const memory = readUploadMemory(context);
    return new Finder(context, job, await readDocuments(context), memory, this.own);
  }
}

/** How a document with the name of a file differs from it, if that is known. */
type FileDifference = 'content' | 'size' | 'type' | 'none' | 'unclear';

/** So many files with the name of another document are reported. */
const mostReported = 20;

class Finder {
  private reported = 0;
  private hasWarned = false;
  /** The sizes of the files that this machine uploaded: others need no hash. */
  private readonly sizes: ReadonlySet<number>;
  /** The newest upload of this machine that another run made. */
  private readonly newest;
  /** Why there may be more documents than the list shows. */
  private readonly doubt: string | undefined;

  constructor(
    private readonly context: Context,
    private readonly job: UploadJob,
    private readonly documents: Documents,
    private readonly memory: UploadMemory,
    private readonly own: ReadonlySet<string>,
  ) {
    this.sizes = new Set([...memory.values()].map(({ sizeBytes }) => sizeBytes));
    this.newest = [...memory.values()].findLast(({ id }) => !own.has(id));
    const { byId, byName, doubt } = documents;
    const isNameless = byId.size > 0 && byName.size === 0;
    this.doubt = doubt ?? (isNameless ? 'the list of documents shows no names' : undefined);
  }

  /** True if this file may be the newest upload, which the list does not show, or not yet. */
  lacksUploadOf({ sizeBytes }: InspectedFile): boolean {
    const { newest } = this;
    const { byId, doubt } = this.documents;
    return newest?.sizeBytes === sizeBytes && !byId.has(newest.id) && doubt === undefined;
  }

  async find(compared: Compared): Promise<ExistingDocument | undefined> {
    const { file, name, path, bytes, sha256 } = compared;
    const { sameAs, sizeBytes } = file;
    if (sameAs !== undefined) return { message: `same name and content as ${sameAs}` };
    // An empty file has the content of every other one.
    const isHashed = sizeBytes > 0 && sizeBytes <= mostHashedBytes;
    const isRemembered = isHashed && this.sizes.has(sizeBytes);
    // A file that there is nothing to compare with is read only once: while it is sent.
    const hash = lazy(async () => sha256 ?? (await hashOfUpload(bytes, path, this.context.signal)));
    const uploaded = isRemembered && (await this.byContent(compared, await hash()));
    if (uploaded) return uploaded;
    const others: [difference: FileDifference, record: JsonObject][] = [];
    for (const record of this.documents.byName.get(name.normalize()) ?? []) {
      if (this.own.has(idOf(record))) continue;
      const difference = await this.compare(record, file, isRemembered, hash);
      const id = String(record['id']);
      if (difference === 'none') {
        const message = this.job.verify
          ? `same name and content as ${id}`
          : `same name, type and size as ${id}; content not compared (--verify compares it)`;
        return { id, record, message };
      }
      others.push([difference, record]);
    }
    const unclear = others.find(([difference]) => difference === 'unclear');
    if (unclear) this.warn(`the list does not show the type and size of ${idOf(unclear[1])}`);
    else if (this.doubt !== undefined) this.warn(this.doubt);
    else if (others[0]) this.reportOther(path, ...others[0]);
    return undefined;
  }

  /**
   * Finds the document that makes it unnecessary to replace another one: that itself, if it holds these
   * bytes already, or the one that an earlier command uploaded in its place.
   */
  async findReplacement(
    { file, name, path, bytes }: Compared,
    replaces: string,
  ): Promise<ExistingDocument | undefined> {
    if (file.isMissing)
      throw new NotFoundError(`The document ${replaces} is not in the list of documents.`, {
        isProven: true,
        hint: 'See: rosterctl documents list',
      });
    const hash = lazy(() => hashOfUpload(bytes, path, this.context.signal));
    const { byId } = this.documents;
    const old = byId.get(replaces);
    if (old && recordedSize(old) === file.sizeBytes && !shownDifference(old, file))
      if (await stillHasContent(this.context, replaces, file, await hash()))
        return { id: replaces, record: old, message: `${replaces} already holds this content` };
    if (!this.sizes.has(file.sizeBytes)) return undefined;
    const sha256 = await hash();
    const tags = new Set(file.text?.tags);
    for (const id of idsOfContent(this.memory, sha256)) {
      const record = byId.get(id);
      if (!record || id === replaces || record['name'] !== name) continue;
      const held = tagNamesIn(record['tags']) ?? [];
      const hasTags = held.length === tags.size && held.every((tag) => tags.has(tag));
      if (hasTags && (await stillHasContent(this.context, id, file, sha256)))
        return { id, record, message: uploadedBefore(id) };
    }
    return undefined;
  }

  /** Finds the document with this content among those that this machine uploaded, preferably one of this name. */
  private async byContent(
    { file, name }: Pick<Compared, 'file' | 'name'>,
    sha256: string,
  ): Promise<ExistingDocument | undefined> {
    const named = this.documents.byName.get(name.normalize())?.map(idOf);
    const ids = idsOfContent(this.memory, sha256, named).filter(
      (id) => !this.own.has(id) && !(file.hasTwin && this.isOfOtherName(id, name)),
    );
    for (const id of ids) {
      const record = this.documents.byId.get(id);
      if (!record || shownDifference(record, file) === 'size') continue;
      if (this.job.verify && !(await stillHasContent(this.context, id, file, sha256))) continue;
      return { id, record, message: uploadedBefore(id) };
    }
    const [id] = ids;
    // A list that cannot be read whole does not prove that the document is gone.
    if (id === undefined || this.doubt === undefined || this.job.isStrict) return undefined;
    return { id, message: uploadedBefore(id) };
  }

  /** True for a document that was uploaded under another name: it may be that of another file with the same bytes. */
  private isOfOtherName(id: string, name: string): boolean {
    const mark = this.memory.get(id)?.name;
    return mark !== undefined && mark !== nameMark(name);
  }

  private async compare(
    record: JsonObject,
    file: InspectedFile,
    isRemembered: boolean,
    hash: () => Promise<string>,
  ): Promise<FileDifference> {
    const { id, contentType } = record;
    const difference = shownDifference(record, file);
    if (difference) return difference;
    if (typeof id !== 'string') return 'unclear';
    if (this.job.verify)
      return (await stillHasContent(this.context, id, file, await hash())) ? 'none' : 'content';
    const known = this.memory.get(id)?.sha256;
    if (isRemembered && known !== undefined && known !== (await hash())) return 'content';
    return recordedSize(record) !== undefined && typeof contentType === 'string'
      ? 'none'
      : 'unclear';
  }

  private reportOther(path: string, difference: FileDifference, record: JsonObject): void {
    this.reported += 1;
    if (this.reported === mostReported + 1)
      this.context.note('Other files also have the name of a document that differs.');
    if (this.reported > mostReported) return;
    this.context.note(otherContent(path, difference, idOf(record), record));
  }

  /** Says once that the list cannot tell. Throws where that was asked for. */
  private warn(reason: string): void {
    if (this.job.isStrict)
      throw (
        this.documents.refusal ??
        new GuardError(
          `Cannot tell which files were already uploaded, because ${reason}. Nothing was sent.`,
          { code: 'incomplete', hint: `To upload them anyway: ${uploadAgain} duplicate` },
        )
      );
    if (this.hasWarned || this.documents.isAssumedEmpty) return;
    this.hasWarned = true;
    this.context.message(
      `Files may be uploaded a second time, because ${reason}. To prevent that: ${uploadAgain} skip`,
    );
  }
}

function uploadedBefore(id: string): string {
  return `uploaded before as ${id} (same content)`;
}

function idOf({ id }: JsonObject): string {
  return typeof id === 'string' ? id : 'a document without an id';
}
