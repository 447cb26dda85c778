/** `rosterctl auth login`: checks and stores an API key. */

import { ValueWithExit } from '../../cli/command-output.js';
import { defineLocalCommand, flag, optionalWord, param } from '../../cli/define.js';
import { sentencesView } from '../../cli/views.js';
import { cleanKey, readKeyFile } from '../../config/api-key.js';
import { isFullAddress, originOf, parseBaseUrl, suggestBaseUrl } from '../../config/base-url.js';
import { checkOrganization, connectionSources, findTarget } from '../../config/connection.js';
import { shortPath } from '../../config/paths.js';
import { checkProfileName, withLogin } from '../../config/profiles.js';
import type { Connection, Settings } from '../../config/settings.js';
import { activeProfileOf } from '../../config/store.js';
import type { LocalContext } from '../../context.js';
import { drawsMarks } from '../../data/environment.js';
import { andList, defaultProfile, orList, shellQuote } from '../../data/text.js';
import { UsageError } from '../../errors.js';
import {
  checkLogin,
  countRecords,
  describeUnreadable,
  firstList,
  type LoginPart,
  type Unread,
  withLoginHint,
} from '../../resources/key-check.js';
import { markOf } from '../../terminal/paint.js';
import { singleLine } from '../../terminal/safe-text.js';

interface LoggedIn {
  readonly profile: string;
  readonly organization: string;
  readonly baseUrl: string;
  readonly keyStored: true;
  readonly check: 'ok' | '403' | 'skipped';
  /** The areas that the key may not read. */
  readonly reason?: string | undefined;
  readonly credentialsFile: string;
  readonly active: boolean;
}

export default defineLocalCommand({
  summary: 'Store an API key for a profile, after checking it',
  about:
    'At a terminal, asks for what is missing, and again for what is wrong. The key is never a flag value: type it, pipe it with --key-stdin, or copy it from a file. A key that cannot read anything of the organization is not stored.',
  examples: [
    ['Ask for everything that is missing', ''],
    [
      'From a script',
      '--profile work --base-url https://api.example.com/v1 --org org_1 --key-stdin',
    ],
  ],
  calls: ['listTeams', 'listPlayers', 'listDocuments', 'listTryouts'],
  shows: ['baseUrl', 'org'],
  flags: {
    keyStdin: flag('read the key from stdin'),
    keyFile: param(optionalWord, 'copy the key from this file once', {
      placeholder: 'FILE',
      completes: 'file',
    }),
    noCheck: flag('store the key without asking the service'),
  },
  excludes: [['keyStdin', 'keyFile']],
  hasSideEffects: true,
  view: sentencesView((value: Stored) => loginLines(value, firstList([]))),
  async run(context, { keyStdin, keyFile, noCheck }) {
    if (keyFile === '') throw new UsageError('--key-file must not be empty.');
    if (context.settings.dryRun)
      throw new UsageError(
        'auth login has no dry run: it would have to send the key to check it.',
        { hint: 'Leave --dry-run (or ROSTERCTL_DRY_RUN) out.' },
      );
    const profile = profileToStore(context);
    // Validated before the key is typed.
    const { credentialsFile } = context.config;
    const given = findTarget({ ...connectionSources(context), profile }, []);
    requireFlagsOrPrompt(context, {
      '--base-url': given.baseUrl !== undefined,
      '--org': given.organization !== undefined,
      '--key-file or --key-stdin': keyStdin || keyFile !== undefined,
    });
    const parts: LoginParts = {
      baseUrl: await firstBaseUrl(context, given.baseUrl?.text),
      organizationId: checkOrganization(
        given.organization?.text ?? (await askOrganization(context)),
      ),
      key: '',
    };
    const owner = { profile: profile.name, ...parts };
    parts.key = await readKey(context, { keyStdin, keyFile, ...owner });
    const { unread, ...checked } = noCheck
      ? { check: 'skipped' as const, unread: [] }
      : await checkParts(context, profile.name, parts);
    const stored = await store(context, profile.name, parts);
    const next = firstList(unread);
    const view = sentencesView((value: Stored) => loginLines(value, next));
    return new ValueWithExit({ ...stored, ...checked, credentialsFile }, 'done', { view });
  },
});

/** The parts of a login; a wrong one is replaced when it was asked for again. */
type LoginParts = { [P in LoginPart]: string };

/** Checks the parts. At a terminal, asks again for a wrong one until all are right; otherwise throws. */
async function checkParts(
  context: LocalContext,
  profile: string,
  parts: LoginParts,
): Promise<Pick<LoggedIn, 'check' | 'reason'> & TerminalFacts & Pick<Unread, 'unread'>> {
  for (;;) {
    const api = await context.connectTo({ ...parts, keySource: 'the key just given' });
    const result = await checkLogin(api);
    if (!('failure' in result)) {
      const reason = describeUnreadable(result.refused);
      const check = reason === undefined ? 'ok' : '403';
      const { unread } = result;
      if (!context.isInteractive) return { check, unread, ...(reason !== undefined && { reason }) };
      const mark = markOf(true, drawsMarks(context.env));
      const counted = await countRecords(api);
      return { check, unread: counted.unread, counts: `${mark} ${counted.counts}` };
    }
    const { failure, wrong, sentence } = result;
    if (wrong === undefined || context.prompts.unavailable !== undefined)
      throw withLoginHint(failure);
    context.message(marked(context, sentence));
    parts[wrong] = await askAgain(context, profile, parts, wrong);
  }
}

/** A sentence that says what is wrong with an answer. */
function marked({ env }: LocalContext, sentence: string): string {
  return `${markOf(false, drawsMarks(env))} ${sentence}`;
}

function askAgain(
  context: LocalContext,
  profile: string,
  parts: LoginParts,
  wrong: LoginPart,
): Promise<string> {
  if (wrong === 'baseUrl') return askBaseUrl(context, parts.baseUrl);
  return wrong === 'key' ? askKey(context, { profile, ...parts }) : askOrganization(context);
}

async function firstBaseUrl(context: LocalContext, text: string | undefined): Promise<string> {
  if (text === undefined) return askBaseUrl(context, undefined);
  const suggestion = suggestBaseUrl(text);
  const problem = problemOf(() => parseBaseUrl(text));
  if (!problem || suggestion === undefined || context.prompts.unavailable !== undefined)
    return parseBaseUrl(text);
  context.message(marked(context, problem.message));
  return askBaseUrl(context, suggestion);
}

/** Asks for the base URL; `preset` is taken with Enter. What lacks only https or /v1 is offered with it. */
async function askBaseUrl(context: LocalContext, preset: string | undefined): Promise<string> {
  for (let offered = preset; ; ) {
    const text = await context.prompts.text('Service address', {
      ...(offered !== undefined && { default: offered }),
      validate: (typed) =>
        suggestBaseUrl(typed) === undefined ? addressProblem(typed, withHint) : undefined,
    });
    const problem = addressProblem(text, ({ message }) => message);
    if (problem === undefined) return parseBaseUrl(text);
    context.message(marked(context, problem));
    offered = suggestBaseUrl(text);
  }
}

function askOrganization({ prompts }: LocalContext): Promise<string> {
  return prompts.text('Organization id', {
    validate: (text) => problemOf(() => checkOrganization(text))?.message,
  });
}

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
  throw new UsageError(`Without a terminal, auth login needs ${andList(missing)}.`, {
    hint: `For example: rosterctl auth login${profileFlag} --base-url https://HOST/v1 --org ID --key-file FILE`,
  });
}

/** The profile and organization whose key is asked for. */
interface KeyOwner {
  readonly profile: string;
  readonly organizationId: string;
}

async function readKey(
  context: LocalContext,
  {
    keyStdin,
    keyFile,
    ...owner
  }: KeyOwner & { readonly keyStdin: boolean; readonly keyFile: string | undefined },
): Promise<string> {
  const { streams, signal } = context;
  if (keyFile !== undefined) return readKeyFile(keyFile, '--key-file', signal);
  if (keyStdin) return cleanKey((await streams.stdin.readAll(65_536)).toString('utf8'), 'stdin');
  return askKey(context, owner);
}

async function askKey(
  context: LocalContext,
  { profile, organizationId }: KeyOwner,
): Promise<string> {
  // A replaced key cannot be recovered, so the prompt names it.
  const previous = context.config.keys().get(profile)?.organization;
  const previousText = previous === organizationId ? '' : `, so far ${previous}`;
  const owner =
    previous === undefined
      ? ''
      : ` for profile ${profile} (organization ${organizationId}${previousText})`;
  for (;;) {
    const typed = await context.prompts.secret(`API key${owner}`);
    const problem = problemOf(() => cleanKey(typed, 'What was typed'));
    if (!problem) return cleanKey(typed, '');
    context.message(marked(context, withHint(problem)));
  }
}

type Stored = LoggedIn & TerminalFacts;

/** Facts that only a person at a terminal is shown. */
interface TerminalFacts {
  /** How much the key may read, with a mark. */
  readonly counts?: string;
  /** The path of the key, with `~` for the home folder. */
  readonly keyPlace?: string;
}

async function store(
  context: LocalContext,
  profile: string,
  { baseUrl, organizationId, key }: Pick<Connection, LoginPart>,
) {
  const { config, env } = context;
  const place = { baseUrl, organization: organizationId };
  const stored = { key, origin: originOf(baseUrl), organization: organizationId };
  await config.update((now) => withLogin(now, profile, place, stored));
  const overriding = ['ROSTERCTL_API_KEY', 'ROSTERCTL_API_KEY_FILE'].filter((name) => env[name]);
  if (overriding.length > 0)
    context.note(
      `${orList(overriding)} is set and overrides the stored key, unless the profile is named with -p.`,
    );
  return {
    profile,
    organization: organizationId,
    baseUrl,
    keyStored: true as const,
    active: activeProfileOf(config.config()) === profile,
    ...(context.isInteractive && { keyPlace: shortPath(config.credentialsFile, env) }),
  };
}

function loginLines(value: Stored, next: ReturnType<typeof firstList>): readonly string[] {
  const name = shellQuote(value.profile);
  const accepted = { ok: 'The service accepted the key.', '403': value.reason ?? '', skipped: '' };
  const active = value.active ? ' (active)' : '';
  return [
    value.check === 'skipped'
      ? 'The key was not checked.'
      : (value.counts ?? accepted[value.check]),
    `Saved as profile "${value.profile}"${active}, key in ${value.keyPlace ?? value.credentialsFile}.`,
    ...(value.active
      ? []
      : [`Another profile is active. To use this one: rosterctl profile use ${name}`]),
    `In scripts and cron: rosterctl -p ${name} ${next.command}`,
    `Next: rosterctl${value.active ? '' : ` -p ${name}`} ${next.command}${next.flags}`,
  ].map(singleLine);
}

function problemOf(read: () => unknown): UsageError | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    return error as UsageError;
  }
}

/** Returns why a text typed as the service's address cannot be used, in the words of a question. */
function addressProblem(text: string, words: (problem: UsageError) => string): string | undefined {
  const problem = problemOf(() => parseBaseUrl(text));
  if (!problem || isFullAddress(text)) return problem && words(problem);
  return 'Not a full address. Example: https://api.example.com/v1';
}

function withHint({ message, hint }: UsageError): string {
  return [message, hint].filter((part) => part !== undefined).join(' ');
}
