/** The sandbox's data folder. */
import type { LocalContext } from '../../context.js';
import type { SandboxPlace } from '../../sandbox/embedded.js';

/** Returns the place of this user's sandbox; `data` selects another folder. */
export function sandboxPlace({ paths, self, now }: LocalContext, data?: string): SandboxPlace {
  return { stateDir: data ?? paths.state?.path, self, owner: paths.owner, now };
}
