import { isSamePlace, type Place } from '../../bulk/run-plan.js';
import { type RunStore, runStore, type StoredRun } from '../../bulk/runs.js';
import type { BulkPart } from '../../cli/bulk-part.js';
import type { BulkValues } from '../../cli/bulk-flags.js';
import type { Command } from '../../cli/define.js';
import { parseBaseUrl } from '../../config/base-url.js';
import { findPlace } from '../../config/connection.js';
import { requireFolder } from '../../config/paths.js';
import { sandboxProfile } from '../../config/profile-name.js';
import type { Context, LocalContext } from '../../context.js';
import { UsageError } from '../../errors.js';
import { demoOrganization, sandboxService } from '../../sandbox/keys.js';

/** The commands whose runs can go on, by the action that a run names. */
const jobs: Readonly<Record<string, () => Promise<{ readonly default: Command }>>> = {
  'tryouts.set-status': () => import('../tryouts/set-status.js'),
  'tryouts.update': () => import('../tryouts/update.js'),
  'tryouts.convert': () => import('../tryouts/convert.js'),
  'teams.update': () => import('../teams/update.js'),
  'players.update': () => import('../players/update.js'),
  'players.delete': () => import('../players/delete.js'),
  'documents.upload': () => import('../documents/upload.js'),
  'documents.update': () => import('../documents/update.js'),
  'documents.delete': () => import('../documents/delete.js'),
};

/** The engine's part of the command that began a run. Throws UsageError for one of a newer version. */
export async function partOf(action: string): Promise<BulkPart> {
  const command = await jobs[action]?.();
  const part = command?.default.kind === 'write' ? command.default.bulk : undefined;
  if (part) return part;
  throw new UsageError(`This version cannot go on with ${action}.`, {
    hint: 'Go on with the version that began it.',
  });
}

/** A command line that has no flags of its own besides those of a run. */
export async function lineOf(run: StoredRun, values: Partial<BulkValues>) {
  return {
    part: await partOf(run.head.action),
    words: run.head.action.split('.'),
    values: values as BulkValues,
  };
}

/** Whether a run is of the organization and service in force. */
export function isHere({ api }: Context, { head }: Pick<StoredRun, 'head'>): boolean {
  return isSamePlace(head, { organization: api.organizationId, service: api.service });
}

/** The organization and service in force, as far as they are configured; nothing is connected. */
export function configuredPlace(context: LocalContext): Place | undefined {
  const { flags, env, config } = context;
  const { profile } = context.settings;
  if (profile.name === sandboxProfile)
    return { organization: demoOrganization, service: sandboxService };
  const found = findPlace({ flags, env, profile, file: config.config() }, []);
  if (!found.baseUrl || !found.organization) return undefined;
  try {
    return { organization: found.organization.text, service: parseBaseUrl(found.baseUrl.text) };
  } catch (error) {
    // What lies on this machine is shown however the connection is configured.
    if (error instanceof UsageError) return undefined;
    throw error;
  }
}

/** Where runs lie; nothing is made. Throws ConfigError where there is no place for a state. */
export function storeOf({ paths }: Pick<LocalContext, 'paths'>): RunStore {
  return runStore(requireFolder(paths, 'state').path);
}
