/** `rosterctl doctor`: checks of the configuration, the connection and what the key may read. */
import { accessSync, constants, existsSync } from 'node:fs';
import { contractVersion } from '../api/contract.js';
import { resource } from '../api/resources.js';
import type { Answer, Api } from '../api/types.js';
import { withConnectionFlags } from '../cli/connection-flags.js';
import { defineLocalCommand, ValueWithExit } from '../cli/define.js';
import { describeFailure } from '../cli/failure.js';
import { type Canvas, linesOf } from '../cli/views.js';
import { findConnection } from '../config/connection.js';
import { sandboxProfile } from '../config/profiles.js';
import { resolveSettings } from '../config/settings.js';
import type { LocalContext } from '../context.js';
import { type ResourceName, resourceNames } from '../data/resources.js';
import { plural, shellQuote } from '../data/text.js';
import { ApiError, Failure, NetworkError } from '../errors.js';
import { unfinishedUploads } from '../runs/end.js';
import { openRunStore, storeOf } from '../runs/store.js';
import { listRuns } from '../runs/stored-run.js';
import { singleLine } from '../terminal/safe-text.js';
import { wrapWholeWords } from '../terminal/whole-words.js';

interface Check {
  readonly check: string;
  readonly result: 'pass' | 'warn' | 'fail';
  readonly detail: string;
  readonly hint: string | null;
}

const maxSkewSeconds = 300;

export default defineLocalCommand({
  summary: 'Check configuration, connection and what the key may read',
  about:
    'Every line says pass, warn or fail, with a hint where something needs fixing. It sends one documented read per area and no write. Exit 1 if a check fails.',
  examples: [
    ['Check the profile in force', ''],
    ['For a monitoring script', '--json'],
  ],
  calls: resourceNames.map((name) => resource(name).calls.list),
  view: linesOf(checkLines),
  async run(context) {
    const config = checkConfig(context);
    const checks = [
      // Always passes: the launcher rejects Node.js versions older than the package requires.
      pass('node', `Node.js ${context.nodeVersion}`),
      ...config,
      ...checkState(context),
      ...(await checkRuns(context)),
      ...(await checkService(context, config)),
    ];
    return checks.some((check) => check.result === 'fail')
      ? new ValueWithExit(checks, 'failed')
      : checks;
  },
});

function checkConfig({ config, settings, flags, env, paths }: LocalContext): Check[] {
  if (!paths.config)
    return [
      warn('config', 'there is no folder for it: HOME is not set', 'Set ROSTERCTL_CONFIG_DIR.'),
    ];
  try {
    resolveSettings({ flags, env, file: config.config() });
    config.keys();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return [fail('config', error.message, error.hint ?? null)];
  }
  const suffix = existsSync(config.configFile) ? '' : ' (not there yet)';
  const { name, via } = settings.profile;
  const source = {
    flag: '-p',
    environment: 'ROSTERCTL_PROFILE',
    active: 'the active one',
    none: config.config().profiles.size > 0 ? 'none is active' : 'none stored',
  };
  return [
    ...config
      .warnings()
      .map((text) => warn('config', text, 'If others use this machine, replace the API key.')),
    pass('config', `${config.configFile}${suffix}`),
    pass('profile', `${name} (${source[via]})`),
  ];
}

/** Checks that the state folder, which bulk writes need, is writable; reports only a failure. */
function checkState({ paths }: LocalContext): Check[] {
  try {
    accessSync(openRunStore(paths).dir, constants.W_OK);
    return [];
  } catch (error) {
    return [
      warn(
        'state',
        `bulk writes and uploads will be refused: ${(error as Error).message}`,
        'Set ROSTERCTL_STATE_DIR to a folder that can be written.',
      ),
    ];
  }
}

/** Reports unfinished bulk writes and uploads. */
async function checkRuns({ paths, flags, settings, table }: LocalContext): Promise<Check[]> {
  if (!paths.state) return [];
  const damaged: string[] = [];
  const runs = await listRuns(storeOf({ paths }), ({ message }) => damaged.push(message));
  const uploads = unfinishedUploads(runs);
  const open = runs.filter(({ finished }) => !finished).map(({ head }) => head);
  const [first] = open;
  const isOne = first !== undefined && open.length === 1;
  const elsewhere = open.some(({ profile }) => profile !== settings.profile.name);
  const place = elsewhere ? `-p ${isOne ? shellQuote(first.profile) : 'PROFILE'} ` : '';
  const hint = withConnectionFlags(
    `See: rosterctl runs list\nGo on with: rosterctl ${place}runs resume ${isOne ? first.run : 'RUN'}`,
    flags,
    table,
  );
  return [
    ...damaged.map((text) => warn('runs', text, null)),
    open.length > 0
      ? warn(
          'runs',
          `${plural(open.length, 'run is', 'runs are')} unfinished: ${open.map(({ run, profile }) => `${run} (profile ${profile})`).join(', ')}`,
          hint,
        )
      : pass('runs', 'no bulk run is unfinished'),
    uploads.length > 0
      ? warn(
          'uploads',
          `${plural(uploads.length, 'upload is', 'uploads are')} unfinished: ${uploads.map(({ id, run }) => `${id} (profile ${run.head.profile})`).join(', ')}`,
          withConnectionFlags(
            'See: rosterctl uploads list\nFinish them: rosterctl uploads finish --all',
            flags,
            table,
          ),
        )
      : pass('uploads', 'no upload is unfinished'),
  ];
}

async function checkService(context: LocalContext, earlier: readonly Check[]): Promise<Check[]> {
  let api: Awaited<ReturnType<LocalContext['connect']>>;
  try {
    api = await context.connect();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    // The cause may have been reported already by an earlier check.
    return earlier.some(({ detail }) => detail === error.message)
      ? [fail('connection', 'not tried: the configuration cannot be read', null)]
      : [fail('connection', error.message, error.hint ?? null)];
  }
  const place = `${api.baseUrl}, organization ${api.organizationId}`;
  const checks = [
    pass('key', keyOrigin(context)),
    pass('connection', place),
    pass('contract', `this tool follows version ${contractVersion}`),
  ];
  for (const area of resourceNames) {
    const name = `read ${area}`;
    try {
      await readFirstPage(api, area, (headers) => {
        if (!checks.some((check) => check.check === 'network'))
          checks.push(networkCheck(api.baseUrl), checkClock(headers['date'], context));
      });
      checks.push(pass(name, 'the key may read this'));
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      checks.push(failedRead(name, error, context, api.keySource));
      if (error instanceof NetworkError && !checks.some(isReached))
        checks[1] = warn('connection', `not reached: ${place}`, null);
      // Without a connection, or with a rejected key, the other areas would fail the same way.
      if (error instanceof NetworkError || error.exitName === 'unauthenticated') break;
    }
  }
  return checks;
}

/** Reads a list up to its first records, which is enough to check the key. */
async function readFirstPage(
  api: Api,
  area: ResourceName,
  onResponse: (headers: Answer['headers']) => void,
): Promise<void> {
  // oxlint-disable-next-line no-unreachable-loop
  for await (const _ of api.list(area, {}, { onHeaders: onResponse }).batches()) return;
}

function isReached({ check, result }: Check): boolean {
  return check === 'network' && result === 'pass';
}

/** The source of the key, never the key itself. */
function keyOrigin({ flags, env, settings, config }: LocalContext): string {
  const { profile } = settings;
  if (profile.name === sandboxProfile) return 'built into the sandbox';
  const { key } = findConnection({
    flags,
    env,
    profile,
    file: config.config(),
    keys: () => config.keys(),
  });
  return key?.origin ?? 'none';
}

/** The service was reached: over TLS with a verified certificate, or on this machine. */
function networkCheck(baseUrl: string): Check {
  const { protocol, host } = new URL(baseUrl);
  return pass(
    'network',
    protocol === 'https:' ? `${host}, certificate verified` : `${host}, on this machine`,
  );
}

function failedRead(
  name: string,
  error: Failure,
  { flags, streams, table }: LocalContext,
  keySource: string | undefined,
): Check {
  const failure = describeFailure(error, { words: ['doctor'], ids: [], keySource, flags, table });
  const { message } = failure.envelope.error;
  const hint =
    error instanceof NetworkError && !error.details.isPermanent
      ? 'Look at the base URL, the network and the proxy, then run doctor again.'
      : failure.envelope.error.hint;
  const isForbidden = error instanceof ApiError && error.status === 403;
  const createCheck = isForbidden && error.serviceCode !== 'featureNotAvailable' ? warn : fail;
  const detail = streams.redacted(message);
  return createCheck(error instanceof NetworkError ? 'network' : name, detail, hint ?? null);
}

function checkClock(date: string | undefined, { now }: LocalContext): Check {
  const serviceTime = Date.parse(date ?? '');
  if (Number.isNaN(serviceTime))
    return warn('clock', 'the service sent no date to compare with', null);
  const skew = Math.round((now().getTime() - serviceTime) / 1000);
  const detail = `${Math.abs(skew)} s ${skew < 0 ? 'behind' : 'ahead of'} the service`;
  return Math.abs(skew) <= maxSkewSeconds
    ? pass('clock', detail)
    : warn('clock', detail, 'Set the clock: certificates and signed URLs depend on it.');
}

/** The width of the result column: `pass`, `warn` or `fail`, and two spaces. */
const resultWidth = 6;
/** With fewer columns than this, details are put below the name of the check. */
const minDetailWidth = 40;

function checkLines(checks: readonly Check[], canvas: Canvas): string[] {
  const { paint, columns, isTerminal } = canvas;
  const names = Math.max(...checks.map(({ check }) => check.length));
  const detailColumn = resultWidth + names + 2;
  const isNarrow = isTerminal && columns - detailColumn < minDetailWidth;
  const indent = ' '.repeat(isNarrow ? resultWidth : detailColumn);
  const wrapped = (text: string) => {
    const line = indent + singleLine(text);
    return isTerminal ? wrapWholeWords(line, columns) : [line];
  };
  return checks.flatMap(({ check, result, detail, hint }) => {
    const name = `${paint.status(result)}  ${check.padEnd(names)}`;
    const [first = '', ...more] = wrapped(detail);
    const isBelow = isNarrow && (more.length > 0 || detailColumn + detail.length > columns);
    const head = isBelow ? [name.trimEnd(), first] : [`${name}  ${first.slice(indent.length)}`];
    return [...head, ...more, ...(hint ?? '').split('\n').filter(Boolean).flatMap(wrapped)];
  });
}

function pass(check: string, detail: string): Check {
  return { check, result: 'pass', detail, hint: null };
}

function warn(check: string, detail: string, hint: string | null): Check {
  return { check, result: 'warn', detail, hint };
}

function fail(check: string, detail: string, hint: string | null): Check {
  return { check, result: 'fail', detail, hint };
}
