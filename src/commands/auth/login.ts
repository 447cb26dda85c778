/** `rosterctl auth login`: checks and stores an API key. */
import { defineLocalCommand, flag, param } from '../../cli/define.js';
import { linesOf } from '../../cli/views.js';
import { optionalWord } from '../../cli/words.js';
import { cleanKey, readKeyFile } from '../../config/api-key.js';
import { originOf, parseBaseUrl } from '../../config/base-url.js';
import { checkOrganization, findTarget } from '../../config/connection.js';
import { checkProfileName, withLogin } from '../../config/profiles.js';
import type { Connection, Settings } from '../../config/settings.js';
import { activeProfileOf } from '../../config/store.js';
import type { LocalContext } from '../../context.js';
import { defaultProfile, orList, shellQuote } from '../../data/text.js';
import { ApiError, type Failure, NetworkError, ProtocolError, UsageError } from '../../errors.js';
import { checkKey, connectionOf, explainForbidden } from './shared.js';

interface LoggedIn {
  readonly profile: string;
  readonly organization: string;
  readonly baseUrl: string;
  readonly keyStored: true;
  readonly check: 'ok' | '403' | 'skipped';
  /** What a 403 meant. */
  readonly reason?: string | undefined;
  readonly credentialsFile: string;
  readonly active: boolean;
}

export default defineLocalCommand({
  summary: 'Store an API key for a profile, after checking it',
  about:
    'At a terminal, asks for what is missing. The key is never a flag value: type it, pipe it with --key-stdin, or copy it from a file. The key is checked first: a key that the service does not accept (401) is not stored; one that may not read the list (403) is.',
  examples: [
    ['Ask for everything that is missing', ''],
    [
      'From a script',
      '--profile work --base-url https://api.example.com/v1 --org org_1 --key-stdin',
    ],
  ],
  calls: ['listTeams'],
  shows: ['baseUrl', 'org'],
  flags: {
    keyStdin: flag('read the key from stdin'),
    keyFile: param(optionalWord, 'copy the key from this file, now', {
      placeholder: 'FILE',
      completes: 'file',
    }),
    noCheck: flag('store the key without asking the service'),
  },
  excludes: [['keyStdin', 'keyFile']],
  hasSideEffects: true,
  view: linesOf(describe),
  async run(context, { keyStdin, keyFile, noCheck }) {
    if (context.settings.dryRun)
      throw new UsageError(
        'auth login has no dry run: it would have to send the key to check it.',
        {
          hint: 'Leave --dry-run (or ROSTERCTL_DRY_RUN) out.',
        },
      );
    const profile = profileToStore(context);
    // Validated before the key is typed.
    const { credentialsFile } = context.config;
    const given = findTarget({ ...connectionOf(context), profile }, []);
    requireFlagsOrPrompt(context, {
      '--base-url': given.baseUrl !== undefined,
      '--org': given.organization !== undefined,
      '--key-stdin or --key-file': keyStdin || keyFile !== undefined,
    });
    const baseUrl = given.baseUrl
      ? parseBaseUrl(given.baseUrl.text)
      : parseBaseUrl(
          await context.prompts.text('Base URL (ends in /v1):', {
            validate: (text) => withHint(problemOf(() => parseBaseUrl(text))),
          }),
        );
    const organizationId = checkOrganization(
      given.organization?.text ??
        (await context.prompts.text('Organization id:', {
          validate: (text) => problemOf(() => checkOrganization(text))?.message,
        })),
    );
    const key = await readKey(context, {
      keyStdin,
      keyFile,
      profile: profile.name,
      organizationId,
    });
    const connection = { baseUrl, organizationId, key, keySource: 'the key just given' };
    const checked = noCheck ? { check: 'skipped' as const } : await check(context, connection);
    return { ...(await store(context, profile.name, connection)), ...checked, credentialsFile };
  },
});

/** The profile of `--profile` or its variable, else `default`; the active profile is not used. */
function profileToStore({ settings }: LocalContext): Settings['profile'] {
  const { name, via } = settings.profile;
  if (via !== 'flag' && via !== 'environment') return { name: defaultProfile, via: 'none' };
  return { name: checkProfileName(name), via };
}

function requireFlagsOrPrompt(
  context: LocalContext,
  given: Readonly<Record<string, boolean>>,
): void {
  const missing = Object.keys(given).filter((word) => !given[word]);
  if (missing.length === 0 || context.prompts.unavailable === undefined) return;
  const { profile } = context.flags;
  const profileFlag = profile === undefined ? '' : ` --profile ${shellQuote(profile)}`;
  throw new UsageError(`Logging in needs ${missing.join(', ')}, or a terminal to ask at.`, {
    hint: `For example: rosterctl auth login${profileFlag} --base-url https://HOST/v1 --org ID --key-file FILE`,
  });
}

async function readKey(
  { streams, prompts, config, signal }: LocalContext,
  {
    keyStdin,
    keyFile,
    profile,
    organizationId,
  }: {
    keyStdin: boolean;
    keyFile: string | undefined;
    profile: string;
    organizationId: string;
  },
): Promise<string> {
  if (keyFile !== undefined) return readKeyFile(keyFile, '--key-file', signal);
  if (keyStdin) return cleanKey((await streams.stdin.readAll(65_536)).toString('utf8'), 'stdin');
  // A replaced key cannot be recovered, so the prompt names it.
  const previous = config.keys().get(profile)?.organization;
  const previousText = previous === organizationId ? '' : `, so far ${previous}`;
  const owner =
    previous === undefined
      ? ''
      : ` for profile ${profile} (organization ${organizationId}${previousText})`;
  return cleanKey(await prompts.secret(`API key${owner}:`), 'What was typed');
}

type Checked = Pick<LoggedIn, 'check' | 'reason'>;

async function check(context: LocalContext, connection: Connection): Promise<Checked> {
  const answer = await checkKey(await context.connectTo(connection));
  if (answer.check === 'ok') return { check: 'ok' };
  if (answer.check === '403') return { check: '403', reason: explainForbidden(answer.error) };
  throw withLoginHint(answer.error);
}

/** Returns the error with a hint for the login. */
function withLoginHint(error: Failure): Failure {
  const nothingIsStored = 'Nothing was stored.';
  if (error instanceof ApiError) {
    const next = [404, 400].includes(error.status)
      ? 'Check --base-url and --org.'
      : error.status === 401
        ? 'Copy the key again from the dashboard (settings, API keys).'
        : 'Run it again later, or store the key unchecked with --no-check.';
    const details = { ...error.details, hint: `${nothingIsStored} ${next}` };
    return new ApiError(error.status, error.serviceCode, error.call, details);
  }
  if (error instanceof NetworkError) {
    const hint = `${nothingIsStored} ${hintWithoutStatus(error) ?? 'Check --base-url, or store the key unchecked with --no-check.'}`;
    return new NetworkError(error.message, { ...error.details, hint });
  }
  if (error instanceof ProtocolError) {
    const hint = `${nothingIsStored} ${hintWithoutStatus(error) ?? 'Check --base-url.'}`;
    return new ProtocolError(error.message, { ...error.details, hint });
  }
  return error;
}

/** The error's hint without `auth status`, which cannot show a key that was not stored. */
function hintWithoutStatus({ hint }: Failure): string | undefined {
  return hint?.replace(/(:| with) rosterctl auth status\.?$/, '.');
}

async function store(
  context: LocalContext,
  profile: string,
  { baseUrl, organizationId, key }: Connection,
) {
  const { config, env } = context;
  const place = { baseUrl, organization: organizationId };
  const stored = { key, origin: originOf(baseUrl), organization: organizationId };
  await config.update((now) => withLogin(now, profile, place, stored));
  const overriding = ['ROSTERCTL_API_KEY', 'ROSTERCTL_API_KEY_FILE'].filter((name) => env[name]);
  if (overriding.length > 0)
    context.note(
      `${orList(overriding)} is set and beats the stored key, unless the profile is named with -p.`,
    );
  return {
    profile,
    organization: organizationId,
    baseUrl,
    keyStored: true as const,
    active: activeProfileOf(config.config()) === profile,
  };
}

function describe(value: LoggedIn): string[] {
  const name = shellQuote(value.profile);
  const checkText = {
    ok: 'The service accepted the key.',
    '403': `${value.reason} It is stored all the same.`,
    skipped: 'The key was not checked.',
  }[value.check];
  return [
    `Profile ${value.profile}: organization ${value.organization} at ${value.baseUrl}`,
    checkText,
    `The key is stored in ${value.credentialsFile}, readable by you only.`,
    value.active
      ? 'The profile is active: commands use it when none is named.'
      : `Another profile is active. Use this one with -p ${name}, or: rosterctl profile use ${name}`,
    `In cron and scripts, name it: rosterctl -p ${name} tryouts list`,
  ];
}

function problemOf(read: () => unknown): UsageError | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    return error as UsageError;
  }
}

function withHint(problem: UsageError | undefined): string | undefined {
  return problem && [problem.message, problem.hint].filter((part) => part !== undefined).join(' ');
}
