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

export const TryoutApplicationGamerTag = z.looseObject({
  id: z.string(),
  game: z.string(),
  gamerTag: z.string(),
  createdAt: z.string(),
  updatedAt: z.string(),
});

/** Contract 2.1. */
export const TryoutApplication = z.looseObject({
  id: z.string(),
  organizationId: z.string(),
  status: TryoutStatus,
  name: z.string(),
  email: z.string(),
  discordUserId: z.nullish(z.string()),
  discordUsername: z.nullish(z.string()),
  formResponses: z.record(z.string(), z.unknown()),
  internalNotes: z.nullish(z.string()),
  convertedPlayerId: z.nullish(z.string()),
  convertedPlayer: z.nullish(z.looseObject({ id: z.string(), name: z.string() })),
  gamerTags: z.array(TryoutApplicationGamerTag),
  submittedAt: z.string(),
  createdAt: z.string(),
  updatedAt: z.string(),
});
export type TryoutApplication = z.infer<typeof TryoutApplication>;

/** Contract 2.4. */
export const UploadGrant = z.looseObject({
  key: z.string(),
  fileRef: z.string(),
  uploadUrl: z.string(),
});
export type UploadGrant = z.infer<typeof UploadGrant>;

/** Teams, players and documents: the contract shows no fields (2.6), so only the id is relied on. */
export const AnyRecord = z.looseObject({ id: z.string() });

/** Contract section 7. */
export const ErrorBody = z.looseObject({ error: z.string() });
