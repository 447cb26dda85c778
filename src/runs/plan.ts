/** The plan of a run on disk: its head, its job and its rows, and which formats this version can resume. */
import { promises as fs } from 'node:fs';
import { join } from 'node:path';
import { parseBaseUrl } from '../config/base-url.js';
import { sandboxProfile } from '../config/choices.js';
import type { StoredProfile } from '../config/config-file.js';
import { connectionSources, findTarget } from '../config/connection.js';
import { demoOrganization } from '../config/profiles.js';
import type { Context, LocalContext } from '../context.js';
import { digestOf, startDigest, textDigest } from '../data/digest.js';
import { isObject, type JsonObject, parseJson, printJson } from '../data/json.js';
import { systemCode, systemReason } from '../data/system-errors.js';
import { defaultProfile } from '../data/text.js';
import { GuardError, OutputError, UsageError } from '../errors.js';
import { openPlain } from '../files/atomic-write.js';
import { readOwnText } from '../files/private.js';
import { attemptWrite } from '../files/writing.js';
import { countsAsError, type ReportRow, type SelectedRow } from './report.js';
import { type RunVerb, verbOfAction } from './verb.js';

/** Describes a run without its rows and without secrets; also the journal's first record. */
export type RunHead = {
  /** Format of the run's files; see `runFormat`. */
  readonly format: number;
  /** Version of the program that wrote them. */
  readonly version: string;
  readonly run: string;
  /** `tryouts.set-status` */
  readonly action: string;
  readonly verb: RunVerb;
  readonly profile: string;
  readonly organization: string;
  /** scheme://host:port and the path of the base URL. */
  readonly service: string;
  readonly resource: string;
  /** SHA-256 of what was asked for; the same command line has the same digest. */
  readonly input: string;
  readonly rows: number;
  readonly startedAt: string;
  /**
   * Not idempotent (an upload, a create, a delete of named records, a plan file): the run stays in `open/`
   * until its report has been printed, so that repeating the command after a kill prints the report
   * instead of creating things twice or missing what it deleted.
   */
  readonly addsEachTime?: boolean;
  /** The run that it undoes. */
  readonly of?: string;
  /** The run whose failed rows it retries. */
  readonly retries?: string;
  /** The hash of the plan file that it applies. */
  readonly plan?: string;
  /** The route given with `--route`, which `runs undo` uses as well. */
  readonly route?: string;
};

/** The head of a run whose rows are not known yet. */
export type NewRunHead = Omit<RunHead, 'rows'>;

/** The organization and service that a run belongs to. */
export type Place = Pick<RunHead, 'organization' | 'service'>;

/** One resource of an organization at one service: runs of one scope may change the same records. */
export type Scope = Place & Pick<RunHead, 'resource'>;

/** The current organization and service. */
export function placeOf({ api }: Pick<Context, 'api'>): Place {
  return { organization: api.organizationId, service: api.service };
}

/** The organization and service in force, without connecting; undefined if they are not configured. */
export function configuredPlace(context: LocalContext): Place | undefined {
  if (context.settings.profile.name === sandboxProfile)
    return { organization: demoOrganization, service: sandboxProfile };
  const connection = findTarget(connectionSources(context), []);
  if (!connection.baseUrl || !connection.organization) return undefined;
  try {
    return {
      organization: connection.organization.text,
      service: parseBaseUrl(connection.baseUrl.text),
    };
  } catch (error) {
    // Runs on this machine can be shown even if the connection is misconfigured.
    if (error instanceof UsageError) return undefined;
    throw error;
  }
}

/** Returns a file name for the current organization and service. */
export function placeName(context: Pick<Context, 'api'>): string {
  const { service, organization } = placeOf(context);
  return digestOf([service, organization]).slice(0, 16);
}

/** True if a run belongs to the current organization and service. */
export function isHere(context: Pick<Context, 'api'>, { head }: { readonly head: Place }): boolean {
  return isSamePlace(head, placeOf(context));
}

/** True if both belong to one organization at one service, whatever their profiles are called. */
export function isSamePlace(a: Place, b: Place): boolean {
  return a.organization === b.organization && a.service === b.service;
}

/** True if two runs may change the same records. */
export function isSameScope(a: Scope, b: Scope): boolean {
  return a.resource === b.resource && isSamePlace(a, b);
}

/** True if a run belongs to a profile; those of a renamed or removed one belong to all of their organization. */
export function isOfProfile(
  { profile }: Pick<RunHead, 'profile'>,
  name: string,
  stored: ReadonlyMap<string, unknown>,
): boolean {
  return profile === name || (profile !== sandboxProfile && !stored.has(profile));
}

/** Returns what tells the runs of the connection in force, without connecting. Throws ConfigError. */
export function ofConnection(context: LocalContext): (head: RunHead) => boolean {
  const place = configuredPlace(context);
  const { name } = context.settings.profile;
  const { profiles } = context.config.config();
  return (head) =>
    place !== undefined && isSamePlace(head, place) && isOfProfile(head, name, profiles);
}

/**
 * Returns the profile that `-p` must name for a run of another one: its own or, if that was renamed or
 * removed, one of the same organization and service; undefined if there is none.
 */
export function profileElsewhere(
  { profile, organization, service }: Pick<RunHead, 'profile' | keyof Place>,
  name: string,
  stored: ReadonlyMap<string, Pick<StoredProfile, 'organization' | 'baseUrl'>>,
): string | undefined {
  // These need no login.
  const isBuiltIn = profile === sandboxProfile || profile === defaultProfile;
  if (profile !== name && (isBuiltIn || stored.has(profile))) return profile;
  const [found] =
    [...stored].find(
      ([other, { organization: own, baseUrl }]) =>
        other !== name && own === organization && baseUrl === service,
    ) ?? [];
  return found;
}

/** True if the same command line began a run, with the same profile or one that was renamed or removed since. */
export function isSameLine(
  { config }: Pick<Context, 'config'>,
  { head }: { readonly head: RunHead },
  { input, profile }: NewRunHead,
): boolean {
  return head.input === input && isOfProfile(head, profile, config.config().profiles);
}

/** One row of a plan: its own values, and the changes that the preview found. */
export type PlannedRow = Pick<SelectedRow, 'row' | 'id' | 'ref' | 'own' | 'previewed'>;

/** Everything needed to resume a run. */
export interface RunPlan {
  readonly head: RunHead;
  readonly job: JsonObject;
  /** The names of the first rows' records, by id, for the preview of a resumed run. */
  readonly names?: ReadonlyMap<string, string> | undefined;
  readonly rows: readonly PlannedRow[];
}

/** The length of the text that is written at a time. */
const chunk = 1_000_000;

/**
 * Writes a plan atomically, with its checksum as the last line. The folder is synced when the journal is
 * created in it. Throws OutputError.
 */
export async function writePlan(
  folder: string,
  { head, job, names, rows }: RunPlan,
): Promise<void> {
  const file = await openPlain(pathIn(folder), { isOneOfMany: true });
  const sum = startDigest();
  let text = `${printJson({ head, job, names: names && Object.fromEntries(names) })}\n`;
  try {
    for (const { row, id, ref, own, previewed } of rows) {
      text += `${printJson({ row, id, ref, own, previewed })}\n`;
      if (text.length < chunk) continue;
      sum.update(text);
      await file.write(text);
      text = '';
    }
    sum.update(text);
    await file.write(`${text}${sum.digest('hex')}\n`);
    await file.commit();
  } finally {
    await file.discard();
  }
}

/**
 * Reads the plan in a run's folder; undefined if there is none. Throws GuardError if it is damaged,
 * OutputError if it cannot be read.
 */
export async function readPlan(folder: string): Promise<RunPlan | undefined> {
  const path = pathIn(folder);
  let text: string;
  try {
    text = readOwnText(path);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw new OutputError(`The plan ${path} cannot be read: ${systemReason(error)}.`, {
      hint: 'Nothing in this run is repeated until the plan can be read. Fix the file or its permissions.',
      cause: error,
    });
  }
  try {
    const end = text.lastIndexOf('\n', text.length - 2) + 1;
    const body = text.slice(0, end);
    // A truncated or edited plan is no longer what the user confirmed.
    if (textDigest(body) !== text.slice(end).trimEnd()) throw new SyntaxError('another checksum');
    const [first = '', ...lines] = body.trimEnd().split('\n');
    const top = parseJson(first);
    if (!isObject(top)) throw new SyntaxError('no head');
    return {
      head: withFormat(top['head'] as JsonObject),
      job: top['job'] as JsonObject,
      names: new Map(Object.entries((top['names'] ?? {}) as Record<string, string>)),
      rows: lines.map((line) => parseJson(line) as PlannedRow),
    };
  } catch (error) {
    throw new GuardError(`The plan ${path} is damaged.`, {
      code: 'damaged',
      hint: 'Check the records yourself.',
      cause: error,
    });
  }
}

/** The head of a run, from its journal's first record; undefined for any other record. */
export function headOf(record: JsonObject | undefined): RunHead | undefined {
  if (!record || record['kind'] !== 'job') return undefined;
  const { seq: _, kind: __, t: ___, holder: ____, ...head } = record;
  return withFormat(head);
}

/** Adds what version 0.1.0 did not write: format, version and verb. */
function withFormat(head: JsonObject): RunHead {
  const verb = verbOfAction(String(head['action']));
  return { format: 0, version: '0.1.0', verb, ...head } as RunHead;
}

/** Reduces the plan of an ended run to what `runs retry` can use, or removes it. Throws OutputError. */
export async function shortenPlan(
  folder: string,
  plan: RunPlan,
  results: Iterable<ReportRow>,
): Promise<void> {
  const failedRows = new Set<number>();
  for (const { row, result } of results) if (countsAsError(result)) failedRows.add(row);
  const rows = plan.rows.filter(({ row }) => failedRows.has(row));
  const path = pathIn(folder);
  if (rows.length === 0) await attemptWrite(path, fs.rm(path, { force: true }));
  else await writePlan(folder, { ...plan, names: undefined, rows });
}

function pathIn(folder: string): string {
  return join(folder, 'plan.jsonl');
}

/** The format number of this version's plans and journals; those of 0.1.0 have none, which counts as 0. */
export const runFormat = 1;

/** True if this version can read the files of a run: the format is its own or that of 0.1.0. */
export function isKnownFormat({ format }: RunHead): boolean {
  return format === runFormat || format === 0;
}

const knownGuards = ['ifStatus', 'conditions'];

interface PlannedHead {
  readonly head: RunHead;
  readonly plan: RunPlan | undefined;
}

/**
 * Says that this version can list a run but neither resume nor undo it: another version wrote it in another
 * format, or with a guard unknown to this one. Undefined if it can.
 */
export function otherFormat({ head, plan }: PlannedHead): string | undefined {
  const guards = plan?.job['guards'];
  const names = isObject(guards) ? Object.keys(guards) : [];
  if (head.format === runFormat && names.every((name) => knownGuards.includes(name)))
    return undefined;
  return `Run ${head.run} was written by version ${head.version}, in a format that this version does not know.`;
}

/** Throws GuardError (exit 11) for such a run. `hint`: what to do instead. */
export function requireContinuable(
  run: PlannedHead,
  hint = `Start over: run its command again with --restart. Or delete the run: rosterctl runs prune ${run.head.run}`,
): void {
  const reason = otherFormat(run);
  if (reason !== undefined)
    throw new GuardError(`${reason} Nothing was sent.`, { code: 'runFormat', hint });
}
