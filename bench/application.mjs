/** The application record that every benchmark server returns. */

const at = '2026-01-01T00:00:00Z';
const why = 'x'.repeat(600);

/** Returns an application of 1 KB of JSON. */
export function application(id, status = 'pending') {
  return `{"id":"${id}","organizationId":"org_7","status":"${status}","name":"Ann ${id}","email":"${id}@example.org","discordUserId":null,"formResponses":{"why":"${why}","hours":12},"internalNotes":null,"convertedPlayerId":null,"gamerTags":[],"submittedAt":"${at}","createdAt":"${at}","updatedAt":"${at}"}`;
}
