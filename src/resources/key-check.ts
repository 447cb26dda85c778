/** Checks of an API key: whether the service accepts it, which part of a login is wrong, and what the key may read. */
import { callFor } from '../api/resources.js';
import { replaceHint } from '../api/response.js';
import type { Api } from '../api/types.js';
import { askForPlan } from '../cli/failures/refusal.js';
import { isBlocked } from '../data/outcome-errors.js';
import { type ResourceName, resourceNames, resourceWords } from '../data/resources.js';
import { countOf, orList } from '../data/text.js';
import {
  ApiError,
  CancelledError,
  Failure,
  NetworkError,
  ProtocolError,
  UnreadableOrganizationError,
} from '../errors.js';

/** The result of one documented read. */
type KeyCheck =
  | { readonly check: 'ok' }
  | { readonly check: '401' | '403'; readonly error: ApiError }
  | { readonly check: 'unreachable'; readonly error: Failure };

/** The resource whose documented list checks a key. */
const askedFirst: ResourceName = 'teams';

/** Checks a key by listing the teams, a documented read (contract 4.4). */
export async function checkKey(api: Api): Promise<KeyCheck> {
  try {
    await api.send(callFor(askedFirst, 'list', undefined));
    return { check: 'ok' };
  } catch (error) {
    if (error instanceof ApiError && !isBlocked(error)) {
      if (error.status === 401) return { check: '401', error };
      if (error.status === 403) return { check: '403', error };
    }
    // After Ctrl-C, nothing is known of the service.
    if (error instanceof CancelledError) throw error;
    if (error instanceof Failure && error.kind !== 'bug') return { check: 'unreachable', error };
    throw error;
  }
}

/** Explains a 403, which does not prove that a key is invalid (contract 5.3, 5.4, 7). */
export function explainForbidden(error: ApiError): string {
  return error.serviceCode === 'featureNotAvailable'
    ? "The service knows the key, but the organization's plan does not include API access (403 featureNotAvailable)."
    : 'The service refused the list of teams (403): the key may lack that permission, or belong to another organization.';
}

/** The parts of a login, each of which can be asked for again. */
export type LoginPart = 'baseUrl' | 'organizationId' | 'key';

/** The lists that were not read, and those of them that the key may not read. */
export interface Unread {
  readonly unread: readonly ResourceName[];
  readonly refused: readonly ResourceName[];
}

/** The result of a check: what was not read, or what failed and which part is probably wrong. */
type LoginCheck =
  | Unread
  | { readonly failure: Failure; readonly wrong: LoginPart | undefined; readonly sentence: string };

/**
 * Checks a login with one documented read. Where the list of teams is refused, the other documented
 * lists are tried, each once; one that answers proves the organization, whatever the others do (contract 4.4).
 */
export async function checkLogin(api: Api): Promise<LoginCheck> {
  const answer = await checkKey(api);
  if (answer.check === 'ok') return { unread: [], refused: [] };
  const { error } = answer;
  if (!isRefused(error)) return explainFailure(api, error);
  const unread: ResourceName[] = [];
  const refused: ResourceName[] = [];
  let isReadable = false;
  let broken: Failure | undefined;
  for (const name of resourceNames) {
    const failure =
      name === askedFirst
        ? error
        : await failureDuring(() => api.send(callFor(name, 'list', undefined)));
    if (!failure) isReadable = true;
    else {
      unread.push(name);
      if (isRefused(failure)) refused.push(name);
      else broken ??= failure;
    }
  }
  if (isReadable) return { unread, refused };
  if (broken) return explainFailure(api, broken);
  if (error.serviceCode === 'featureNotAvailable')
    return { failure: error, wrong: undefined, sentence: explainForbidden(error) };
  if (isBlocked(error)) return explainFailure(api, error);
  const sentence = `This key cannot read anything of organization ${api.organizationId}. Is the id right?`;
  const hint = 'Nothing was stored. Check --org, and what the key can read.';
  const failure = new UnreadableOrganizationError(sentence, { hint, cause: error });
  return { failure, wrong: 'organizationId', sentence };
}

/** Says what a key may read, with numbers: `6 teams, 64 players; documents: no permission`; and what was not read. */
export async function countRecords(
  api: Api,
): Promise<{ readonly counts: string; readonly unread: readonly ResourceName[] }> {
  const unread: ResourceName[] = [];
  const counts: string[] = [];
  const refusals: string[] = [];
  // The applications, of which there are most, come last.
  for (const name of resourceNames) {
    const failure = await failureDuring(async () => {
      let count = 0;
      for await (const _ of api.list(name)) count += 1;
      counts.push(countOf(count, name));
    });
    const many = resourceWords[name].plural;
    if (failure) unread.push(name);
    if (failure) refusals.push(`${many}: ${isRefused(failure) ? 'no permission' : 'not read'}`);
  }
  const parts = [counts.join(', '), ...refusals];
  return { counts: parts.filter((part) => part !== '').join('; '), unread };
}

/** Lists to look at, first those that an admin most probably wants, with the flags to begin with. */
const listsToShow: readonly (readonly [ResourceName, flags: string])[] = [
  ['tryouts', ' --status pending'],
  ['players', ''],
  ['teams', ''],
  ['documents', ''],
];

/** Returns the command of the list to look at first, of those that the key can read. */
export function firstList(unread: readonly ResourceName[]): { command: string; flags: string } {
  const [name, flags] = listsToShow.find(([each]) => !unread.includes(each)) ?? ['teams', ''];
  return { command: `${name} list`, flags };
}

/** Says what a key may not read; undefined if that is nothing that is known. */
export function describeUnreadable(areas: readonly ResourceName[]): string | undefined {
  if (areas.length === 0) return undefined;
  const words = areas.map((name) => resourceWords[name].plural);
  return `The service accepted the key, but it cannot read ${orList(words)}.`;
}

/** Returns the failure of a login with a hint that nothing was stored, and what to check. */
export function withLoginHint(error: Failure): Failure {
  if (error instanceof ApiError) return error.with({ hint: notStored(loginHint(error)) });
  const own = withoutStatus(error.hint);
  if (error instanceof NetworkError)
    return replaceHint(
      error,
      notStored(own ?? 'Check --base-url, or store the key unchecked with --no-check.'),
    );
  if (error instanceof ProtocolError)
    return replaceHint(error, notStored(own ?? 'Check --base-url.'));
  return error;
}

/** Returns a hint without the command that shows a login: it cannot show one that was not stored. */
function withoutStatus(hint: string | undefined): string | undefined {
  return hint?.replace(/(:| with) rosterctl auth status\.?$/, '.');
}

function notStored(advice: string): string {
  return `Nothing was stored. ${advice}`;
}

function loginHint(error: ApiError): string {
  const { status, serviceCode } = error;
  const own = isBlocked(error) ? withoutStatus(error.hint) : undefined;
  if (own !== undefined) return own;
  if (status === 400 || status === 404) return 'Check --base-url and --org.';
  if (status === 401) return 'Copy the key again from the dashboard (settings, API keys).';
  if (serviceCode === 'featureNotAvailable') return askForPlan;
  return 'Run it again later, or store the key unchecked with --no-check.';
}

/** Says which part of a login is probably wrong, from the failure of a read. */
function explainFailure(api: Api, failure: Failure): LoginCheck {
  const { message } = failure;
  const because = (wrong: LoginPart | undefined, sentence = message) => ({
    failure,
    wrong,
    sentence,
  });
  if (failure instanceof NetworkError || failure instanceof ProtocolError)
    return because('baseUrl');
  if (!(failure instanceof ApiError)) return because(undefined);
  const { status } = failure;
  if (status === 401 && !isBlocked(failure))
    return because('key', 'The service refused this key (401).');
  if (status !== 400 && status !== 404) return because(undefined);
  // Without a code of the service, it comes from whatever else is at that address.
  return failure.serviceCode === undefined
    ? because('baseUrl', `There is no such service at ${api.baseUrl} (${status}).`)
    : because(
        'organizationId',
        `The service does not know the organization ${api.organizationId} (404).`,
      );
}

function isRefused(failure: Failure): failure is ApiError {
  return failure instanceof ApiError && [400, 403].includes(failure.status);
}

async function failureDuring(work: () => Promise<unknown>): Promise<Failure | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (error instanceof ApiError || error instanceof NetworkError) return error;
    if (error instanceof ProtocolError) return error;
    throw error;
  }
}
