/** `rosterctl auth status`: which key is in force, and whether the service accepts it. */

import { ValueWithExit } from '../../cli/command-output.js';
import { defineLocalCommand, flag } from '../../cli/define.js';
import { linesView } from '../../cli/views.js';
import { keyTail } from '../../config/api-key.js';
import { parseBaseUrl } from '../../config/base-url.js';
import { sandboxProfile } from '../../config/choices.js';
import {
  type ConnectionInput,
  connectionSources,
  findConnection,
  resolveConnection,
} from '../../config/connection.js';
import { demoOrganization } from '../../config/profiles.js';
import type { LocalContext } from '../../context.js';
import { environmentWithoutKey } from '../../data/environment.js';
import { Failure, NoKeyError } from '../../errors.js';
import type { ExitName } from '../../exit-codes.js';
import { checkKey, explainForbidden } from '../../resources/key-check.js';
import { singleLine } from '../../terminal/safe-text.js';
import { hangingLines } from '../../terminal/whole-words.js';

interface KeyStatus {
  readonly profile: string;
  readonly organization: string | null;
  readonly baseUrl: string | null;
  readonly keySource: string | null;
  readonly keyStored: boolean;
  /** `unreachable` includes responses that say nothing about the key. */
  readonly check: 'ok' | '401' | '403' | 'unreachable' | 'skipped';
}

interface CheckedKey {
  readonly status: KeyStatus;
  /** Why the exit code is not 0. */
  readonly error?: Failure | undefined;
  readonly note?: string;
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
      ? ['No profile is stored. To store one: rosterctl auth login']
      : [value]
          .flat()
          .flatMap((status, index) => [
            ...(index > 0 ? [''] : []),
            ...statusLines(status, isTerminal ? columns : Infinity),
          ]),
  ),
  async run(context, { all, offline }) {
    if (all) return checkAll(context, offline);
    const checked =
      context.settings.profile.name === sandboxProfile
        ? await checkSandbox(context, offline)
        : await (await prepareCheck(context, connectionSources(context), offline))();
    const { status, error, note } = checked;
    if (note !== undefined) context.note(note);
    nameKeyOf(context, checked);
    return new ValueWithExit<KeyStatus | KeyStatus[]>(status, error?.exitName ?? 'done', {
      failed: () => error && { error, isUnreported: true },
    });
  },
});

/** Checks every stored profile: all services are asked at once, and reported in the order of the profiles. */
async function checkAll(context: LocalContext, offline: boolean) {
  const checks: (() => Promise<CheckedKey>)[] = [];
  // One after the other, because the command of a key may ask for a password.
  for (const { name } of context.config.profiles())
    if (name !== sandboxProfile)
      checks.push(await prepareCheck(context, connectionFor(context, name), offline));
  const checked = await Promise.all(checks.map((check) => check()));
  for (const each of checked) await report(context, each);
  const worst = worstOf(checked);
  const error = worst?.error;
  if (worst) {
    nameKeyOf(context, worst);
    context.known.profile = worst.status.profile;
  }
  return new ValueWithExit<KeyStatus | KeyStatus[]>(
    checked.map(({ status }) => status),
    error?.exitName ?? 'done',
    { failed: () => error && { error } },
  );
}

/** Gives the error of a refused key the source of the key, which decides what to do about it. */
function nameKeyOf({ known }: LocalContext, { status: { keySource } }: CheckedKey): void {
  if (keySource !== null) known.keySource = keySource;
}

/** Says what was wrong with one of several profiles, and what to do about it. */
async function report(context: LocalContext, checked: CheckedKey): Promise<void> {
  const { status, error, note } = checked;
  const { profile, check } = status;
  if (note !== undefined) context.note(`Profile ${profile}: ${note}`);
  if (!error) return;
  nameKeyOf(context, checked);
  const { rowError } = await import('../../cli/failure.js');
  const flags = { ...context.flags, profile };
  const { message, hint } = rowError({ ...context, flags }, ['auth', 'status'], error, '');
  const namesProfile = error instanceof NoKeyError || check === '401';
  context.message(namesProfile ? message : `Profile ${profile}: ${message}`);
  for (const line of hint?.split('\n') ?? []) context.note(line);
}

/**
 * The connection that `-p NAME` alone would select. A key from the environment applies only to the
 * profile in force.
 */
function connectionFor(context: LocalContext, name: string): ConnectionInput {
  const input = connectionSources(context);
  const env = input.profile.name === name ? input.env : environmentWithoutKey(input.env);
  return { ...input, env, flags: {}, profile: { name, via: 'flag' } };
}

/** Finds the key and the service of a profile; returns what asks it. */
async function prepareCheck(
  context: LocalContext,
  input: ConnectionInput,
  offline: boolean,
): Promise<() => Promise<CheckedKey>> {
  const { name } = input.profile;
  const { baseUrl, organization, key } = findConnection(input);
  const status = {
    profile: name,
    organization: organization?.text ?? null,
    baseUrl: baseUrl ? printableUrl(baseUrl.text) : null,
    keySource: key?.origin ?? null,
    keyStored: context.config.keys().has(name),
  };
  try {
    const { connection, notes } = await resolveConnection({ ...input, signal: context.signal });
    for (const note of notes) context.note(note);
    const tail = keyTail(connection.key);
    if (tail !== '') context.detail(`The key of profile ${name} ends in ${tail}.`);
    if (offline) return async () => ({ status: { ...status, check: 'skipped' } });
    const api = await context.connectTo(connection);
    return async () => withResult(status, await checkKey(api));
  } catch (error) {
    if (!(error instanceof Failure) || ['bug', 'cancelled'].includes(error.kind)) throw error;
    return async () => ({ status: { ...status, check: 'skipped' }, error });
  }
}

function withResult(
  status: Omit<KeyStatus, 'check'>,
  result: Awaited<ReturnType<typeof checkKey>>,
): CheckedKey {
  const checked = { ...status, check: result.check };
  if (result.check === 'ok') return { status: checked };
  // A 403 proves nothing about the key.
  if (result.check === '403') return { status: checked, note: explainForbidden(result.error) };
  return { status: checked, error: result.error };
}

async function checkSandbox(context: LocalContext, offline: boolean): Promise<CheckedKey> {
  const status = {
    profile: sandboxProfile,
    organization: demoOrganization,
    baseUrl: null,
    keySource: 'built in',
    keyStored: false,
  };
  if (offline) return { status: { ...status, check: 'skipped' } };
  const api = await context.connect();
  return withResult({ ...status, baseUrl: api.baseUrl }, await checkKey(api));
}

/** The base URL to print; null for an invalid one, which may contain a password. */
function printableUrl(text: string): string | null {
  try {
    return parseBaseUrl(text);
  } catch {
    return null;
  }
}

function worstOf(checked: readonly CheckedKey[]): CheckedKey | undefined {
  const order: readonly (ExitName | undefined)[] = ['unauthenticated', 'usage', 'temporary'];
  const rank = ({ error }: CheckedKey) => order.indexOf(error?.exitName) + 1 || order.length + 1;
  return checked.filter(({ error }) => error).toSorted((a, b) => rank(a) - rank(b))[0];
}

function statusLines(status: KeyStatus, columns: number): string[] {
  const checkText = {
    ok: 'accepted by the service',
    '401': 'refused by the service (401)',
    '403': 'known to the service, but the list of teams was refused (403)',
    unreachable: 'not checked: the service gave no usable answer',
    skipped: 'not checked',
  }[status.check];
  const isSandbox = status.profile === sandboxProfile;
  const rows = [
    ['Profile', status.profile],
    ['Organization', status.organization ?? 'not set'],
    ['Base URL', status.baseUrl ?? (isSandbox ? 'on this machine' : 'not set')],
    ['Key', status.keySource === null ? 'none' : `${status.keySource}; ${checkText}`],
  ] as const;
  return rows.flatMap(([label, text]) => hangingLines(label.padEnd(14), singleLine(text), columns));
}
