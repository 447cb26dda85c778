/** Runs the rules of `rosterctl check`: reads each list once, and says which rules could not run and why. */
import type { Context } from '../../context.js';
import { timeOf } from '../../data/dates.js';
import { textDigest } from '../../data/digest.js';
import type { JsonObject } from '../../data/json.js';
import {
  besideOthers,
  isForbidden,
  isUnknownRoute,
  isUnreadableList,
  lacksList,
} from '../../data/outcome-errors.js';
import { plainText } from '../../data/path.js';
import { quotedId } from '../../data/references.js';
import { type ResourceName, resourceNames, resourceWords } from '../../data/resources.js';
import { ApiError, type Failure, GuardError, withShapes } from '../../errors.js';
import {
  type CheckedRecord,
  oldestFirst,
  type Rule,
  type RuleCode,
  type RuleWorld,
  ruleCodes,
  type Watch,
} from './rule.js';
import { findingRules } from './rules.js';

/** One finding, as JSON prints it. */
export interface Finding {
  readonly code: RuleCode;
  /** The records concerned, oldest first. */
  readonly ids: readonly string[];
  /** A sentence that names them; raw text of the service. */
  readonly detail: string;
  /** The command that shows them. */
  readonly look: string;
  /** The command that settles it; null where more than one answer is possible. */
  readonly fix: string | null;
}

/** Why rules did not run. */
export interface Skip {
  readonly codes: readonly RuleCode[];
  readonly reason: string;
  /** Undefined if no record has the field that they need. */
  readonly cause?: 'incomplete' | ApiError;
  /** The commands that settle it, for a list that may be incomplete. */
  readonly fixes?: readonly string[] | undefined;
}

/** The findings, and the rules that did not run. */
export interface CheckResult {
  readonly findings: readonly Finding[];
  /** The identity of each finding, which stays the same from one check to the next. */
  readonly identities: ReadonlyMap<Finding, string>;
  readonly skips: readonly Skip[];
  /** True if no rule ran, so that nothing is known. */
  readonly isAllSkipped: boolean;
  /** How many records of each list were read. */
  readonly read: ReadonlyMap<ResourceName, number>;
  /** The lists that could not be read whole, and why. */
  readonly unread: ReadonlyMap<ResourceName, string>;
}

/** Returns why the check failed: a list that was refused, without --strict only if no rule could run. */
export function failureOfCheck(
  { skips, isAllSkipped }: CheckResult,
  { strict }: Pick<Context['settings'], 'strict'>,
): Failure | undefined {
  if (!strict && !isAllSkipped) return undefined;
  for (const { cause } of skips) if (cause instanceof ApiError) return besideOthers(cause);
  const doubt = skips.find(({ cause }) => cause === 'incomplete');
  if (!doubt) return undefined;
  return new GuardError(`No rule could run: ${doubt.reason}.`, {
    code: 'incomplete',
    hint: withShapes(doubt.fixes),
  });
}

/** Returns why lists may be incomplete and the commands that settle it, each once. */
export function doubtsOf({ skips }: Pick<CheckResult, 'skips'>): {
  readonly reasons: readonly string[];
  readonly fixes: readonly string[];
} {
  const doubts = skips.filter(({ cause }) => cause === 'incomplete');
  return {
    reasons: [...new Set(doubts.map(({ reason }) => reason))],
    fixes: [...new Set(doubts.flatMap(({ fixes = [] }) => fixes))],
  };
}

interface Running {
  readonly code: RuleCode;
  readonly rule: Rule;
  readonly watch: Watch;
  /** Set once it is known that the rule cannot run. */
  skipped?: Omit<Skip, 'codes'>;
}

/** Counts from the same reading of a list. */
interface Observer {
  readonly resource: ResourceName;
  observe(record: JsonObject, subject: CheckedRecord): void;
}

/**
 * Runs the rules on the lists that they need; the observer sees the records of its list too. A list that
 * the key may not read, that the service does not have or that may be incomplete skips its rules. Throws
 * every other failure, and that of a missing list if no list was read.
 */
export async function findProblems(
  context: Context,
  codes: readonly RuleCode[],
  world: RuleWorld,
  observer?: Observer,
): Promise<CheckResult> {
  const running = ruleCodes
    .filter((code) => codes.includes(code))
    .map(
      (code): Running => ({
        code,
        rule: findingRules[code],
        watch: findingRules[code].watch(world),
      }),
    );
  const read = new Map<ResourceName, number>();
  const unread = new Map<ResourceName, string>();
  const refusals: ApiError[] = [];
  for (const resource of resourceNames) {
    const needing = running.filter(
      ({ rule }) => rule.resource === resource || (rule.alsoReads ?? []).includes(resource),
    );
    if (needing.length === 0) continue;
    let count = 0;
    const skipped = await readInto(context, resource, (record, subject) => {
      count += 1;
      for (const { watch, rule } of needing)
        watch.observe(record, subject, rule.resource === resource);
      if (observer?.resource === resource) observer.observe(record, subject);
    });
    read.set(resource, count);
    if (!skipped) continue;
    unread.set(resource, skipped.reason);
    if (skipped.cause instanceof ApiError) refusals.push(skipped.cause);
    for (const each of needing) each.skipped ??= skipped;
  }
  // A service that has none of the lists is more likely another address.
  const missing = refusals.find(isUnknownRoute);
  if (missing && refusals.length === read.size) throw missing;
  const identities = new Map(running.flatMap((each) => findingsOf(each, context)));
  const skips = skipsOf(running);
  const isAllSkipped = skips.flatMap((skip) => skip.codes).length === running.length;
  return { findings: [...identities.keys()], identities, skips, isAllSkipped, read, unread };
}

/** Reads a list; returns why rules that need it cannot run, if so. */
async function readInto(
  context: Context,
  resource: ResourceName,
  onRecord: (record: JsonObject, subject: CheckedRecord) => void,
): Promise<Running['skipped']> {
  const { plural: many } = resourceWords[resource];
  const list = context.api.list(resource, {}, { checksCompleteness: true });
  try {
    for await (const batch of list.batches())
      for (const record of batch) onRecord(record, checkedRecord(record));
  } catch (error) {
    // Without API access nothing can be checked at all (contract 5.3).
    if (!isUnreadableList(error)) throw error;
    const reason = isForbidden(error)
      ? `this key cannot read ${many} (403)`
      : lacksList(resource, error);
    return { reason, cause: error };
  }
  const completeness = list.completeness();
  if (completeness.state !== 'doubtful') return undefined;
  const { fixes } = completeness;
  const reason = `the list of ${many} may be incomplete: ${completeness.reason}`;
  return { reason, cause: 'incomplete', fixes };
}

function checkedRecord({ id, name, status, submittedAt }: JsonObject): CheckedRecord {
  return {
    id: plainText(id),
    name: plainText(name),
    status: typeof status === 'string' ? status : undefined,
    at: timeOf(submittedAt),
  };
}

function findingsOf(
  { code, rule, watch, skipped }: Running,
  { withConnection }: Context,
): readonly (readonly [finding: Finding, identity: string])[] {
  if (skipped || watch.missingField?.() !== undefined) return [];
  const get = withConnection(`rosterctl ${rule.resource} get`);
  const fix = rule.fix && withConnection(rule.fix);
  return watch
    .found()
    .toSorted((a, b) => oldestFirst(first(a.subjects), first(b.subjects)))
    .map(({ subjects, detail, key }) => {
      const ids = subjects.map(({ id }) => id);
      const words = ids.map(quotedId).join(' ');
      // Hashed, because a cursor keeps it on disk.
      const shared = key === undefined ? [] : [textDigest(key).slice(0, 16)];
      const identity = [code, ids.toSorted().join(','), ...shared].join(':');
      const settle = fix ? `${fix} ${words}` : null;
      return [{ code, ids, detail, look: `${get} ${words}`, fix: settle }, identity];
    });
}

function first(subjects: readonly CheckedRecord[]): CheckedRecord {
  return subjects[0] ?? { id: '', name: '', status: undefined, at: undefined };
}

function skipsOf(running: readonly Running[]): readonly Skip[] {
  const skips = new Map<string, Skip>();
  for (const { code, watch, skipped } of running) {
    const field = watch.missingField?.();
    const skip = skipped ?? (field === undefined ? undefined : { reason: `no field ${field}` });
    if (!skip) continue;
    const { codes } = skips.get(skip.reason) ?? { codes: [] };
    skips.set(skip.reason, { ...skip, codes: [...codes, code] });
  }
  return [...skips.values()];
}
