/** The page of `rosterctl` alone after a login: where the user is, what is unfinished, and what to type; without a request. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { sandboxProfile } from './config/choices.js';
import type { GlobalFlags } from './config/environment.js';
import { type Paths, resolvePaths } from './config/paths.js';
import type { World } from './context.js';
import { loginCommand } from './data/text.js';
import { fillWords, wrapPageLine } from './terminal/whole-words.js';

interface StartOptions {
  readonly width: number;
  /** The connection flags typed, which the commands on the page repeat. */
  readonly flags: Pick<GlobalFlags, 'profile' | 'org' | 'baseUrl'>;
}

/**
 * Returns the page for the profile in force, or undefined if there is none. Throws UsageError for an
 * unknown profile, ConfigError for a damaged configuration.
 */
export async function pageAfterLogin(
  world: World,
  { width, flags }: StartOptions,
): Promise<string | undefined> {
  const { env, table } = world;
  const paths = resolvePaths(world);
  // What follows is loaded only after a login.
  const isNamed = flags.profile !== undefined || env['ROSTERCTL_PROFILE'] || env['ROSTERCTL_ORG'];
  if (!isNamed && !hasConfig(paths)) return undefined;
  const profile = await usedProfile(paths, flags, world);
  if (!profile) return undefined;
  const { singleLine } = await import('./terminal/safe-text.js');
  const rows = profile === 'notChosen' ? choice : await rowsFor(profile, paths, flags, world);
  const title = profile === 'notChosen' ? 'no profile is active' : titleOf(profile);
  const lines = [
    ...fillWords(`rosterctl ${table.version} · ${title}`, width),
    '',
    ...[...rows, help].flatMap((row) => rowLines(row, width)),
  ];
  return `${lines.map(singleLine).join('\n')}\n`;
}

const titleOf = ({ name, organization }: Profile) => `profile ${name} · ${organization}`;

const help: StartRow = { label: 'Help', text: 'rosterctl --help · rosterctl tryouts -h' };

/** The rows when profiles are stored and the active one was removed. */
const choice: readonly StartRow[] = [
  { label: 'Profiles', text: 'rosterctl profile list' },
  { label: 'Choose', text: 'rosterctl profile use NAME' },
];

async function rowsFor(
  profile: Profile,
  paths: Paths,
  flags: StartOptions['flags'],
  world: World,
): Promise<readonly StartRow[]> {
  const { withConnectionFlags } = await import('./cli/typed-line.js');
  const same = (text: string) => withConnectionFlags(text, flags, world.table);
  const unfinished = await interrupted(paths, profile, world);
  return [
    ...unfinished.map(({ text, command }, index) => ({
      text,
      command: same(command),
      ...(index === 0 && { label: 'Unfinished' }),
    })),
    ...(profile.hasKey
      ? [
          { label: 'List', text: same('rosterctl tryouts list --status pending') },
          { label: 'Review', text: same('rosterctl tryouts review') },
        ]
      : [{ label: 'Log in', text: loginCommand(profile.name) }]),
  ];
}

function hasConfig({ config }: Paths): boolean {
  return config !== undefined && existsSync(join(config.path, 'config.json'));
}

interface Profile {
  readonly name: string;
  readonly organization: string;
  /** As runs and reviews name it. */
  readonly service: string | undefined;
  readonly profiles: ReadonlyMap<string, unknown>;
  readonly hasKey: boolean;
}

/** Returns the profile in force; `notChosen` if profiles are stored and none is. */
async function usedProfile(
  paths: Paths,
  flags: StartOptions['flags'],
  world: World,
): Promise<Profile | 'notChosen' | undefined> {
  const [{ openConfigStore, profileInForce }, { demoOrganization, requireProfile }, connection] =
    await Promise.all([
      import('./config/store.js'),
      import('./config/profiles.js'),
      import('./config/connection.js'),
    ]);
  const { env } = world;
  const store = openConfigStore(paths, world);
  const config = store.config();
  const profile = profileInForce(flags, env, config);
  const { profiles } = config;
  const { name, via } = profile;
  if (name === sandboxProfile)
    return { name, organization: demoOrganization, service: name, profiles, hasKey: true };
  const isNamed = via === 'flag' || via === 'environment';
  const stored = isNamed ? requireProfile(config, { name }) : profiles.get(name);
  const { organization, baseUrl } = connection.findTarget(
    { flags, env, profile, file: config },
    [],
  );
  const hasKey = connection.hasKey({ env, profile, file: config, keys: () => store.keys() });
  if (organization === undefined || !(stored || hasKey))
    return via === 'none' && profiles.size > 0 ? 'notChosen' : undefined;
  return { name, organization: organization.text, service: baseUrl?.text, profiles, hasKey };
}

interface StartRow {
  readonly label?: string;
  readonly text: string;
  readonly command?: string;
}

/** More runs are counted, not listed. */
const mostRuns = 3;

type Unfinished = Required<Pick<StartRow, 'text' | 'command'>>;

/** Returns the interrupted changes, each with the command that resumes it; none where the state cannot be read. */
async function interrupted(
  { state }: Paths,
  profile: Profile,
  { self }: World,
): Promise<readonly Unfinished[]> {
  if (!state) return [];
  try {
    const { describeUnfinished, unfinishedWork } = await import('./runs/unfinished.js');
    const work = describeUnfinished(await unfinishedWork(state.path, profile, self), mostRuns);
    if (!existsSync(join(state.path, 'reviews'))) return work;
    const { describeUnsent, unsentDecisions } = await import('./review/queue.js');
    return [...work, ...describeUnsent(await unsentDecisions(state.path, profile))];
  } catch (error) {
    const { Failure } = await import('./errors.js');
    if (error instanceof Failure) return [];
    throw error;
  }
}

const labelWidth = 12;
const commandColumn = 46;

/** A row as lines; the command is beside the text, or below it where the line is too long. */
function rowLines({ label = '', text, command }: StartRow, width: number): readonly string[] {
  const left = `${label.padEnd(labelWidth)}${text}`;
  if (command === undefined)
    return left.length <= width ? [left] : [label, ...below(text.split(' · '), width)];
  const beside = `${left.padEnd(commandColumn)}  ${command}`;
  if (beside.length <= width) return [beside];
  const underText = `${' '.repeat(labelWidth)}${command}`;
  if (Math.max(left.length, underText.length) <= width) return [left, underText];
  if (left.length <= width) return [left, ...below([command], width)];
  return [...(label === '' ? [] : [label]), ...below([text, command], width)];
}

/** Lines below a label, indented if all of them fit, and broken between words where one does not fit at all. */
function below(lines: readonly string[], width: number): readonly string[] {
  const fits = lines.every((line) => line.length + 2 <= width);
  return lines.flatMap((line) => wrapPageLine(fits ? `  ${line}` : line, width));
}
