/** The page of `rosterctl` alone after a login: where the user is, what is unfinished, and what to type; without a request. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Paths, resolvePaths } from './config/paths.js';
import type { CommandManifest } from './data/command-manifest.js';
import type { Environment } from './data/environment.js';
import type { ThisProcess } from './files/lock.js';

/** The parts of the process that the page depends on. */
interface StartWorld {
  readonly env: Environment;
  readonly platform: NodeJS.Platform;
  readonly uid: number | undefined;
  readonly self: ThisProcess;
  /** The maximum width in columns. */
  readonly width: number;
}

/**
 * Returns the page for the profile in force. Returns undefined if there is none, or what is stored
 * cannot be read, which every command explains.
 */
export async function pageAfterLogin(
  { version }: CommandManifest,
  world: StartWorld,
): Promise<string | undefined> {
  const paths = resolvePaths(world);
  // What follows is loaded only after a login.
  if (!paths.config || !existsSync(join(paths.config.path, 'config.json'))) return undefined;
  try {
    const profile = await profileInForce(paths, world);
    if (!profile) return undefined;
    const { singleLine } = await import('./terminal/safe-text.js');
    const { name, organization } = profile;
    const unfinished = [
      ...(await unfinishedRows(paths, profile, world)),
      ...(await reviewRows(paths, profile)),
    ];
    const rows: readonly Row[] = [
      ...unfinished.map((row, index) => (index === 0 ? { ...row, label: 'Unfinished' } : row)),
      { label: 'List', text: 'rosterctl tryouts list --status pending' },
      { label: 'Review', text: 'rosterctl tryouts review' },
      { label: 'Help', text: 'rosterctl --help · rosterctl tryouts -h' },
    ];
    const lines = rows.flatMap((row) => rowLines(row, world.width));
    const title = `rosterctl ${version} · profile ${name} · ${organization}`;
    return `${[title, '', ...lines].map(singleLine).join('\n')}\n`;
  } catch (error) {
    const { Failure } = await import('./errors.js');
    if (error instanceof Failure) return undefined;
    throw error;
  }
}

interface Profile {
  readonly name: string;
  readonly organization: string;
  /** As runs and reviews name it. */
  readonly service: string | undefined;
}

async function profileInForce(
  paths: Paths,
  { env, self }: StartWorld,
): Promise<Profile | undefined> {
  const [{ activeProfileOf, openConfigStore }, { demoOrganization, sandboxProfile }] =
    await Promise.all([import('./config/store.js'), import('./config/profiles.js')]);
  const config = openConfigStore(paths, { self }).config();
  const name = env['ROSTERCTL_PROFILE'] || activeProfileOf(config);
  if (name === undefined) return undefined;
  if (name === sandboxProfile) return { name, organization: demoOrganization, service: name };
  const { organization, baseUrl } = config.profiles.get(name) ?? {};
  return organization === undefined ? undefined : { name, organization, service: baseUrl };
}

interface Row {
  readonly label?: string;
  readonly text: string;
  readonly command?: string;
}

/** More runs are counted, not listed. */
const mostRuns = 3;

/** The runs and uploads of a profile that were interrupted, newest first, each with what resumes it. */
async function unfinishedRows(
  paths: Paths,
  profile: Profile,
  { self }: StartWorld,
): Promise<readonly Row[]> {
  if (!paths.state) return [];
  const { describeUnfinished, unfinishedWork } = await import('./runs/unfinished.js');
  return describeUnfinished(await unfinishedWork(paths.state.path, profile, self), mostRuns);
}

/** The review whose decisions were not sent. */
async function reviewRows({ state }: Paths, profile: Profile): Promise<readonly Row[]> {
  if (!state || !existsSync(join(state.path, 'reviews'))) return [];
  const { describeUnsent, unsentDecisions } = await import('./review/queue.js');
  return describeUnsent(await unsentDecisions(state.path, profile));
}

const labelWidth = 12;
const commandColumn = 46;

/** A row as lines; the command stands beside the text, or below it where the line is too long. */
function rowLines({ label = '', text, command }: Row, width: number): readonly string[] {
  const left = `${label.padEnd(labelWidth)}${text}`;
  if (command === undefined)
    return left.length <= width ? [left] : [label, ...below(text.split(' · '), width)];
  const beside = `${left.padEnd(commandColumn)}  ${command}`;
  return beside.length <= width ? [beside] : [left, ...below([command], width)];
}

/** Lines below a label, indented if all of them fit. */
function below(lines: readonly string[], width: number): readonly string[] {
  const fits = lines.every((line) => line.length + 2 <= width);
  return fits ? lines.map((line) => `  ${line}`) : lines;
}
