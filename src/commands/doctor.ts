import { accessSync, constants, existsSync } from 'node:fs';
import { contractVersion } from '../api/contract.js';
import { resource } from '../api/resources.js';
import type { Answer, Api } from '../api/types.js';
import { openRunStore, storeOf } from '../bulk/run-store.js';
import { listRuns } from '../bulk/runs.js';
import { unfinishedUploads } from '../bulk/end-run.js';
import { defineLocalCommand, Outcome } from '../cli/define.js';
import { describeFailure } from '../cli/failure.js';
import { withConnectionFlags } from '../cli/connection-flags.js';
import { type Canvas, linesOf } from '../cli/views.js';
import { findConnection } from '../config/connection.js';
import { sandboxProfile } from '../config/profiles.js';
import { resolveSettings } from '../config/settings.js';
import type { LocalContext } from '../context.js';
import { type ResourceName, resourceNames } from '../data/resources.js';
import { plural, shellQuote } from '../data/text.js';
import { ApiError, Failure, NetworkError } from '../errors.js';
import { singleLine } from '../terminal/safe-text.js';
import { wrapWholeWords } from '../terminal/whole-words.js';

interface Check {
  readonly check: string;
  readonly result: 'pass' | 'warn' | 'fail';
  readonly detail: string;
  readonly hint: string | null;
}

const tolerableSkewSeconds = 300;

export default defineLocalCommand({
  summary: 'Check configuration, connection and what the key may read',
  about:
    'Every line says pass, warn or fail, with a hint where there is something to mend. It sends one documented read per area and no write. Exit 1 if a check fails.',
  examples: [
    ['Check the profile in force', ''],
    ['For a monitoring script', '--json'],
  ],
  calls: resourceNames.map((name) => resource(name).calls.list),
  view: linesOf(checkLines),
  async run(context) {
    const config = checkConfig(context);
    const checks = [
      // An older one than the package asks for does not get this far: the launcher refuses it.
      pass('node', `Node.js ${context.nodeVersion}`),
      ...config,
      ...checkState(context),
      ...(await checkRuns(context)),
      ...(await checkService(context, config)),
    ];
    return checks.some((check) => check.result === 'fail') ? new Outcome(checks, 'failed') : checks;
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
  const there = existsSync(config.configFile) ? '' : ' (not there yet)';
  const { name, via } = settings.profile;
  const chosen = {
    flag: '-p',
    environment: 'ROSTERCTL_PROFILE',
    active: 'the active one',
    none: config.config().profiles.size > 0 ? 'none is active' : 'none stored',
  };
  return [
    ...config
      .warnings()
      .map((text) => warn('config', text, 'If others use this machine, replace the API key.')),
    pass('config', `${config.configFile}${there}`),
    pass('profile', `${name} (${chosen[via]})`),
  ];
}

/** What a bulk write needs before anything else; only its lack is worth a line. */
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

/** Bulk writes and uploads that did not come to an end. */
async function checkRuns({ paths, flags, settings, table }: LocalContext): Promise<Check[]> {
  if (!paths.state) return [];
  const damaged: string[] = [];
  const runs = await listRuns(storeOf({ paths }), ({ message }) => damaged.push(message));
  const left = unfinishedUploads(runs);
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
    left.length > 0
      ? warn(
          'uploads',
          `${plural(left.length, 'upload is', 'uploads are')} unfinished: ${left.map(({ id, run }) => `${id} (profile ${run.head.profile})`).join(', ')}`,
          withConnectionFlags(
            'See: rosterctl uploads list\nFinish them: rosterctl uploads finish --all',
            flags,
            table,
          ),
        )
      : pass('uploads', 'no upload is unfinished'),
  ];
}

async function checkService(context: LocalContext, told: readonly Check[]): Promise<Check[]> {
  let api: Awaited<ReturnType<LocalContext['connect']>>;
  try {
    api = await context.connect();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    // What stops it may stand above already, in a paragraph of its own.
    return told.some(({ detail }) => detail === error.message)
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
      await beginList(api, area, (headers) => {
        if (!checks.some((check) => check.check === 'network'))
          checks.push(wayTo(api.baseUrl), checkClock(headers['date'], context));
      });
      checks.push(pass(name, 'the key may read this'));
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      checks.push(failedRead(name, error, context, api.keySource));
      if (error instanceof NetworkError && !checks.some(isReached))
        checks[1] = warn('connection', `not reached: ${place}`, null);
      // Without a way to the service, or with a key that is refused, the other areas say the same.
      if (error instanceof NetworkError || error.exitName === 'unauthenticated') break;
    }
  }
  return checks;
}

/** Reads a list no further than its first records: how long it is says nothing about the key. */
async function beginList(
  api: Api,
  area: ResourceName,
  answered: (headers: Answer['headers']) => void,
): Promise<void> {
  // oxlint-disable-next-line no-unreachable-loop
  for await (const _ of api.list(area, {}, { answered }).batches()) return;
}

function isReached({ check, result }: Check): boolean {
  return check === 'network' && result === 'pass';
}

/** Where the key comes from, never the key. */
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

/** The way was open: over TLS with a verified certificate, or to this machine. */
function wayTo(baseUrl: string): Check {
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
  const story = describeFailure(error, { words: ['doctor'], ids: [], keySource, flags, table });
  const { message } = story.envelope.error;
  const hint =
    error instanceof NetworkError && !error.details.lasts
      ? 'Look at the base URL, the network and the proxy, then run doctor again.'
      : story.envelope.error.hint;
  const forbidden = error instanceof ApiError && error.status === 403;
  const make = forbidden && error.serviceCode !== 'featureNotAvailable' ? warn : fail;
  const detail = streams.redacted(message);
  return make(error instanceof NetworkError ? 'network' : name, detail, hint ?? null);
}

function checkClock(date: string | undefined, { now }: LocalContext): Check {
  const theirs = Date.parse(date ?? '');
  if (Number.isNaN(theirs)) return warn('clock', 'the service sent no date to compare with', null);
  const skew = Math.round((now().getTime() - theirs) / 1000);
  const detail = `${Math.abs(skew)} s ${skew < 0 ? 'behind' : 'ahead of'} the service`;
  return Math.abs(skew) <= tolerableSkewSeconds
    ? pass('clock', detail)
    : warn('clock', detail, 'Set the clock: certificates and signed URLs depend on it.');
}

/** `pass  ` and its like, which stand before everything. */
const resultWidth = 6;
/** A narrower column of details is harder to read than lines below the name of the check. */
const leastDetail = 40;

function checkLines(checks: readonly Check[], canvas: Canvas): string[] {
  const { paint, columns, isTerminal } = canvas;
  const names = Math.max(...checks.map(({ check }) => check.length));
  const beside = resultWidth + names + 2;
  const isNarrow = isTerminal && columns - beside < leastDetail;
  const indent = ' '.repeat(isNarrow ? resultWidth : beside);
  const fitted = (text: string) => {
    const line = indent + singleLine(text);
    return isTerminal ? wrapWholeWords(line, columns) : [line];
  };
  return checks.flatMap(({ check, result, detail, hint }) => {
    const name = `${paint.status(result)}  ${check.padEnd(names)}`;
    const [first = '', ...more] = fitted(detail);
    const isBelow = isNarrow && (more.length > 0 || beside + detail.length > columns);
    const head = isBelow ? [name.trimEnd(), first] : [`${name}  ${first.slice(indent.length)}`];
    return [...head, ...more, ...(hint ?? '').split('\n').filter(Boolean).flatMap(fitted)];
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
