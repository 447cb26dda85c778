/** Plan files: changes as they were previewed, to be reviewed by somebody else and applied on any machine. */

import { isUtf8 } from 'node:buffer';
import { createHash, type Hash } from 'node:crypto';
import * as z from 'zod/mini';
import { isObject, type JsonObject, parseJson, printJson } from '../data/json.js';
import { operators } from '../data/where.js';
import { GuardError, InputError, UsageError } from '../errors.js';
import { openAtomic } from '../files/atomic-write.js';
import { bytesUpTo, inputBytes, unreadable } from '../files/input-file.js';

/** The format of the file; a plan of another format is refused. */
const schemaNumber = 1;
/** The member that makes a JSON file a plan, with the number of its format. */
const schemaKey = 'rosterctlPlan';

/** The largest plan that is written or read: 200,000 rows take about 60 MiB. */
const maxPlanBytes = 128 * 1024 * 1024;

const text = z.string();
// A record of zod would drop a member named __proto__.
const members = z.custom<JsonObject>(isObject);
const count = z.int().check(z.nonnegative());

const change = z.strictObject({
  field: text,
  /** Absent if the record does not have the field. */
  from: z.optional(z.unknown()),
  to: z.unknown(),
  adds: z.optional(text),
});

const row = z.strictObject({
  row: z.int().check(z.positive()),
  id: text.check(z.minLength(1)),
  ref: z.optional(text),
  name: z.optional(text),
  own: z.optional(members),
  changes: z.array(change).check(z.minLength(1)),
});

const content = z.strictObject({
  /** Version of the program that wrote it. */
  version: text,
  madeAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
  /** As the machine named them; nothing proves it. */
  madeBy: z.strictObject({ user: text, host: text }),
  /** `tryouts.set-status` */
  action: text,
  resource: text,
  profile: text,
  organization: text,
  /** scheme://host:port and the path of the base URL. */
  service: text,
  /** The command line that made it. */
  command: text,
  /** Rows that were selected and would not change. */
  leftOut: z.strictObject({ unchanged: count, skipped: count }),
  job: members,
  guards: z.strictObject({
    ifStatus: z.optional(z.array(text)),
    conditions: z.optional(
      z.array(z.strictObject({ field: text, operator: z.enum(operators), value: text })),
    ),
  }),
  rows: z.array(row),
});

/** The content of a plan file, without its hash. */
export type PlanContent = z.infer<typeof content>;
/** One record of a plan: its own values, and each change as it was previewed. */
export type PlanFileRow = PlanContent['rows'][number];
/** A plan that was read and is as it was written. */
export type PlanFile = PlanContent & { readonly hash: string };

/** How many rows are written at a time. */
const chunk = 2_000;

/**
 * Writes a new plan file (0600) and returns its hash. Throws GuardError if a file of that name exists,
 * UsageError for a plan too large to be read again, OutputError.
 */
export async function writePlanFile(
  path: string,
  plan: PlanContent,
  signal?: AbortSignal,
): Promise<string> {
  const { rows, ...head } = plan;
  const file = await openAtomic(path, { mode: 0o600, isNew: true, signal });
  let bytes = 0;
  const write = (piece: string) => {
    bytes += Buffer.byteLength(piece);
    if (bytes > maxPlanBytes)
      throw new UsageError(
        `The plan is larger than ${maxPlanBytes / 2 ** 20} MiB. Nothing was sent.`,
        { hint: 'Select fewer records, and make several plans.' },
      );
    return file.write(piece);
  };
  try {
    const hash = hashOfPlan({ [schemaKey]: schemaNumber, ...plan });
    const top = printJson({ [schemaKey]: schemaNumber, hash, ...head }, { indent: 2 });
    await write(`${top.slice(0, -2)},\n  "rows": [`);
    for (let at = 0; at < rows.length; at += chunk)
      await write(
        rows
          .slice(at, at + chunk)
          .map((each, index) => `${at + index === 0 ? '' : ','}\n    ${printJson(each)}`)
          .join(''),
      );
    await write(`${rows.length === 0 ? '' : '\n  '}]\n}\n`);
    await file.commit();
    return hash;
  } finally {
    await file.discard();
  }
}

/**
 * Reads a plan file. Throws InputError for a file that is not a plan or cannot be read, GuardError (11) for
 * one of another format, or whose content does not match its hash.
 */
export async function readPlanFile(
  path: string,
  { signal, version }: { readonly signal: AbortSignal; readonly version: string },
): Promise<PlanFile> {
  if (path === '-') throw new UsageError('A plan is read from a file, not stdin (-).');
  const value = parsed(path, await readPlanText(path, signal));
  const schema = value[schemaKey];
  if (typeof schema !== 'number') throw notPlan(path);
  if (schema !== schemaNumber)
    throw new GuardError(
      `${path} is a plan of format ${schema}, made by rosterctl ${writerOf(value)}. This version, ${version}, does not know that format.`,
      { code: 'planFormat', hint: 'Use the version that made it, or make a new plan.' },
    );
  const { hash, ...hashed } = value;
  if (hash !== hashOfPlan(hashed))
    throw new GuardError(`${path} was changed after it was made: it does not match its hash.`, {
      code: 'edited',
      hint: 'Ask for the file again, or make a new plan.',
    });
  const { [schemaKey]: _, ...said } = hashed;
  const result = content.safeParse(said);
  if (!result.success) throw notPlan(path, `${planPlace(result.error)} is not valid`);
  checkRows(path, result.data.rows);
  return { ...result.data, hash };
}

/** True if a plan may no longer be applied. */
export function isExpired({ expiresAt }: Pick<PlanContent, 'expiresAt'>, now: Date): boolean {
  return Date.parse(expiresAt) <= now.getTime();
}

async function readPlanText(path: string, signal: AbortSignal): Promise<string> {
  const chunks = inputBytes(path, { pieceBytes: 1024 * 1024, signal });
  const isLarger = () => notPlan(path, `it is larger than ${maxPlanBytes / 2 ** 20} MiB`);
  const bytes = await bytesUpTo(chunks, maxPlanBytes, isLarger).catch((error: unknown) => {
    throw unreadable(path, error);
  });
  if (!isUtf8(bytes)) throw notPlan(path, 'it is not UTF-8 text');
  return new TextDecoder().decode(bytes);
}

function parsed(path: string, json: string): JsonObject {
  try {
    const value = parseJson(json);
    if (isObject(value)) return value;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw notPlan(path, 'it is not valid JSON, or was cut off');
  }
  throw notPlan(path, 'it is not a JSON object');
}

/** Rows are applied in their order, each once. A file may be uploaded under several names. */
function checkRows(path: string, rows: readonly PlanFileRow[]): void {
  const subjects = new Set<string>();
  let last = 0;
  for (const each of rows) {
    if (each.row <= last) throw notPlan(path, `row ${each.row} is out of order`);
    const subject = printJson([each.id, each.own?.['text'] ?? null]);
    if (subjects.size === subjects.add(subject).size)
      throw notPlan(path, `the record of row ${each.row} appears twice`);
    last = each.row;
  }
}

function notPlan(path: string, why?: string): InputError {
  return new InputError(`${path} is not a plan file${why === undefined ? '' : `: ${why}`}.`, {
    hint: 'Create one by adding --plan FILE to a change. See: rosterctl help plans',
  });
}

function writerOf({ version }: JsonObject): string {
  return typeof version === 'string' && version.length < 40 ? version : 'of another version';
}

function planPlace({ issues: [issue] }: z.core.$ZodError): string {
  return issue && issue.path.length > 0 ? issue.path.join('.') : 'a member';
}

/**
 * Returns the SHA-256 of a plan's members, in hex. Line ends, indentation and the order of members do
 * not count; every value does. It proves damage, not forgery: anybody who edits a plan can hash it again.
 */
export function hashOfPlan(plan: JsonObject): string {
  const sum = createHash('sha256');
  feed(sum, plan);
  return sum.digest('hex');
}

/** Feeds a value to the hash piece by piece, since a plan may have 200,000 rows. */
function feed(sum: Hash, value: unknown): void {
  if (Array.isArray(value)) {
    sum.update('[');
    for (const item of value) {
      feed(sum, item);
      sum.update(',');
    }
    sum.update(']');
  } else if (isObject(value)) {
    sum.update('{');
    for (const key of Object.keys(value).toSorted()) {
      // JSON has no undefined: such a member is not in the file.
      if (value[key] === undefined) continue;
      sum.update(`${printJson(key)}:`);
      feed(sum, value[key]);
      sum.update(',');
    }
    sum.update('}');
  } else sum.update(printJson(value));
}

/** How many characters of a hash a person reads, compares and types. */
export const shortHashLength = 8;

/** The first characters of a hash, for a person to pass on. */
export function shortHash(hash: string): string {
  return hash.slice(0, shortHashLength);
}
