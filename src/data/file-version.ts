/** What a store says of the file that it hands out, so that a later piece is known to be of the same one. */
export interface FileVersion {
  readonly etag?: string | undefined;
  readonly lastModified?: string | undefined;
  /** Bytes of the whole file. */
  readonly size?: number | undefined;
}

interface Headers {
  readonly [name: string]: string;
}

/** The version in the headers of an answer; `size` comes from elsewhere, for a part has another length. */
export function versionOf(headers: Headers, size: number | undefined): FileVersion {
  return { etag: headers['etag'], lastModified: headers['last-modified'], size };
}

/**
 * The MD5 of the whole file, in hex, where a store tells it: a strong tag of 32 hex digits, unless
 * the object is encrypted with a key of its own (the tag of one sent in parts has a `-`), or Google's
 * hash header.
 */
export function md5Of(headers: Headers): string | undefined {
  const google = /(?:^|[ ,])md5=([A-Za-z0-9+/]{22}==)/.exec(headers['x-goog-hash'] ?? '')?.[1];
  if (google !== undefined) return Buffer.from(google, 'base64').toString('hex');
  const encryption = headers['x-amz-server-side-encryption'] ?? 'AES256';
  const ownKey = headers['x-amz-server-side-encryption-customer-algorithm'] !== undefined;
  if (encryption !== 'AES256' || ownKey) return undefined;
  return /^"([0-9a-f]{32})"$/i.exec(headers['etag'] ?? '')?.[1]?.toLowerCase();
}

/**
 * Whether the bytes of an answer are others than those of the file. `aws-chunked` is how a file once
 * came to S3, which repeats the word and hands out the file itself.
 */
export function isEncoded(headers: Headers): boolean {
  const words = (headers['content-encoding'] ?? '').toLowerCase().split(/[\s,]+/);
  return words.some((word) => !['', 'identity', 'aws-chunked'].includes(word));
}

/** The value of If-Range (RFC 9110 13.1.5): a strong tag, else the date; a weak tag is no proof. */
export function rangeValidator({ etag, lastModified }: FileVersion): string | undefined {
  return etag !== undefined && !isWeak(etag) ? etag : lastModified;
}

/** Whether two answers may be of one file: nothing that both of them say differs. */
export function mayBeSame(one: FileVersion, other: FileVersion): boolean {
  return (
    agree(one.size, other.size) &&
    agree(one.etag && opaque(one.etag), other.etag && opaque(other.etag)) &&
    agree(one.lastModified, other.lastModified)
  );
}

/**
 * Whether a part (206) shows that it is of the file of the first answer: it repeats what that said of
 * its version, which RFC 9110 15.3.7 asks for.
 */
export function isPartOf(part: FileVersion, first: FileVersion): boolean {
  if (!mayBeSame(part, first)) return false;
  if (first.etag !== undefined) return part.etag !== undefined;
  return first.lastModified === undefined || part.lastModified !== undefined;
}

/** Whether two answers surely are of one file: a strong tag, or date and size, are the same. */
export function isSame(one: FileVersion, other: FileVersion): boolean {
  if (!mayBeSame(one, other)) return false;
  const { etag, lastModified, size } = one;
  if (etag !== undefined && other.etag !== undefined) return !isWeak(etag) && !isWeak(other.etag);
  const dated = lastModified !== undefined && other.lastModified !== undefined;
  return dated && size !== undefined && other.size !== undefined;
}

/** `bytes 5-9/10` or `bytes 5-9/*`; undefined for anything else, also for an impossible one. */
export function contentRange(
  header: string | undefined,
):
  | { readonly first: number; readonly last: number; readonly total: number | undefined }
  | undefined {
  const [, from, to, whole] =
    /^bytes (\d{1,16})-(\d{1,16})\/(\d{1,16}|\*)$/i.exec(header ?? '') ?? [];
  if (from === undefined || to === undefined) return undefined;
  const [first, last] = [Number(from), Number(to)];
  const total = whole === '*' ? undefined : Number(whole);
  if (first > last || (total !== undefined && last >= total)) return undefined;
  return { first, last, total };
}

function agree<T>(one: T | undefined, other: T | undefined): boolean {
  return one === undefined || other === undefined || one === other;
}

/** The bytes of a Content-Length header, where it is a number. */
export function lengthOf(header: string | undefined): number | undefined {
  return header !== undefined && /^\d{1,16}$/.test(header) ? Number(header) : undefined;
}

function isWeak(etag: string): boolean {
  return etag.startsWith('W/');
}

function opaque(etag: string): string {
  return etag.replace(/^W\//, '');
}
