/** Shows a page of help, through the pager if it is longer than the screen. */
import { resolvePaths } from '../config/paths.js';
import { resolveSettings } from '../config/settings.js';
import { openConfigStore } from '../config/store.js';
import type { World } from '../context.js';
import { Failure } from '../errors.js';
import { type LendKeyboard, showInPager } from '../terminal/other-programs.js';

/** Shows a page that does not fit on the terminal; prints it if there is no pager. */
export async function showLongHelp(
  page: string,
  world: World & { readonly lendKeys: LendKeyboard },
): Promise<void> {
  const pager = pagerOf(world);
  if (pager !== undefined && (await showInPager(page, pager, world))) return;
  await world.streams.stdout.write(page);
}

/** Returns the pager's command line; help is shown whatever is wrong with the settings. */
function pagerOf(world: World): string | undefined {
  try {
    const file = openConfigStore(resolvePaths(world), world).config();
    return resolveSettings({ flags: {}, env: world.env, file, tolerant: true }).settings.pager;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return undefined;
  }
}
