/** `rosterctl auth status`: which key is in force, and whether the service accepts it. */

import { ValueWithExit } from '../../cli/command-output.js';
import { defineLocalCommand, flag } from '../../cli/define.js';
import { linesView } from '../../cli/views.js';
import { keyTail } from '../../config/api-key.js';
import { parseBaseUrl } from '../../config/base-url.js';
import { sandboxProfile } from '../../config/choices.js';
import {
  type ConnectionInput,
  connectionWithoutKey,
  findConnection,
  resolveConnection,
} from '../../config/connection.js';
import type { LocalContext } from '../../context.js';
import { Failure, NoKeyError } from '../../errors.js';
import type { ExitName } from '../../exit-codes.js';
import { checkKey, explainForbidden } from '../../resources/key-check.js';
import { hangingLines } from '../../terminal/whole-words.js';
import { connectionOf, type KeyStatus } from './shared.js';

/** The status of a key with its exit code. */
interface CheckedKey {
  readonly status: KeyStatus;
  readonly exitName: ExitName;
}

export default defineLocalCommand({
  summary: 'Show which key is used, and check it with the service',
  about: 'Exits with 4 if no key is stored, or if the service rejects it (401).',
  examples: [
    ['The active profile', ''],
    ['Every stored profile, without asking the service', '--all --offline'],
  ],
  calls: ['listTeams'],
  flags: {
    all: flag('every stored profile'),
    offline: flag('do not ask the service'),
  },
  view: linesView((value: KeyStatus | KeyStatus[], { isTerminal, columns }) =>
    Array.isArray(value) && value.length === 0
      ? ['No profile is stored.']
      : [value]
          .flat()
          .flatMap((status, index) => [
            ...(index > 0 ? [''] : []),
            ...statusLines(status, isTerminal ? columns : Infinity),
          ]),
  ),
  async run(context, { all, offline }) {
    if (!all) {
      const { status, exitName } =
        context.settings.profile.name === sandboxProfile
          ? await checkSandbox(context, offline)
          : await checkProfile(context, connectionOf(context), offline);
      return new ValueWithExit(status, exitName);
    }
    const checked = await checkProfiles(context, offline);
    return new ValueWithExit<KeyStatus | KeyStatus[]>(
      checked.map(({ status }) => status),
      worstExit(checked),
    );
  },
});

/**
 * The connection that `-p NAME` alone would select. A key from the environment applies only to the
 * profile in force.
 */
function connectionFor(context: LocalContext, name: string): ConnectionInput {
  const input = connectionOf(context);
  const env = input.profile.name === name ? input.env : connectionWithoutKey(input.env);
  return { ...input, env, flags: {}, profile: { name, via: 'flag' } };
}

/** Checks every stored profile: all services are asked at once, and reported in the order of the profiles. */
async function checkProfiles(
  context: LocalContext,
  offline: boolean,
): Promise<readonly CheckedKey[]> {
  const checks: KeyCheck[] = [];
  // One after the other, because the command of a key may ask for a password.
  for (const { name } of context.config.profiles())
    if (name !== sandboxProfile)
      checks.push(await prepareCheck(context, connectionFor(context, name), offline));
  const reports = await Promise.all(checks.map((check) => check()));
  return reports.map((report) => report());
}

/** Asks the service, and returns what prints the messages. */
type KeyCheck = () => Promise<() => CheckedKey>;

async function checkProfile(
  context: LocalContext,
  input: ConnectionInput,
  offline: boolean,
): Promise<CheckedKey> {
  const check = await prepareCheck(context, input, offline);
  const report = await check();
  return report();
}

/** Finds the key and the service of a profile. */
async function prepareCheck(
  context: LocalContext,
  input: ConnectionInput,
  offline: boolean,
): Promise<KeyCheck> {
  const { name } = input.profile;
  const { baseUrl, organization, key } = findConnection(input);
  const status = {
    profile: name,
    organization: organization?.text ?? null,
    baseUrl: baseUrl ? printableUrl(baseUrl.text) : null,
    keySource: key?.origin ?? null,
    keyStored: context.config.keys().has(name),
  };
  const unchecked = (exitName: ExitName): CheckedKey => ({
    status: { ...status, check: 'skipped' },
    exitName,
  });
  try {
    const { connection, notes } = await resolveConnection({ ...input, signal: context.signal });
    for (const note of notes) context.note(note);
    const tail = keyTail(connection.key);
    if (tail !== '') context.detail(`The key of profile ${name} ends in ${tail}.`);
    if (offline) return async () => () => unchecked('done');
    const api = await context.connectTo(connection);
    return async () => {
      const result = await checkKey(api);
      return () => ({
        status: { ...status, check: result.check },
        exitName: reportResult(context, result),
      });
    };
  } catch (error) {
    if (!(error instanceof Failure) || error.kind === 'bug') throw error;
    return async () => () => {
      const isNamed = error instanceof NoKeyError;
      context.message(isNamed ? error.message : `Profile ${name}: ${error.message}`);
      for (const line of error.hint?.split('\n') ?? []) context.note(line);
      return unchecked(error.exitName);
    };
  }
}

function reportResult(
  context: LocalContext,
  result: Awaited<ReturnType<typeof checkKey>>,
): ExitName {
  if (result.check === 'ok') return 'done';
  if (result.check === '401') return 'unauthenticated';
  if (result.check === '403') {
    context.note(explainForbidden(result.error));
    return 'done';
  }
  context.message(result.error.message);
  return result.error.exitName;
}

async function checkSandbox(context: LocalContext, offline: boolean): Promise<CheckedKey> {
  const status = { profile: sandboxProfile, keySource: 'built in', keyStored: false };
  if (offline)
    return {
      status: { ...status, organization: null, baseUrl: null, check: 'skipped' },
      exitName: 'done',
    };
  const api = await context.connect();
  const result = await checkKey(api);
  return {
    status: {
      profile: status.profile,
      organization: api.organizationId,
      baseUrl: api.baseUrl,
      keySource: status.keySource,
      keyStored: status.keyStored,
      check: result.check,
    },
    exitName: reportResult(context, result),
  };
}

/** The base URL to print; null for an invalid one, which may contain a password. */
function printableUrl(text: string): string | null {
  try {
    return parseBaseUrl(text);
  } catch {
    return null;
  }
}

function worstExit(checked: readonly CheckedKey[]): ExitName {
  const order: readonly ExitName[] = ['unauthenticated', 'usage', 'temporary'];
  const names = checked.map(({ exitName }) => exitName);
  return (
    order.find((name) => names.includes(name)) ?? names.find((name) => name !== 'done') ?? 'done'
  );
}

function statusLines(status: KeyStatus, columns: number): string[] {
  const checkText = {
    ok: 'accepted by the service',
    '401': 'refused by the service (401)',
    '403': 'known to the service, but the list of teams was refused (403)',
    unreachable: 'not checked: the service did not answer',
    skipped: 'not checked',
  }[status.check];
  const rows = [
    ['Profile', status.profile],
    ['Organization', status.organization ?? 'not set'],
    ['Base URL', status.baseUrl ?? 'not set'],
    ['Key', status.keySource === null ? 'none' : `${status.keySource}; ${checkText}`],
  ] as const;
  return rows.flatMap(([label, text]) => hangingLines(label.padEnd(14), text, columns));
}
