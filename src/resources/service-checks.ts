/** Checks of the connection and of what the service sends, for `rosterctl doctor`. */
import { contractVersion, type ResourceCall } from '../api/contract.js';
import { createProxyChoice } from '../api/proxy.js';
import { callFor, resources } from '../api/resources.js';
import type { Answer, Api, Completeness } from '../api/types.js';
import { secondsInCache } from '../api/wire.js';
import { rowError } from '../cli/failure.js';
import { sandboxProfile } from '../config/choices.js';
import { connectionSources, findConnection } from '../config/connection.js';
import type { LocalContext } from '../context.js';
import { isBlocked, isForbidden, isUnknownRoute, lacksList } from '../data/outcome-errors.js';
import { type ResourceName, resourceNames, resourceWords } from '../data/resources.js';
import { shellQuote } from '../data/text.js';
import { CancelledError, Failure, NetworkError } from '../errors.js';
import { surveyList } from './survey.js';
import { agreeOnPages, type SurveyedList, type SurveyFinding } from './survey-pages.js';

/** One line of `doctor`. */
export interface Check {
  readonly check: string;
  readonly result: 'pass' | 'warn' | 'fail';
  readonly detail: string;
  readonly hint: string | null;
}

export const pass = checkThat('pass');
export const warn = checkThat('warn');
export const fail = checkThat('fail');

const maxSkewSeconds = 300;

/**
 * Checks what the key may read, with one documented read per area; `shapes`: also tries out how the
 * service sends its lists. `earlier`: the checks whose failure is not to be reported again.
 */
export async function checkService(
  context: LocalContext,
  earlier: readonly Check[],
  shapes: boolean,
) {
  let api: Awaited<ReturnType<LocalContext['connect']>>;
  try {
    api = await context.connect();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    // The cause may have been reported already by an earlier check.
    const check = earlier.some(({ detail }) => detail === error.message)
      ? fail('connection', 'not tried: the configuration cannot be read')
      : fail('connection', error.message, error.hint ?? null);
    return { checks: [check], settings: {} };
  }
  const place = `${api.baseUrl}, organization ${api.organizationId}`;
  const checks = [
    pass('key', keyOrigin(context)),
    pass('connection', place),
    pass('contract', `version ${contractVersion} of the API is supported`),
    checkRoutes(api),
  ];
  const { overrides } = context.settings;
  const settings: Record<string, string> = {};
  const lists: SurveyedList[] = [];
  const onHeaders = (headers: Answer['headers']) => {
    const has = (name: string) => checks.some(({ check }) => check === name);
    const seconds = secondsInCache({ headers });
    if (!has('network'))
      checks.push(
        networkCheck(api.baseUrl, context),
        checkClock(headers['date'], seconds, context),
      );
    if (seconds > 0 && !has('cache')) checks.push(cacheCheck(seconds));
  };
  const checkArea = async (area: ResourceName, name: string): Promise<readonly Check[]> => {
    if (!shapes) return [readCheck(name, await readFirstPage(api, area, onHeaders))];
    const soFar = { ...overrides, ...settings };
    const { findings, pages, ...found } = await surveyList(api, area, soFar, onHeaders);
    Object.assign(settings, found.settings);
    if (pages) lists.push({ resource: area, pages });
    const all = pages ? [...findings, pages.finding] : findings;
    return [pass(name, mayRead), ...all.map((finding) => findingCheck(area, finding))];
  };
  const lacking = new Map<string, string>();
  for (const area of resourceNames) {
    const name = `read ${area}`;
    try {
      checks.push(...(await checkArea(area, name)));
    } catch (error) {
      if (!(error instanceof Failure) || error instanceof CancelledError) throw error;
      checks.push(failedRead(name, error, context));
      if (isUnknownRoute(error)) lacking.set(name, lacksList(area, error));
      if (error instanceof NetworkError && !checks.some(isReached))
        checks[1] = warn('connection', `not reached: ${place}`);
      // Without a connection, or with a rejected key, the other areas would fail the same way.
      if (error instanceof NetworkError || error.exitName === 'unauthenticated') break;
    }
  }
  // Beside a list that was read, it is not the address that is wrong.
  if (checks.some(({ detail }) => detail.startsWith(mayRead)))
    for (const [name, detail] of lacking)
      checks[checks.findIndex(({ check }) => check === name)] = warn(name, detail, null);
  const agreed = await agreeOnPages(api, lists, { ...overrides, ...settings }, (list, other) => {
    const { resource, pages } = list;
    const set = Object.entries(pages.settings).map((setting) => setting.join(' '));
    const text = `${pages.finding.text}; ${set.join(', ')} would cut the list of ${resourceWords[other].plural} short`;
    const at = checks.findIndex(({ check }) => check === `${resource} pages`);
    checks[at] = findingCheck(resource, { ...pages.finding, text, settings: [] });
  });
  return { checks, settings: { ...settings, ...agreed } };
}

/**
 * Reads a list up to its first records, which is enough to check the key, and a little further to
 * see whether a short list may be incomplete.
 */
async function readFirstPage(
  api: Api,
  area: ResourceName,
  onHeaders: (headers: Answer['headers']) => void,
): Promise<Completeness | undefined> {
  const list = api.list(area, {}, { onHeaders, isQuiet: true });
  let batches = 0;
  for await (const _ of list.batches()) if (++batches > 1) return undefined;
  return list.completeness();
}

const mayRead = 'allowed';

function readCheck(name: string, completeness: Completeness | undefined): Check {
  return completeness?.state === 'doubtful'
    ? warn(
        name,
        `${mayRead}; the list may be incomplete: ${completeness.reason}`,
        'To find out how the service pages: rosterctl doctor --shapes',
      )
    : pass(name, mayRead);
}

function findingCheck(area: ResourceName, finding: SurveyFinding): Check {
  const { subject, result, text, settings } = finding;
  const lines = settings.map(([key, value]) => `rosterctl config set ${key} ${shellQuote(value)}`);
  return {
    check: `${area} ${subject}`,
    result,
    detail: text,
    hint: lines.join('\n') || null,
  };
}

/** Names the routes that the contract does not show. */
function checkRoutes(api: Api): Check {
  const routes = resourceNames.flatMap((name) =>
    (Object.keys(resources[name].calls) as ResourceCall[])
      .map((action) => api.describe(callFor(name, action, 'ID')))
      .filter(({ basis }) => basis === 'assumed'),
  );
  const shown = routes.map(({ method, path }) => `${method} ${path}`);
  return pass('routes', `not documented, so assumed or set by you: ${shown.join(', ')}`);
}

function isReached({ check, result }: Check): boolean {
  return check === 'network' && result === 'pass';
}

/** The source of the key, never the key itself. */
function keyOrigin(context: LocalContext): string {
  if (context.settings.profile.name === sandboxProfile) return 'built into the sandbox';
  return findConnection(connectionSources(context)).key?.origin ?? 'none';
}

/** The service was reached: over TLS with a verified certificate, or on this machine; and through which proxy. */
function networkCheck(baseUrl: string, { env }: LocalContext): Check {
  const url = new URL(baseUrl);
  const proxy = createProxyChoice(env)(url);
  const facts = [
    url.host,
    url.protocol === 'https:' ? 'certificate verified' : 'on this machine',
    ...(proxy ? [`through the proxy ${proxy.origin} (${proxy.variable})`] : []),
  ];
  return pass('network', facts.join(', '));
}

function failedRead(name: string, error: Failure, context: LocalContext): Check {
  const { message, hint: next } = rowError(context, ['doctor'], error, '');
  const hint =
    error instanceof NetworkError && !error.details.isPermanent
      ? 'Check the base URL, the network and the proxy, then run doctor again.'
      : next;
  const createCheck = isForbidden(error) && !isBlocked(error) ? warn : fail;
  return createCheck(error instanceof NetworkError ? 'network' : name, message, hint ?? null);
}

function cacheCheck(seconds: number): Check {
  const answered = `an intermediate cache answered, with data that is ${seconds} s old`;
  return warn('cache', `${answered}; changes are refused`, 'Exempt the service from that cache.');
}

function checkClock(date: string | undefined, cachedFor: number, { now }: LocalContext): Check {
  const serviceTime = Date.parse(date ?? '') + cachedFor * 1000;
  if (Number.isNaN(serviceTime)) return warn('clock', 'the service sent no date to compare with');
  const skew = Math.round((now().getTime() - serviceTime) / 1000);
  const detail = `${Math.abs(skew)} s ${skew < 0 ? 'behind' : 'ahead of'} the service`;
  return Math.abs(skew) <= maxSkewSeconds
    ? pass('clock', detail)
    : warn('clock', detail, 'Set the clock: certificates and signed URLs depend on it.');
}

function checkThat(result: Check['result']) {
  return (check: string, detail: string, hint: string | null = null): Check => ({
    check,
    result,
    detail,
    hint,
  });
}
