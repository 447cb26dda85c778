/** File versions: whether two responses of a store are about the same file. */

/** The version that a store reports for a file, to check that a later part belongs to the same one. */
export interface FileVersion {
  readonly etag?: string | undefined;
  readonly lastModified?: string | undefined;
  /** Bytes of the whole file. */
  readonly size?: number | undefined;
}

interface Headers {
  readonly [name: string]: string;
}

/** Returns the version in response headers; `size` is passed in because a part has another length. */
export function versionOf(headers: Headers, size: number | undefined): FileVersion {
  return { etag: headers['etag'], lastModified: provenDate(headers), size };
}

/**
 * Returns the date of the file if it identifies one version: a file that is replaced within the same
 * second keeps its date (RFC 9110 8.8.2.2).
 */
function provenDate({ date, 'last-modified': lastModified }: Headers): string | undefined {
  const ageMs = Date.parse(date ?? '') - Date.parse(lastModified ?? '');
  return ageMs >= 1000 ? lastModified : undefined;
}

/**
 * Returns the MD5 of the complete file, in hex, if the store reports it: Google's hash header, or a
 * strong ETag of 32 hex digits (that of a multipart upload contains a `-`), unless the object is
 * encrypted with its own key, or Swift keeps it in segments, whose MD5s it hashes.
 */
export function md5Of(headers: Headers): string | undefined {
  const google = /(?:^|[ ,])md5=([A-Za-z0-9+/]{22}==)/.exec(headers['x-goog-hash'] ?? '')?.[1];
  if (google !== undefined) return Buffer.from(google, 'base64').toString('hex');
  const encryption = headers['x-amz-server-side-encryption'] ?? 'AES256';
  const hasOwnKey = headers['x-amz-server-side-encryption-customer-algorithm'] !== undefined;
  const isInSegments = ['x-static-large-object', 'x-object-manifest'].some(
    (name) => name in headers,
  );
  if (encryption !== 'AES256' || hasOwnKey || isInSegments) return undefined;
  return /^"([0-9a-f]{32})"$/i.exec(headers['etag'] ?? '')?.[1]?.toLowerCase();
}

/**
 * True if the bytes of a response are not those of the file. `aws-chunked` does not count: it is
 * how the file was uploaded to S3, which repeats the word but sends the plain file. Nor does what
 * some programs write for plain text (`utf-8`) or against compression (`none`).
 */
export function isEncoded(headers: Headers): boolean {
  const encodings = headers['content-encoding']?.toLowerCase().split(/[\s,]+/) ?? [];
  return encodings.some((word) => !plainEncodings.includes(word));
}

const plainEncodings = ['', 'identity', 'aws-chunked', 'utf-8', 'utf8', 'none'];

/** Returns the value for If-Range (RFC 9110 13.1.5): a strong ETag, else the date. */
export function rangeValidator({ etag, lastModified }: FileVersion): string | undefined {
  return etag !== undefined && !isWeak(etag) ? etag : lastModified;
}

/** True if two responses may be about the same file: no property that both have differs. */
export function mayBeSame(one: FileVersion, other: FileVersion): boolean {
  return (
    agree(one.size, other.size) &&
    agree(one.etag && opaqueTag(one.etag), other.etag && opaqueTag(other.etag)) &&
    agree(one.lastModified, other.lastModified)
  );
}

/**
 * True if a part (206) belongs to the file of the first response: it must repeat the validators of
 * that response, as RFC 9110 15.3.7 requires.
 */
export function isPartOf(part: FileVersion, first: FileVersion): boolean {
  if (!mayBeSame(part, first)) return false;
  if (first.etag !== undefined) return part.etag !== undefined;
  return first.lastModified === undefined || part.lastModified !== undefined;
}

/**
 * True if two responses are certainly about the same file: same strong ETag, or same date and size.
 */
export function isSameFile(one: FileVersion, other: FileVersion): boolean {
  if (!mayBeSame(one, other)) return false;
  const { etag, lastModified, size } = one;
  if (etag !== undefined && other.etag !== undefined) return !isWeak(etag) && !isWeak(other.etag);
  const hasDates = lastModified !== undefined && other.lastModified !== undefined;
  return hasDates && size !== undefined && other.size !== undefined;
}

/** Parses `bytes 5-9/10` or `bytes 5-9/*`; undefined for anything else. */
export function contentRange(
  header: string | undefined,
):
  | { readonly first: number; readonly last: number; readonly total: number | undefined }
  | undefined {
  const [, from, to, totalText] =
    /^bytes (\d{1,16})-(\d{1,16})\/(\d{1,16}|\*)$/i.exec(header ?? '') ?? [];
  if (from === undefined || to === undefined) return undefined;
  const [first, last] = [Number(from), Number(to)];
  const total = totalText === '*' ? undefined : Number(totalText);
  if (first > last || (total !== undefined && last >= total)) return undefined;
  return { first, last, total };
}

function agree<T>(one: T | undefined, other: T | undefined): boolean {
  return one === undefined || other === undefined || one === other;
}

/** Returns the number in a Content-Length header; undefined if it is not a number. */
export function lengthOf(header: string | undefined): number | undefined {
  return header !== undefined && /^\d{1,16}$/.test(header) ? Number(header) : undefined;
}

function isWeak(etag: string): boolean {
  return etag.startsWith('W/');
}

function opaqueTag(etag: string): string {
  return etag.replace(/^W\//, '');
}
