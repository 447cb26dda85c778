import { defineLocalCommand, flag, Outcome } from '../../cli/define.js';
import { linesOf } from '../../cli/views.js';
import { keyTail } from '../../config/api-key.js';
import { parseBaseUrl } from '../../config/base-url.js';
import {
  type ConnectionInput,
  findConnection,
  resolveConnection,
  withoutKey,
} from '../../config/connection.js';
import { sandboxProfile } from '../../config/profiles.js';
import type { LocalContext } from '../../context.js';
import { Failure } from '../../errors.js';
import type { ExitName } from '../../exit-codes.js';
import { checkKey, connectionOf, explainForbidden, type KeyStatus } from './key-check.js';

/** A status, why the key could not be used if so, and the exit code that stands for it. */
interface Judged {
  readonly status: KeyStatus;
  readonly exitName: ExitName;
}

export default defineLocalCommand({
  summary: 'Show which key is in force and ask the service whether it is good',
  about: 'Exits 4 when there is no key or the service refuses it (401).',
  examples: [
    ['The profile in force', ''],
    ['Every stored profile, without asking the service', '--all --offline'],
  ],
  calls: ['listTeams'],
  flags: {
    all: flag('every stored profile'),
    offline: flag('do not ask the service'),
  },
  view: linesOf((value: KeyStatus | KeyStatus[]) =>
    Array.isArray(value) && value.length === 0
      ? ['No profile is stored.']
      : [value]
          .flat()
          .flatMap((status, index) => [...(index > 0 ? [''] : []), ...describe(status)]),
  ),
  async run(context, { all, offline }) {
    if (!all) {
      const { status, exitName } =
        context.settings.profile.name === sandboxProfile
          ? await checkSandbox(context, offline)
          : await checkProfile(context, connectionOf(context), offline);
      return new Outcome(status, exitName);
    }
    const judged: Judged[] = [];
    for (const { name } of context.config.profiles())
      if (name !== sandboxProfile)
        judged.push(await checkProfile(context, named(context, name), offline));
    return new Outcome<KeyStatus | KeyStatus[]>(
      judged.map(({ status }) => status),
      worst(judged),
    );
  },
});

/** The connection that `-p NAME` alone would give; a key of the environment is for the one in force alone. */
function named(context: LocalContext, name: string): ConnectionInput {
  const input = connectionOf(context);
  const env = input.profile.name === name ? input.env : withoutKey(input.env);
  return { ...input, env, flags: {}, profile: { name, via: 'flag' } };
}

async function checkProfile(
  context: LocalContext,
  input: ConnectionInput,
  offline: boolean,
): Promise<Judged> {
  const { name } = input.profile;
  const { baseUrl, organization, key } = findConnection(input);
  const status = {
    profile: name,
    organization: organization?.text ?? null,
    baseUrl: baseUrl ? readable(baseUrl.text) : null,
    keySource: key?.origin ?? null,
    keyStored: context.config.keys().has(name),
  };
  try {
    const { connection, notes } = await resolveConnection({ ...input, signal: context.signal });
    for (const note of notes) context.note(note);
    const tail = keyTail(connection.key);
    if (tail !== '') context.detail(`The key of profile ${name} ends in ${tail}.`);
    if (offline) return { status: { ...status, check: 'skipped' }, exitName: 'done' };
    const answer = await checkKey(await context.connectTo(connection));
    return { status: { ...status, check: answer.check }, exitName: printAnswer(context, answer) };
  } catch (error) {
    if (!(error instanceof Failure) || error.kind === 'bug') throw error;
    context.message(`Profile ${name}: ${error.message}`);
    if (error.hint) context.note(error.hint);
    return { status: { ...status, check: 'skipped' }, exitName: error.exitName };
  }
}

function printAnswer(
  context: LocalContext,
  answer: Awaited<ReturnType<typeof checkKey>>,
): ExitName {
  if (answer.check === 'ok') return 'done';
  if (answer.check === '401') return 'unauthenticated';
  if (answer.check === '403') {
    context.note(explainForbidden(answer.error));
    return 'done';
  }
  context.message(answer.error.message);
  return answer.error.exitName;
}

async function checkSandbox(context: LocalContext, offline: boolean): Promise<Judged> {
  const status = { profile: sandboxProfile, keySource: 'built in', keyStored: false };
  if (offline)
    return {
      status: { ...status, organization: null, baseUrl: null, check: 'skipped' },
      exitName: 'done',
    };
  const api = await context.connect();
  const answer = await checkKey(api);
  return {
    status: {
      profile: status.profile,
      organization: api.organizationId,
      baseUrl: api.baseUrl,
      keySource: status.keySource,
      keyStored: status.keyStored,
      check: answer.check,
    },
    exitName: printAnswer(context, answer),
  };
}

/** A base URL as it may be shown: one that breaks the rules may hold a password. */
function readable(text: string): string | null {
  try {
    return parseBaseUrl(text);
  } catch {
    return null;
  }
}

function worst(judged: readonly Judged[]): ExitName {
  const order: readonly ExitName[] = ['unauthenticated', 'usage', 'temporary'];
  const found = judged.map(({ exitName }) => exitName);
  return (
    order.find((name) => found.includes(name)) ?? found.find((name) => name !== 'done') ?? 'done'
  );
}

function describe(status: KeyStatus): string[] {
  const verdict = {
    ok: 'accepted by the service',
    '401': 'refused by the service (401)',
    '403': 'known to the service, but the list of teams was refused (403)',
    unreachable: 'not checked, the service did not answer it',
    skipped: 'not checked',
  }[status.check];
  return [
    `Profile       ${status.profile}`,
    `Organization  ${status.organization ?? 'not set'}`,
    `Base URL      ${status.baseUrl ?? 'not set'}`,
    `Key           ${status.keySource === null ? 'none' : `${status.keySource}; ${verdict}`}`,
  ];
}
