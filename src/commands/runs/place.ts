import type { Place } from '../../bulk/run-plan.js';
import { parseBaseUrl } from '../../config/base-url.js';
import { findPlace } from '../../config/connection.js';
import { sandboxProfile } from '../../config/profile-name.js';
import type { LocalContext } from '../../context.js';
import { UsageError } from '../../errors.js';
import { demoOrganization } from '../../sandbox/keys.js';

/** The organization and service in force, as far as they are configured; nothing is connected. */
export function configuredPlace(context: LocalContext): Place | undefined {
  const { flags, env, config } = context;
  const { profile } = context.settings;
  if (profile.name === sandboxProfile)
    return { organization: demoOrganization, service: sandboxProfile };
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
