/** Soft deletes: how a record that can still be read says that it was deleted. */
import type { JsonObject } from '../data/json.js';

const deletedWords = ['deleted', 'archived', 'inactive'];

/**
 * True if an existing record is marked as deleted since `before`. Its status counts only if it was
 * another one before.
 */
export function isMarkedDeleted(before: JsonObject | undefined, now: JsonObject): boolean {
  const isNew = (field: string) => (before?.[field] ?? null) === null || before?.[field] === false;
  const isSet = (field: string) => (now[field] ?? null) !== null && isNew(field);
  if (isSet('deletedAt') || isSet('archivedAt')) return true;
  if (now['deleted'] === true && isNew('deleted')) return true;
  const { status } = now;
  return (
    before !== undefined &&
    typeof status === 'string' &&
    deletedWords.includes(status.toLowerCase()) &&
    before['status'] !== status
  );
}
