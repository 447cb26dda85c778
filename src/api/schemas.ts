import * as z from 'zod/mini';
import en from 'zod/v4/locales/en.js';

// Of zod the small form: the other costs a command 7 ms. It has no sentences of its own.
z.config(en());

/** The six statuses, exact (contract section 3). */
export const TryoutStatus = z.enum([
  'pending',
  'reviewing',
  'shortlisted',
  'accepted',
  'rejected',
  'withdrawn',
]);
export type TryoutStatus = z.infer<typeof TryoutStatus>;

/** The ten content types that an upload may have, exact (contract section 8). */
export const UploadContentType = z.enum([
  'application/pdf',
  'application/msword',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  'application/vnd.ms-excel',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'text/plain',
  'image/jpeg',
  'image/png',
  'image/webp',
  'image/gif',
]);
export type UploadContentType = z.infer<typeof UploadContentType>;

/**
 * An id as typed: opaque, percent-encoded into paths, never trimmed or parsed. What an URL parser
 * would fold away (`.`, `..`, empty), control characters and lone surrogates are refused.
 */
export const Id = z.string().check((payload) => {
  const problem = idProblem(payload.value);
  if (problem) payload.issues.push({ code: 'custom', message: problem, input: payload.value });
});

/** Why this text cannot be an id, or undefined when it can. */
export function idProblem(id: string): string | undefined {
  if (id.trim() === '') return 'an id must not be empty';
  if (id.trim() === '.' || id.trim() === '..') return `"${id.trim()}" is not an id`;
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f-\u009f]/.test(id)) return 'an id must not hold control characters';
  if (!id.isWellFormed()) return 'an id must be well-formed text (it holds half a character)';
  return undefined;
}

// Response schemas are loose: unknown fields and unknown statuses are kept and shown, a deviation
// from the contract is reported as drift and is an error only with --strict.

// One for all: each schema costs a start 20 microseconds, and a command needs few of them.
const text = z.string();
const textOrNull = z.nullish(text);

const TryoutApplicationGamerTag = z.looseObject({
  id: text,
  game: text,
  gamerTag: text,
  createdAt: text,
  updatedAt: text,
});

/** Contract 2.1. */
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

/** Contract 2.4. */
export const UploadGrant = z.looseObject({
  key: text,
  fileRef: text,
  uploadUrl: text,
});
export type UploadGrant = z.infer<typeof UploadGrant>;

/** Teams, players and documents: the contract shows no fields (2.6), so only the id is relied on. */
export const AnyRecord = z.looseObject({ id: text });

/** Contract section 7. */
export const ErrorBody = z.looseObject({ error: text });

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
