/** Schemas of the contract: statuses, ids, records, upload grants and content types. */
import * as z from 'zod/mini';
import en from 'zod/v4/locales/en.js';

// zod/mini, because the full zod adds 7 ms to every command. It comes without messages, hence `en`.
z.config(en());

/** The six statuses, exactly as in contract section 3. */
export const TryoutStatus = z.enum([
  'pending',
  'reviewing',
  'shortlisted',
  'accepted',
  'rejected',
  'withdrawn',
]);
export type TryoutStatus = z.infer<typeof TryoutStatus>;

/**
 * The ten content types that an upload may have, exactly as in contract section 8, and the file
 * extensions of each, the usual one first.
 */
const extensions = {
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
} as const satisfies { readonly [type: string]: readonly [string, ...string[]] };

const types = Object.keys(extensions) as readonly (keyof typeof extensions)[];

/** The content types of uploads. */
export const UploadContentType = z.enum(types);
export type UploadContentType = z.infer<typeof UploadContentType>;

/**
 * Returns why this text cannot be an id, or undefined if it can. An id is opaque: it is percent-encoded
 * into paths, never trimmed or parsed. Refused are what a URL parser would remove (`.`, `..`, empty),
 * control characters and lone surrogates.
 */
export function idProblem(id: string): string | undefined {
  if (id.trim() === '') return 'the id is empty';
  if (id.trim() === '.' || id.trim() === '..') return `"${id.trim()}" is not an id`;
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f-\u009f]/.test(id)) return 'an id must not hold control characters';
  if (!id.isWellFormed()) return 'an id must be well-formed text (it holds half a character)';
  return undefined;
}

// Response schemas are loose: unknown fields and statuses are kept and shown. Differences from the
// contract are reported as drift, and are errors only with --strict.

// Shared, because each schema adds 20 microseconds to the start-up and a command needs few of them.
const text = z.string();
const textOrNull = z.nullish(text);

const TryoutApplicationGamerTag = z.looseObject({
  id: text,
  game: text,
  gamerTag: text,
  createdAt: text,
  updatedAt: text,
});

/** A tryout application (contract 2.1). */
export const TryoutApplication = z.looseObject({
  id: text,
  organizationId: text,
  status: TryoutStatus,
  name: text,
  email: text,
  discordUserId: textOrNull,
  discordUsername: textOrNull,
  formResponses: z.record(text, z.unknown()),
  internalNotes: textOrNull,
  convertedPlayerId: textOrNull,
  convertedPlayer: z.nullish(z.looseObject({ id: text, name: text })),
  gamerTags: z.array(TryoutApplicationGamerTag),
  submittedAt: text,
  createdAt: text,
  updatedAt: text,
});
export type TryoutApplication = z.infer<typeof TryoutApplication>;

/** Permission to upload one file (contract 2.4). */
export const UploadGrant = z.looseObject({ key: text, fileRef: text, uploadUrl: text });
export type UploadGrant = z.infer<typeof UploadGrant>;

/** A team, player or document: the contract shows no fields (2.6), so only the id is required. */
export const AnyRecord = z.looseObject({ id: text });

/** The body of an error response (contract section 7). */
export const ErrorBody = z.looseObject({ error: text });

/** Returns a content type without its parameters, in lower case. */
export function mediaType(contentType: string): string {
  return (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
}

/**
 * Returns the extensions of a content type, without the dot; none for a type that is not allowed.
 */
export function extensionsOf(contentType: string): readonly string[] {
  const plain = mediaType(contentType);
  const type = types.find((known) => known === plain);
  return type === undefined ? [] : extensions[type];
}

/** Returns the content type for a file's extension; undefined if it is none of the ten. */
export function typeByName(name: string): UploadContentType | undefined {
  const extension = /\.([^./\\]+)$/.exec(name)?.[1]?.toLowerCase();
  return types.find((type) => extension !== undefined && extensionsOf(type).includes(extension));
}

/** All extensions of the ten content types. */
export const knownExtensions: readonly string[] = Object.values(extensions).flat();

/** The usual extension of each of the ten types, for messages. */
export const allowedExtensions: readonly string[] = types.map((type) => extensions[type][0]);
