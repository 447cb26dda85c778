/** Success answers that say no: some services wrap a refusal in a status of 200. */
import { isObject, type JsonObject } from '../data/json.js';
import { hasId, normalName } from './records.js';

/** `code`: nothing but a number or a status word says so, which may mean something else. */
export type RefusalSign = 'error' | 'code';

/**
 * The sign of a refusal in the envelope of a success answer. A body with an id of its own is a record,
 * whatever its fields are called. `hasRecords`: a record or rows came with it.
 */
export function refusalSign(
  body: unknown,
  hasRecords = isObject(body) && holdsRecord(body, 2),
): RefusalSign | undefined {
  if (!isObject(body) || hasId(body)) return undefined;
  const { error, errors, ok, success, status, code, statusCode } = body;
  if (isFilled(error) || isFilled(errors) || ok === false || success === false) return 'error';
  if (typeof status === 'string' && /^(error|fail|failed)$/i.test(status)) return 'code';
  return !hasRecords && [code, statusCode].some(isFailureCode) ? 'code' : undefined;
}

function isFilled(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (isObject(value)) return Object.keys(value).length > 0;
  return Boolean(value);
}

/** A status of HTTP, alone or with two digits of the service's own behind it. */
function isFailureCode(value: unknown): boolean {
  if (typeof value !== 'number') return false;
  return (value >= 400 && value < 600) || (value >= 40_000 && value < 60_000);
}

/** What has an id beside a record, or instead of one. */
const others = new Set([
  ...['organization', 'org', 'user', 'actor', 'createdby', 'account', 'job'],
  ...['request', 'meta', 'metadata', 'errors', 'error', 'details', 'warnings'],
]);

function holdsRecord(body: JsonObject, depth: number): boolean {
  return Object.entries(body).some(([key, value]) => {
    if (others.has(normalName(key))) return false;
    if (Array.isArray(value)) return value.some((each) => isObject(each) && hasId(each));
    return isObject(value) && (hasId(value) || (depth > 1 && holdsRecord(value, depth - 1)));
  });
}
