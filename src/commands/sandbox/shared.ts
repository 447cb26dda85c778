import type { LocalContext } from '../../context.js';
import type { SandboxPlace } from '../../sandbox/embedded.js';

/** Where the sandbox of this user lives; `data` names another folder. */
export function sandboxPlace({ paths, self, now }: LocalContext, data?: string): SandboxPlace {
  return { stateDir: data ?? paths.state?.path, self, owner: paths.owner, now };
}
