import type { UploadContentType } from './schemas.js';

/** The extensions of the ten content types that an upload may have (contract section 8), the usual one first. */
const extensions: Readonly<Record<UploadContentType, readonly [string, ...string[]]>> = {
  'application/pdf': ['pdf'],
  'application/msword': ['doc'],
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': ['docx'],
  'application/vnd.ms-excel': ['xls'],
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': ['xlsx'],
  'text/plain': ['txt', 'text'],
  'image/jpeg': ['jpg', 'jpeg', 'jpe', 'jfif'],
  'image/png': ['png'],
  'image/webp': ['webp'],
  'image/gif': ['gif'],
};

const types = Object.keys(extensions) as readonly UploadContentType[];

/** The extensions of a content type, without the dot; none for a type that is not allowed. */
export function extensionsOf(contentType: string): readonly string[] {
  const type = types.find((known) => known === contentType);
  return type === undefined ? [] : extensions[type];
}

/** The content type that a file's name promises; undefined when it is none of the ten. */
export function typeByName(name: string): UploadContentType | undefined {
  const extension = /\.([^./\\]+)$/.exec(name)?.[1]?.toLowerCase();
  return types.find((type) => extension !== undefined && extensions[type].includes(extension));
}

/** Every extension that stands for a content type. */
export const knownExtensions: readonly string[] = Object.values(extensions).flat();

/** The usual extensions of all ten types, for messages. */
export const allowedExtensions: readonly string[] = types.map((type) => extensions[type][0]);
