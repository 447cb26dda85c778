/** `rosterctl doctor`: checks of the configuration, the connection and what the key can read. */

import { accessSync, constants, existsSync } from 'node:fs';
import { resources } from '../api/resources.js';
import { ValueWithExit } from '../cli/command-output.js';
import { defineLocalWrite, flag } from '../cli/define.js';
import { type Canvas, linesView } from '../cli/views.js';
import { noBase, shortPath } from '../config/paths.js';
import { withSetting } from '../config/profiles.js';
import { resolveSettings } from '../config/settings.js';
import type { LocalContext } from '../context.js';
import { RunError } from '../data/outcome-errors.js';
import { resourceNames } from '../data/resources.js';
import { firstOf, nameFirstFew, plural, shellQuote } from '../data/text.js';
import { Failure, UsageError } from '../errors.js';
import { folderAdvice } from '../files/private.js';
import { cannotWrite } from '../files/writing.js';
import { type Check, checkService, fail, pass, warn } from '../resources/service-checks.js';
import { shortRunNames } from '../runs/find-run.js';
import { isRunning } from '../runs/lock.js';
import {
  isKnownFormat,
  ofConnection,
  otherFormat,
  profileElsewhere,
  type RunHead,
} from '../runs/plan.js';
import { openRunStore, storeOf } from '../runs/store.js';
import { listRuns, type StoredRun } from '../runs/stored-run.js';
import { type UnfinishedUpload, unfinishedUploads } from '../runs/unfinished.js';
import { singleLine } from '../terminal/safe-text.js';
import { wrapPageLine } from '../terminal/whole-words.js';
import { settingPlace } from './config/shared.js';

export default defineLocalWrite({
  summary: 'Check configuration, connection and what the key can read',
  about:
    'Each line says pass, warn or fail, and what to do about it. It only reads. --shapes finds out how the service sends its lists (envelope, pages, ids, fields, references) and which settings read them completely; --apply stores these settings after asking. The exit code is 1 if a check fails.',
  examples: [
    ['Check the active profile', ''],
    ['Find out what the service really sends', '--shapes'],
    ['For a monitoring script', '--json'],
  ],
  calls: (['list', 'get'] as const).flatMap((call) =>
    resourceNames.flatMap((name) => resources[name].calls[call] ?? []),
  ),
  flags: {
    shapes: flag('find out how the service sends its lists'),
    apply: flag('with --shapes: store the settings that it suggests', { group: 'change' }),
  },
  view: linesView(doctorLines),
  async plan(context, { shapes, apply }) {
    if (apply && !shapes)
      throw new UsageError('--apply needs --shapes.', {
        hint: 'Run: rosterctl doctor --shapes --apply',
      });
    const config = checkConfig(context);
    const service = await checkService(context, config, shapes);
    const checks = [
      // Always passes: the launcher rejects Node.js versions older than the package requires.
      pass('node', `Node.js ${context.nodeVersion}`),
      ...config,
      ...checkState(context),
      ...(await checkRuns(context)),
      ...service.checks,
    ];
    // Only --apply needs a configuration that can be read.
    const place = apply ? settingPlace(context.config.config(), context.settings) : undefined;
    const changes = Object.entries(apply ? service.settings : {}).map(([field, to]) => ({
      id: place?.profile ?? null,
      field,
      from: place?.settings.get(field) ?? null,
      to,
    }));
    return { changes, onlyReads: changes.length === 0, state: { checks, place } };
  },
  confirm({ changes, state }) {
    const lines = changes.map(({ field, to }) => `${field} = ${String(to)}`);
    return `Set ${lines.join(', ')} (${String(state.place?.origin)})?`;
  },
  async apply(context, { changes, state: { checks, place } }, { apply }) {
    for (const { field, to } of changes)
      await context.config.update((now) => withSetting(now, place?.profile, field, String(to)));
    if (changes.length > 0)
      context.note(
        `${plural(changes.length, 'setting is', 'settings are')} stored (${String(place?.origin)}).`,
      );
    else if (apply) context.note('Nothing to set.');
    const failed = checks.filter(({ result }) => result === 'fail');
    if (failed.length === 0) return checks;
    const many = plural(failed.length, 'check');
    const error = new RunError(
      `${many} failed: ${failed.map(({ check }) => check).join(', ')}.`,
      'failed',
    );
    const { out = '-' } = context.settings;
    // Cron mails stderr, not the checks that were written to a file.
    return new ValueWithExit(checks, 'failed', {
      failed: () => ({ error, isUnreported: out !== '-' }),
    });
  },
});

function checkConfig({ config, settings, flags, env, paths }: LocalContext): Check[] {
  if (!paths.config)
    return [
      warn('config', `there is no folder for it: ${noBase('config')}`, 'Set ROSTERCTL_CONFIG_DIR.'),
    ];
  try {
    resolveSettings({ flags, env, file: config.config() });
    config.keys();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return [fail('config', error.message, error.hint ?? null)];
  }
  const suffix = existsSync(config.configFile) ? '' : ' (not created yet)';
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
    pass('config', `${shortPath(config.configFile, env)}${suffix}`),
    pass('profile', `${name} (${source[via]})`),
  ];
}

/** Checks that the state folder, which bulk writes need, is writable; reports only a failure. */
function checkState({ paths }: LocalContext): Check[] {
  try {
    accessSync(openRunStore(paths).dir, constants.W_OK);
    return [];
  } catch (error) {
    const { message } =
      error instanceof Failure ? error : cannotWrite(storeOf({ paths }).dir, error);
    return [
      warn(
        'state',
        `bulk changes and uploads are refused. ${message}`,
        folderAdvice({ variable: 'ROSTERCTL_STATE_DIR' }),
      ),
    ];
  }
}

/** Returns what `-p` must be added to a command for these runs; nothing if the configuration cannot be read, which another check reports. */
function profileFlagFor(context: LocalContext): (heads: readonly RunHead[]) => string {
  try {
    const isOurs = ofConnection(context);
    const { name } = context.settings.profile;
    const { profiles } = context.config.config();
    return (heads) => {
      if (heads.every(isOurs)) return '';
      const [profile, ...others] = new Set(
        heads.map((head) => profileElsewhere(head, name, profiles)),
      );
      if (others.length > 0) return '-p PROFILE ';
      return profile === undefined ? '' : `-p ${shellQuote(profile)} `;
    };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return () => '';
  }
}

/** Reports unfinished bulk writes and uploads, without what another process is doing now. */
async function checkRuns(context: LocalContext): Promise<Check[]> {
  const { paths, self, withConnection } = context;
  if (!paths.state) return [];
  const damaged: string[] = [];
  const store = storeOf({ paths });
  let runs: readonly StoredRun[];
  try {
    runs = await listRuns(store, ({ message }) => damaged.push(message));
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return [warn('runs', error.message, error.hint ?? null)];
  }
  const uploads: UnfinishedUpload[] = [];
  const foreign: Check[] = [];
  const open: RunHead[] = [];
  for (const run of runs) {
    if (isRunning(run, self)) continue;
    const reason = otherFormat(run);
    const left = unfinishedUploads([run]);
    const isDone = run.finished && isKnownFormat(run.head);
    if (reason === undefined) {
      uploads.push(...left);
      if (!isDone) open.push(run.head);
    } else if (!isDone || left.length > 0) {
      const deletion = withConnection(`rosterctl runs prune ${run.head.run}`);
      const hint = `Resume it with the version that wrote it. Or delete it: ${deletion}`;
      foreign.push(warn('runs', reason, hint));
    }
  }
  const flagFor = profileFlagFor(context);
  return [
    ...damaged.map((text) => warn('runs', text)),
    ...foreign,
    openRuns(context, open, shortRunNames(store), flagFor(open)),
    openUploads(context, uploads, flagFor(uploads.map(({ run }) => run.head))),
  ];
}

function openRuns(
  { withConnection }: LocalContext,
  open: readonly RunHead[],
  shortName: (run: string) => string,
  profileFlag: string,
): Check {
  const [first, ...others] = open;
  if (!first) return pass('runs', 'no unfinished runs');
  const named = open.map(({ run, profile }) => `${shortName(run)} (profile ${profile})`);
  const resumed = others.length > 0 ? 'RUN' : shortName(first.run);
  return warn(
    'runs',
    `${plural(open.length, 'run is', 'runs are')} unfinished: ${firstOf(named, nameFirstFew)}`,
    withConnection(
      `See: rosterctl runs list\nResume: rosterctl ${profileFlag}runs resume ${resumed}`,
    ),
  );
}

function openUploads(
  { withConnection }: LocalContext,
  uploads: readonly UnfinishedUpload[],
  profileFlag: string,
): Check {
  if (uploads.length === 0) return pass('uploads', 'no unfinished uploads');
  const named = uploads.map(({ id, run }) => `${id} (profile ${run.head.profile})`);
  return warn(
    'uploads',
    `${plural(uploads.length, 'upload is', 'uploads are')} unfinished: ${firstOf(named, nameFirstFew)}`,
    withConnection(
      `See: rosterctl uploads list\nFinish them: rosterctl ${profileFlag}uploads finish --all`,
    ),
  );
}

/** The width of the result column: `pass`, `warn` or `fail`, and two spaces. */
const resultWidth = 6;
/** With fewer columns than this, details are put below the name of the check. */
const minDetailWidth = 40;

function doctorLines(checks: readonly Check[], canvas: Canvas): string[] {
  const { paint, columns, isTerminal } = canvas;
  const names = Math.max(...checks.map(({ check }) => check.length));
  const detailColumn = resultWidth + names + 2;
  const isNarrow = isTerminal && columns - detailColumn < minDetailWidth;
  const indent = ' '.repeat(isNarrow ? resultWidth : detailColumn);
  const wrapped = (text: string) => {
    const line = indent + singleLine(text);
    return isTerminal ? wrapPageLine(line, columns) : [line];
  };
  return checks.flatMap(({ check, result, detail, hint }) => {
    const name = `${paint.status(result)}  ${check.padEnd(names)}`;
    const [first = '', ...more] = wrapped(detail);
    const isBelow = isNarrow && (more.length > 0 || detailColumn + detail.length > columns);
    const head = isBelow ? [name.trimEnd(), first] : [`${name}  ${first.slice(indent.length)}`];
    return [...head, ...more, ...(hint ?? '').split('\n').filter(Boolean).flatMap(wrapped)];
  });
}
