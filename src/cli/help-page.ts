/** Shows a page of help, through the pager if it is longer than the screen. */
import { type PathsInput, resolvePaths } from '../config/paths.js';
import { resolveSettings } from '../config/settings.js';
import { openConfigStore } from '../config/store.js';
import { Failure } from '../errors.js';
import type { ThisProcess } from '../files/holder.js';
import { type LendKeyboard, showInPager } from '../terminal/pager.js';
import type { Streams } from '../terminal/streams.js';

interface HelpWorld extends PathsInput {
  readonly self: ThisProcess;
  readonly lendKeys: LendKeyboard;
}

/** Shows a page that does not fit on the terminal; prints it if there is no pager. */
export async function showLongHelp(
  page: string,
  { stdout }: Pick<Streams, 'stdout'>,
  world: HelpWorld,
): Promise<void> {
  const pager = pagerOf(world);
  if (pager !== undefined && (await showInPager(page, pager, world.env, world.lendKeys))) return;
  await stdout.write(page);
}

/** Returns the pager's command line; help is shown whatever is wrong with the settings. */
function pagerOf(world: HelpWorld): string | undefined {
  try {
    const file = openConfigStore(resolvePaths(world), { self: world.self }).config();
    return resolveSettings({ flags: {}, env: world.env, file, tolerant: true }).settings.pager;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return undefined;
  }
}
