/** The numbers of `rosterctl overview`: what waits, what changed, what is unfinished and what `check` found. */
import type { Context } from '../context.js';
import { timeOf } from '../data/dates.js';
import type { JsonObject } from '../data/json.js';
import { parseDuration } from '../data/time.js';
import { Failure } from '../errors.js';
import { type UnfinishedWork, unfinishedWork } from '../runs/unfinished.js';
import { type CheckResult, failureOfCheck, findProblems, type Skip } from './findings/find.js';
import { type CheckedRecord, defaultPatience, type RuleCode, ruleCodes } from './findings/rule.js';
import { undecided, waitingStatus } from './tryout-filters.js';

/** How far back `changed` looks. */
export const recentPeriod = '7d';

/** The JSON output of `rosterctl overview`; null where a list could not be read. */
export interface Overview {
  readonly schema: 1;
  readonly profile: string;
  readonly organization: string;
  readonly waiting: {
    readonly pending: number;
    /** The pending application that waits longest. */
    readonly oldest: {
      readonly id: string;
      readonly name: string;
      readonly submittedAt: string;
    } | null;
    readonly reviewing: number;
    readonly shortlisted: number;
  } | null;
  /** Of the last seven days: applications that are new, and older ones that changed. */
  readonly changed: { readonly submitted: number; readonly updated: number } | null;
  /** On this machine; `decisions` of reviews that were not sent. */
  readonly unfinished: UnfinishedWork & { readonly decisions: number };
  /** The last one that this machine made; null if it made none. */
  readonly backup: {
    /** The absolute path of the snapshot. */
    readonly snapshot: string;
    readonly finishedAt: string;
    readonly complete: boolean;
    /** The resources that `--only` left out, and `files` after `--no-files`; absent if an earlier version made it. */
    readonly leftOut?: readonly string[];
    /** The snapshot is still there; null if that cannot be seen. */
    readonly exists: boolean | null;
  } | null;
  /** How many findings each rule has; null for a rule that did not run. */
  readonly findings: Readonly<Partial<Record<RuleCode, number | null>>>;
  readonly skipped: readonly { readonly codes: readonly RuleCode[]; readonly reason: string }[];
}

/** An overview, and why it is not a success although it was printed. */
export interface OverviewResult {
  readonly overview: Overview;
  /** The lists that could not be read whole, and why. */
  readonly unread: CheckResult['unread'];
  readonly failure: Failure | undefined;
  /** The record of the last backup cannot be read. */
  readonly isBackupUnread?: boolean;
}

/**
 * Reads the four lists, each once, and the runs of this machine. `decisions`: those of reviews that were
 * not sent; `backup`: undefined if its record cannot be read. A list that this key cannot read leaves its
 * numbers out. Throws what `findProblems` throws.
 */
export async function readOverview(
  context: Context,
  { decisions, backup }: { decisions: number; backup: Overview['backup'] | undefined },
): Promise<OverviewResult & Pick<CheckResult, 'skips'>> {
  const { api, settings } = context;
  const { name } = settings.profile;
  const now = context.now();
  const counts = new TryoutCounts(now.getTime() - parseDuration(recentPeriod));
  const patience = parseDuration(defaultPatience);
  const result = await findProblems(context, ruleCodes, { now, patience }, counts);
  const isRead = !result.unread.has(counts.resource);
  const work = await readUnfinished(context);
  const overview: Overview = {
    schema: 1,
    profile: name,
    organization: api.organizationId,
    waiting: isRead ? counts.waiting() : null,
    changed: isRead ? { submitted: counts.submitted, updated: counts.updated } : null,
    unfinished: { ...work, decisions },
    backup: backup ?? null,
    findings: countFindings(result),
    skipped: result.skips.map(({ codes, reason }: Skip) => ({ codes, reason })),
  };
  const { unread, skips } = result;
  const failure = failureOfCheck(result, settings);
  return { overview, unread, skips, failure, isBackupUnread: backup === undefined };
}

/** Returns what the profile left unfinished on this machine; nothing, and says so, if that cannot be read. */
async function readUnfinished(context: Context): Promise<UnfinishedWork> {
  const { api, config, paths, self, settings } = context;
  const none = { runs: [], uploads: 0 };
  if (!paths.state) return none;
  const { organizationId: organization, service } = api;
  const { profiles } = config.config();
  const place = { name: settings.profile.name, organization, service, profiles };
  try {
    return await unfinishedWork(paths.state.path, place, self);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    context.message(error.message);
    return none;
  }
}

function countFindings({ findings, skips }: CheckResult): Overview['findings'] {
  const counts: Partial<Record<RuleCode, number | null>> = {};
  for (const code of ruleCodes) counts[code] = 0;
  for (const { codes } of skips) for (const code of codes) counts[code] = null;
  for (const { code } of findings) counts[code] = (counts[code] ?? 0) + 1;
  return counts;
}

type Waiting = NonNullable<Overview['waiting']>;

/** Counts applications by what they wait for, and those that came or changed lately. */
class TryoutCounts {
  readonly resource = 'tryouts';
  submitted = 0;
  updated = 0;
  private readonly byStatus = new Map<string, number>();
  /** The pending application that waits longest, and since when. */
  private oldest: Waiting['oldest'] = null;
  private oldestAt = Infinity;

  /** `since`: in milliseconds since 1970. */
  constructor(private readonly since: number) {}

  observe(record: JsonObject, who: CheckedRecord): void {
    const { status = '', at } = who;
    if (undecided.includes(status)) this.byStatus.set(status, (this.byStatus.get(status) ?? 0) + 1);
    const { updatedAt, submittedAt } = record;
    if (at !== undefined && at >= this.since) this.submitted += 1;
    else if ((timeOf(updatedAt) ?? 0) >= this.since) this.updated += 1;
    if (status !== waitingStatus || at === undefined || at >= this.oldestAt) return;
    this.oldestAt = at;
    this.oldest = { id: who.id, name: who.name, submittedAt: String(submittedAt) };
  }

  waiting(): Waiting {
    const count = (status: string) => this.byStatus.get(status) ?? 0;
    return {
      pending: count(waitingStatus),
      oldest: this.oldest,
      reviewing: count('reviewing'),
      shortlisted: count('shortlisted'),
    };
  }
}
